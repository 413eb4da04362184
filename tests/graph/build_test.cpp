// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/build.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

struct Listing {
  NodeId u, v;
  Weight weight;
};

std::vector<EdgeChunk> chunks_of(const std::vector<Listing>& list, bool has_weights, std::size_t chunk_size) {
  std::vector<EdgeChunk> chunks(1);
  for (const Listing& edge : list) {
    if (chunks.back().u.size() == chunk_size) chunks.emplace_back();
    chunks.back().u.push_back(edge.u);
    chunks.back().v.push_back(edge.v);
    if (has_weights) chunks.back().weight.push_back(edge.weight);
  }
  return chunks;
}

using Adjacency = std::map<std::pair<NodeId, NodeId>, double>;  // both directions

Adjacency adjacency(const GraphView& graph) {
  Adjacency all;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex i = graph.offsets[u]; i < graph.offsets[u + 1]; ++i) {
      EXPECT_TRUE(i == graph.offsets[u] || graph.neighbors[i - 1] < graph.neighbors[i]) << "row " << u;
      all[{u, graph.neighbors[i]}] = graph.weight(i);
    }
  return all;
}

// The slow twin: a map from pairs to the multiset of weights listed in each direction.
struct Twin {
  std::map<std::pair<NodeId, NodeId>, std::vector<float>> forward, backward;  // key (small, large)
  std::uint64_t loops = 0, zeros = 0, merged = 0;
  bool both_ways = true, has_duplicates = false;

  explicit Twin(const std::vector<Listing>& list) {
    for (const Listing& edge : list) {
      if (edge.u == edge.v) {
        ++loops;
      } else if (edge.weight == 0) {
        ++zeros;
      } else {
        const std::pair key{std::min(edge.u, edge.v), std::max(edge.u, edge.v)};
        forward[key];
        backward[key];
        (edge.u < edge.v ? forward : backward)[key].push_back(edge.weight);
      }
    }
    both_ways = !forward.empty();
    for (const auto& [key, there] : forward) {
      const auto& back = backward[key];
      both_ways = both_ways && there.size() == 1 && back == there;
      has_duplicates = has_duplicates || there.size() + back.size() > 1;
      merged += there.size() + back.size() - 1;
    }
    if (both_ways) merged = 0;
  }

  Adjacency expected(Duplicates policy) const {
    Adjacency all;
    for (const auto& [key, there] : forward) {
      std::multiset<float> weights(there.begin(), there.end());
      const auto& back = backward.at(key);
      weights.insert(back.begin(), back.end());
      double weight = *weights.begin();
      if (!both_ways && policy == Duplicates::max) weight = *weights.rbegin();
      if (!both_ways && policy == Duplicates::sum) {
        weight = 0;
        for (const float w : weights) weight += w;
        weight = static_cast<float>(weight);
      }
      all[key] = all[{key.second, key.first}] = weight;
    }
    return all;
  }
};

std::vector<Listing> random_list(std::uint64_t seed, NodeId num_nodes, bool has_weights) {
  Stream stream(seed, Purpose::test, 0);
  std::vector<Listing> list;
  const std::uint64_t kind = stream.below(4), count = stream.below(120);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto u = static_cast<NodeId>(stream.below(num_nodes)),
               v = static_cast<NodeId>(stream.below(num_nodes));
    const Weight weight = has_weights ? static_cast<Weight>(stream.below(6)) * 0.3F : 1;
    if (kind >= 2 && std::any_of(list.begin(), list.end(), [&](const Listing& e) {
          return (e.u == u && e.v == v) || (e.u == v && e.v == u);
        }))
      continue;
    list.push_back({u, v, weight});
    if (kind == 3) list.push_back({v, u, weight});
  }
  // In any order, as long as it is fixed.
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[stream.below(i)]);
  return list;
}

TEST(BuildGraph, agrees_with_a_map_of_pairs_for_every_policy) {
  int num_both_ways = 0, num_merging = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const bool has_weights = seed % 2 == 0;
    const NodeId num_nodes = 3 + seed % 20;
    const std::vector<Listing> list = random_list(seed, num_nodes, has_weights);
    const Twin twin(list);
    num_both_ways += twin.both_ways;
    num_merging += twin.merged != 0;
    for (const Duplicates policy : {Duplicates::sum, Duplicates::max, Duplicates::min}) {
      BuildReport report;
      const Graph graph =
          build_graph(chunks_of(list, has_weights, 7), num_nodes, {policy}, {}, "list", &report);
      check_graph(graph, "built");
      EXPECT_EQ(graph.num_nodes(), num_nodes);
      EXPECT_EQ(adjacency(graph), twin.expected(policy));
      EXPECT_EQ(report.num_listed, list.size());
      EXPECT_EQ(report.num_self_loops, twin.loops);
      EXPECT_EQ(report.num_zero_weights, twin.zeros);
      EXPECT_EQ(report.num_merged, twin.merged);
      EXPECT_EQ(report.listed_both_ways, twin.both_ways);
      const bool counts = !has_weights && twin.merged != 0 && policy == Duplicates::sum;
      EXPECT_EQ(graph.view().is_weighted(), !twin.forward.empty() && (has_weights || counts));
    }
    if (twin.merged != 0) {
      EXPECT_THROW(build_graph(chunks_of(list, has_weights, 7), num_nodes, {Duplicates::error}, {}, "list"),
                   InputError);
    } else {
      EXPECT_EQ(
          adjacency(build_graph(chunks_of(list, has_weights, 7), num_nodes, {Duplicates::error}, {}, "list")),
          twin.expected(Duplicates::sum));
    }
  }
  EXPECT_GT(num_both_ways, 20);  // the cases that matter did occur
  EXPECT_GT(num_merging, 100);
}

