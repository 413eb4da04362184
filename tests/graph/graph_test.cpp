// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

// A graph in vectors, for tests that break it.
struct Arrays {
  std::vector<EdgeIndex> offsets;
  std::vector<NodeId> neighbors;
  std::vector<Weight> weights;
  GraphView view() const { return {offsets, neighbors, weights}; }
};

Arrays copy_of(const GraphView& graph) {
  return {{graph.offsets.begin(), graph.offsets.end()},
          {graph.neighbors.begin(), graph.neighbors.end()},
          {graph.weights.begin(), graph.weights.end()}};
}

// 0 - 1 - 2 - 3 in a ring, weights 1, 2, 3, 4.
Arrays ring() { return {{0, 2, 4, 6, 8}, {1, 3, 0, 2, 1, 3, 0, 2}, {1, 4, 1, 2, 2, 3, 4, 3}}; }

std::string problem_of(const Arrays& arrays, int threads = 1) {
  try {
    check_graph(arrays.view(), "here", threads);
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), "here");
    EXPECT_FALSE(error.remedy().empty());
    return error.problem();
  }
  return "";
}

TEST(Graph, owns_its_arrays_and_copies_share_them) {
  Graph copy;
  EXPECT_EQ(copy.num_nodes(), 0U);
  {
    Buffer<EdgeIndex> offsets(3);
    offsets[1] = 1, offsets[2] = 2;
    Buffer<NodeId> neighbors(2);
    neighbors[0] = 1;
    Buffer<Weight> weights(2);
    weights[0] = weights[1] = 0.5F;
    const Graph graph{std::move(offsets), std::move(neighbors), std::move(weights)};
    copy = graph;
    EXPECT_EQ(copy.view().neighbors.data(), graph.view().neighbors.data());
  }
  check_graph(copy, "copy");
  EXPECT_EQ(copy.view().num_edges(), 1U);
  EXPECT_EQ(copy.view().neighbors_of(0)[0], 1U);
  EXPECT_EQ(copy.view().weights_of(1)[0], 0.5F);
}

TEST(Graph, keeps_the_owner_of_foreign_arrays_alive) {
  auto arrays = std::make_shared<Arrays>(ring());
  const std::weak_ptr<Arrays> watch = arrays;
  {
    const Graph graph{arrays->view(), arrays};
    arrays.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(graph.view().degree(3), 2U);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Graph, weighted_degree_sums_in_double) {
  const Arrays graph = ring();
  EXPECT_EQ(weighted_degree(graph.view(), 0), 5);
  EXPECT_EQ(weighted_degree(graph.view(), 3), 7);
  EXPECT_EQ(weighted_degree(oracle::star(9), 0), 8);
  EXPECT_EQ(weighted_degree(oracle::single_node(), 0), 0);
  // A float would lose every 1 beside 2^24.
  std::vector<Edge> edges{{0, 1, 0x1p24F}};
  for (NodeId leaf = 2; leaf < 102; ++leaf) edges.push_back({0, leaf, 1.0F});
  EXPECT_EQ(weighted_degree(graph_from_edges(102, edges), 0), 0x1p24 + 100);
}

TEST(CheckGraph, accepts_every_small_graph) {
  EXPECT_NO_THROW(check_graph(GraphView{}, "empty"));
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(check_graph(graph, "small"));
    EXPECT_NO_THROW(check_graph(graph, "small", 4));
  }
}

TEST(CheckGraph, says_what_is_wrong_with_the_shape_of_the_arrays) {
  Arrays bad = ring();
  bad.offsets.front() = 1;
  EXPECT_EQ(problem_of(bad), "offsets starts with 1");
  bad = ring();
  bad.offsets.back() = 7;
  EXPECT_EQ(problem_of(bad), "offsets ends with 7 but neighbors has 8 entries");
  bad = ring();
  bad.weights.pop_back();
  EXPECT_EQ(problem_of(bad), "weights has 7 entries but neighbors has 8");
  bad = ring();
  bad.offsets.clear();
  EXPECT_EQ(problem_of(bad), "there are neighbors but no offsets");
  bad = ring();
  bad.offsets[2] = 1;
  EXPECT_EQ(problem_of(bad), "row 1 runs from 2 to 1 of 8 arcs");
  bad = ring();
  bad.offsets[2] = 1'000'000;
  EXPECT_EQ(problem_of(bad), "row 1 runs from 2 to 1000000 of 8 arcs");
}

TEST(CheckGraph, says_what_is_wrong_within_a_row) {
  Arrays bad = ring();
  bad.neighbors[3] = 4;
  EXPECT_EQ(problem_of(bad), "row 1: neighbor 4 is not a node (there are 4)");
  bad = ring();
  bad.neighbors[2] = 1;
  EXPECT_EQ(problem_of(bad), "row 1 has a loop: neighbor 1");
  bad = ring();
  bad.neighbors[4] = 3;
  EXPECT_EQ(problem_of(bad), "row 2: neighbor 3 stands there twice");
  bad = ring();
  std::swap(bad.neighbors[4], bad.neighbors[5]);
  EXPECT_EQ(problem_of(bad), "row 2 is not sorted: neighbor 1 after 3");
  for (const Weight weight :
       {0.0F, -1.0F, std::numeric_limits<Weight>::infinity(), std::numeric_limits<Weight>::quiet_NaN()}) {
    bad = ring();
    bad.weights[6] = weight;
    EXPECT_EQ(problem_of(bad), "row 3: the weight of neighbor 0 is " + std::to_string(weight));
  }
}

TEST(CheckGraph, says_where_the_two_directions_differ) {
  Arrays bad = ring();
  bad.weights[0] = 1.5F;
  EXPECT_EQ(problem_of(bad), "row 0 gives the edge to 1 weight 1.500000, row 1 gives it 1.000000");
  // Row 3 lists only 2: the arc 0 -> 3 goes one way.
  bad = {{0, 2, 4, 6, 7}, {1, 3, 0, 2, 1, 3, 2}, {}};
  EXPECT_EQ(problem_of(bad), "row 0 has neighbor 3, but row 3 lacks 0");
  // Arcs that only go down: every arc up has its mirror, yet one arc too many goes down.
  bad = {{0, 1, 2, 4}, {1, 0, 0, 1}, {}};
  EXPECT_EQ(problem_of(bad), "row 2 has neighbor 0, but row 0 lacks 2");
}

TEST(CheckGraph, finds_the_first_row_at_fault_on_any_number_of_threads) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 20'000, .num_edges = 60'000, .weighted = true});
  std::mt19937_64 random(5);
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    Arrays bad = copy_of(graph);
    NodeId first = kNoNode;
    for (int fault = 0; fault < 5; ++fault) {
      const auto u = static_cast<NodeId>(random() % graph.num_nodes());
      bad.weights[bad.offsets[u]] = round % 2 == 0 ? -1.0F : 1e9F * (1.0F + static_cast<float>(fault));
      // A changed weight is seen from both ends; a bad one in its own row.
      first = std::min({first, u, round % 2 == 0 ? u : bad.neighbors[bad.offsets[u]]});
    }
    const std::string problem = problem_of(bad);
    EXPECT_EQ(problem.rfind("row " + std::to_string(first), 0), 0U) << problem << " expected row " << first;
    EXPECT_EQ(problem_of(bad, 4), problem);
  }
}

}  // namespace
}  // namespace copse