bool same_bits(const GraphView& a, const GraphView& b) {
  return std::ranges::equal(a.offsets, b.offsets) && std::ranges::equal(a.neighbors, b.neighbors) &&
         std::ranges::equal(a.weights, b.weights);
}

TEST(BuildGraph, gives_the_same_bits_for_any_threads_chunks_and_order) {
  for (const bool has_weights : {false, true}) {
    Stream stream(7, Purpose::test, has_weights);
    std::vector<Listing> list;
    for (int i = 0; i < 600'000; ++i) {
      const auto u = static_cast<NodeId>(stream.below(20'000));
      list.push_back({u, static_cast<NodeId>(stream.below(1 + stream.below(20'000))),
                      static_cast<Weight>(stream.uniform())});
    }
    const Graph expected =
        build_graph(chunks_of(list, has_weights, list.size()), 20'000, {}, {.threads = 1}, "list");
    EXPECT_TRUE(expected.view().is_weighted());
    std::reverse(list.begin(), list.end());
    for (std::size_t i = 0; i < list.size(); i += 3) std::swap(list[i].u, list[i].v);
    for (const int threads : {1, 4})
      for (const std::size_t chunk_size : {std::size_t{1000}, std::size_t{300'001}, list.size()})
        EXPECT_TRUE(same_bits(expected, build_graph(chunks_of(list, has_weights, chunk_size), 20'000, {},
                                                    {.threads = threads}, "list")));
  }
}

// Enough edges for many buckets of rows; few distinct ends in some, so that rows are long and pairs repeat.
std::vector<Listing> large_list(std::uint64_t seed, std::uint64_t num_nodes, std::uint64_t num_hubs) {
  Stream stream(seed, Purpose::test, 1);
  std::vector<Listing> list;
  for (int i = 0; i < 70'000; ++i) {
    const auto u = static_cast<NodeId>(stream.below(i % 4 == 0 ? num_hubs : num_nodes));
    list.push_back(
        {u, static_cast<NodeId>(stream.below(num_nodes)), static_cast<Weight>(1 + stream.below(8)) * 0.25F});
  }
  return list;
}

void expect_twin(const std::vector<Listing>& list, NodeId num_nodes, bool has_weights,
                 Duplicates policy = Duplicates::sum) {
  std::vector<Listing> plain = list;
  if (!has_weights)
    for (Listing& edge : plain) edge.weight = 1;
  const Twin twin(plain);
  const auto build = [&](int threads, BuildReport& report) {
    return build_graph(chunks_of(plain, has_weights, 25'000), num_nodes, {policy}, {.threads = threads},
                       "list", &report);
  };
  BuildReport report, other;
  const Graph graph = build(1, report);
  EXPECT_TRUE(adjacency(graph) == twin.expected(policy));
  EXPECT_EQ(report.num_merged, twin.merged);
  EXPECT_EQ(report.num_self_loops, twin.loops);
  EXPECT_EQ(report.listed_both_ways, twin.both_ways);
  EXPECT_TRUE(same_bits(graph, build(3, other)));
  EXPECT_EQ(other.num_merged, twin.merged);
}

TEST(BuildGraph, long_rows_and_many_repeated_pairs_over_many_buckets_agree_with_the_map) {
  for (const bool has_weights : {false, true}) {
    expect_twin(large_list(1, 50'000, 3), 50'000, has_weights);  // hubs first
    std::vector<Listing> list = large_list(2, 400, 400);         // almost every pair repeats
    expect_twin(list, 400, has_weights);
    expect_twin(list, 400, has_weights, Duplicates::max);
    for (Listing& edge : list) edge.u = 399 - edge.u, edge.v = 399 - edge.v;
    expect_twin(list, 400, has_weights);
  }
}

TEST(BuildGraph, sorted_lists_agree_with_the_map_in_either_direction) {
  std::vector<Listing> list = large_list(3, 20'000, 20'000);
  for (Listing& edge : list)
    if (edge.u > edge.v) std::swap(edge.u, edge.v);
  const auto by_ends = [](const Listing& a, const Listing& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; };
  std::sort(list.begin(), list.end(), by_ends);
  expect_twin(list, 20'000, false);
  expect_twin(list, 20'000, true);
  for (Listing& edge : list) std::swap(edge.u, edge.v);
  expect_twin(list, 20'000, true);
}

TEST(BuildGraph, large_lists_of_both_directions_are_known_and_one_edge_too_many_is_noticed) {
  std::vector<Listing> list;
  std::set<std::pair<NodeId, NodeId>> seen;
  for (const Listing& edge : large_list(4, 30'000, 30'000)) {
    if (edge.u == edge.v || !seen.insert(std::minmax(edge.u, edge.v)).second) continue;
    list.push_back(edge);
    list.push_back({edge.v, edge.u, edge.weight});
  }
  EXPECT_TRUE(Twin(list).both_ways);
  expect_twin(list, 30'000, true);
  expect_twin(list, 30'000, false);
  // Each direction twice is no edge listed both ways but four parallel ones, and then so is the rest.
  const Listing first = list.front();
  list.push_back(first);
  list.push_back({first.v, first.u, first.weight});
  EXPECT_FALSE(Twin(list).both_ways);
  expect_twin(list, 30'000, false);
  // As many edges up as down, yet not the same ones.
  list.pop_back();
  list.push_back({29'999, 29'998, 1});
  expect_twin(list, 30'000, true);
}

TEST(BuildGraph, the_sum_of_parallel_edges_listed_both_ways_may_be_too_large) {
  const float large = 0.3F * std::numeric_limits<float>::max();
  const std::vector<Listing> list = {{0, 1, 1},     {1, 0, 1},     {1, 2, large},
                                     {2, 1, large}, {1, 2, large}, {2, 1, large}};
  try {
    build_graph(chunks_of(list, true, 9), 3, {}, {}, "edges.tsv");
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(error.problem().find("nodes 1 and 2"), std::string::npos) << error.what();
  }
}

TEST(BuildGraph, two_listings_in_the_same_direction_are_parallel_edges_not_one_edge_both_ways) {
  BuildReport report;
  const Graph twice = build_graph(chunks_of({{0, 1, 2}, {0, 1, 2}}, true, 9), 2, {}, {}, "list", &report);
  EXPECT_FALSE(report.listed_both_ways);
  EXPECT_EQ(twice.view().weight(0), 4);
  const Graph both = build_graph(chunks_of({{0, 1, 2}, {1, 0, 2}}, true, 9), 2, {}, {}, "list", &report);
  EXPECT_TRUE(report.listed_both_ways);
  EXPECT_EQ(both.view().weight(0), 2);
  const Graph unequal = build_graph(chunks_of({{0, 1, 2}, {1, 0, 3}}, true, 9), 2, {}, {}, "list", &report);
  EXPECT_FALSE(report.listed_both_ways);
  EXPECT_EQ(unequal.view().weight(0), 5);
}

TEST(BuildGraph, weights_that_are_all_equal_stay_weights) {
  EXPECT_TRUE(graph_from_edges(3, {{0, 1, 1}, {1, 2, 1}}).view().is_weighted());
  EXPECT_FALSE(graph_from_pairs(3, {{0, 1}, {1, 2}, {1, 2}}).view().is_weighted());
}

TEST(BuildGraph, isolated_nodes_and_graphs_without_edges_are_kept) {
  EXPECT_EQ(graph_from_pairs(5, {}).num_nodes(), 5u);
  EXPECT_EQ(graph_from_pairs(5, {{3, 3}}).view().num_arcs(), 0u);
  EXPECT_EQ(graph_from_pairs(0, {}).num_nodes(), 0u);
}

void expect_error(const std::vector<Listing>& list, std::uint64_t num_nodes, Duplicates policy,
                  const std::string& part) {
  for (const int threads : {1, 4}) {
    try {
      build_graph(chunks_of(list, true, 2), num_nodes, {policy}, {.threads = threads}, "edges.tsv");
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      EXPECT_EQ(error.where(), "edges.tsv");
      EXPECT_NE(error.problem().find(part), std::string::npos) << error.what();
      EXPECT_FALSE(error.remedy().empty());
    }
  }
}

TEST(BuildGraph, names_the_pair_the_node_or_the_number_that_is_wrong) {
  expect_error({{0, 1, 1}, {4, 2, 1}, {2, 4, 2}, {3, 4, 1}, {3, 4, 1}}, 5, Duplicates::error,
               "nodes 2 and 4");
  const float huge = std::numeric_limits<float>::max();
  expect_error({{0, 1, 1}, {1, 2, huge}, {1, 2, huge}}, 3, Duplicates::sum, "nodes 1 and 2");
  expect_error({{0, 7, 1}}, 5, Duplicates::sum, "node 7");
  expect_error({{0, 1, 1}}, kMaxNodes + 1, Duplicates::sum, "4,294,967,296 nodes");
  EXPECT_THROW(graph_from_edges(2, {{0, 1, -1}}), InputError);
  EXPECT_THROW(graph_from_edges(2, {{0, 1, std::nanf("")}}), InputError);
}

}  // namespace
}  // namespace copse
