// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/rooted_forest.hpp"

#include <gtest/gtest.h>

#include <map>

#include "copse/graph/build.hpp"
#include "copse/support/parallel.hpp"
#include "oracle/chi_square.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/trees.hpp"
#include "trees/fallback.hpp"
#include "trees/wilson.hpp"

// The law of the roots of all nodes together, beside that of all forests written out one by one, and the law
// of each root beside the dense inverse.

namespace copse {
namespace {

constexpr std::uint64_t kSamples = 20000;

using Roots = std::vector<NodeId>;  // of every node
using RootLaw = std::map<Roots, double>;

Graph weighted_graph() {
  return graph_from_edges(6, {{0, 1, 1.0F},
                              {0, 2, 2.0F},
                              {1, 2, 0.5F},
                              {1, 3, 3.0F},
                              {2, 3, 1.0F},
                              {2, 4, 4.0F},
                              {3, 4, 0.5F},
                              {3, 5, 1.5F},
                              {4, 5, 2.0F}});
}

/// Every set of edges without a cycle, times every choice of a root for each of its trees: one of `roots`,
/// which may not have another beside it, or a node with a killing rate, which counts as a factor. A component
/// without either is left as one tree.
RootLaw root_law(const GraphView& graph, const Roots& roots, const std::vector<double>& rates) {
  const NodeId n = graph.num_nodes();
  const std::vector<Edge> edges = oracle::edge_list(graph);
  oracle::Partition whole(n);
  for (const Edge& edge : edges) whole.join(edge.u, edge.v);
  std::vector<char> is_root(n), has_root(n);
  for (const NodeId root : roots) is_root[root] = has_root[whole.of(root)] = 1;
  for (NodeId u = 0; u < n && !rates.empty(); ++u)
    if (rates[u] > 0) has_root[whole.of(u)] = 1;
  RootLaw law;
  for (std::uint64_t subset = 0; subset < std::uint64_t{1} << edges.size(); ++subset) {
    oracle::Partition parts(n);
    double product = 1;
    bool is_forest = true;
    for (std::size_t k = 0; k < edges.size(); ++k) {
      if ((subset >> k & 1) == 0) continue;
      is_forest = is_forest && parts.join(edges[k].u, edges[k].v);
      product *= edges[k].weight;
    }
    if (!is_forest) continue;
    RootLaw choices{{Roots(n, kNoNode), product}};
    for (NodeId tree = 0; tree < n; ++tree) {
      if (parts.of(tree) != tree) continue;
      std::vector<std::pair<NodeId, double>> candidates;
      for (NodeId u = 0; u < n; ++u) {
        if (parts.of(u) != tree) continue;
        if (is_root[u]) candidates.push_back({u, 1});
      }
      if (candidates.size() > 1)
        candidates.clear();  // two roots in one tree
      else if (candidates.empty() && !rates.empty())
        for (NodeId u = 0; u < n; ++u)
          if (parts.of(u) == tree && rates[u] > 0) candidates.push_back({u, rates[u]});
      bool is_whole = !has_root[whole.of(tree)];
      for (NodeId u = 0; u < n; ++u)
        is_whole = is_whole && (whole.of(u) != whole.of(tree) || parts.of(u) == tree);
      if (is_whole) candidates = {{kNoNode, 1}};
      RootLaw extended;
      for (const auto& [choice, weight] : choices)
        for (const auto& [root, factor] : candidates) {
          Roots with = choice;
          for (NodeId u = 0; u < n; ++u)
            if (parts.of(u) == tree) with[u] = root;
          extended[with] += weight * factor;
        }
      choices = std::move(extended);
    }
    for (const auto& [choice, weight] : choices) law[choice] += weight;
  }
  double total = 0;
  for (const auto& [choice, weight] : law) total += weight;
  for (auto& [choice, weight] : law) weight /= total;
  return law;
}

template <class Draw>
std::map<Roots, std::uint64_t> count(const Draw& draw) {
  std::map<Roots, std::uint64_t> counts;
  for (std::uint64_t index = 0; index < kSamples; ++index) ++counts[draw(index)];
  return counts;
}

Roots roots_of(const RootedForests& forests, std::uint64_t index) {
  TreeReport report;
  const Buffer<NodeId> roots = forests.roots_of_nodes(index, &report);
  EXPECT_EQ(report.path, TreePath::direct);
  return {roots.begin(), roots.end()};
}

void expect_law(const Graph& graph, const Roots& roots, const std::vector<double>& rates) {
  const RootLaw law = root_law(graph, roots, rates);
  const RootedForests forests(graph, roots, {.seed = 5}, rates);
  const auto counts = count([&](std::uint64_t index) { return roots_of(forests, index); });
  const oracle::ChiSquare test = oracle::chi_square(law, counts);
  EXPECT_LT(test.statistic, test.threshold()) << test.degrees << " degrees of freedom";
  EXPECT_GE(test.degrees, 2);
  if (!graph.view().is_weighted()) return;
  const auto unweighted =
      root_law(graph_from_pairs(graph.num_nodes(), oracle::edge_list(graph)), roots, rates);
  const oracle::ChiSquare control = oracle::chi_square(unweighted, counts);
  EXPECT_GT(control.statistic, 3 * control.threshold()) << "this test could not tell the two laws apart";
}

TEST(RootedForests, a_forest_comes_in_proportion_to_the_product_of_its_weights) {
  expect_law(weighted_graph(), {0, 4}, {});
  expect_law(weighted_graph(), {0, 3, 5}, {});
  expect_law(graph_from_pairs(6, oracle::edge_list(weighted_graph())), {1, 4}, {});
}

TEST(RootedForests, a_walk_is_killed_at_its_rate) {
  expect_law(weighted_graph(), {}, {0, 0.5, 0, 0, 2, 0});
  expect_law(weighted_graph(), {}, {0.5, 0.25, 0, 3, 0.1, 1});
  expect_law(weighted_graph(), {2}, {0, 0.5, 1, 0, 0, 3});
  expect_law(graph_from_pairs(6, oracle::edge_list(weighted_graph())), {5}, {1, 0, 0.5, 0, 0, 0});
}

TEST(RootedForests, of_a_component_without_a_root_nodes_have_none) {
  const Graph graph = graph_from_edges(8, {{0, 1, 1.0F},
                                           {1, 2, 2.0F},
                                           {0, 2, 1.0F},
                                           {2, 3, 1.0F},
                                           {4, 5, 1.0F},
                                           {5, 6, 1.0F}});  // 7 has no neighbour
  expect_law(graph, {0, 3}, {});
  const RootedForests forests(graph, Roots{0, 3}, {});
  const Roots roots = roots_of(forests, 0);
  for (NodeId u = 4; u < 8; ++u) EXPECT_EQ(roots[u], kNoNode);
  EXPECT_EQ(roots[3], 3u);
  const RootedForests none(graph, {}, {});
  EXPECT_EQ(roots_of(none, 0), Roots(8, kNoNode));
}

TEST(RootedForests, walks_that_take_turns_have_the_same_law) {
  const Graph graph = weighted_graph();
  const Roots roots{0, 4};
  const WeightedArcs arcs(graph);
  const auto counts = count([&](std::uint64_t index) {
    const WilsonResult drawn = wilson(graph, arcs, roots, index, {.seed = 3},
                                      {.order = WalkOrder::interleaved, .purpose = Purpose::rooted_forest});
    Roots root(graph.num_nodes());
    for (NodeId rank = 0; rank < drawn.num_ranked; ++rank)
      root[drawn.forest.node[rank]] = drawn.forest.is_root(rank)
                                          ? drawn.forest.node[rank]
                                          : root[drawn.forest.node[drawn.forest.parent[rank]]];
    return root;
  });
  const oracle::ChiSquare test = oracle::chi_square(root_law(graph, roots, {}), counts);
  EXPECT_LT(test.statistic, test.threshold());
}

/// Relative frequencies of root(k) = j within five standard deviations.
void expect_marginals(const Graph& graph, const Roots& roots, const std::vector<double>& rates,
                      const oracle::DenseMatrix& probability) {
  const NodeId n = graph.num_nodes();
  oracle::DenseMatrix counts(n, n);
  const RootedForests forests(graph, roots, {.seed = 8}, rates);
  for (std::uint64_t index = 0; index < kSamples; ++index) {
    const Roots root = roots_of(forests, index);
    for (NodeId k = 0; k < n; ++k) counts(k, root[k]) += 1;
  }
  for (NodeId k = 0; k < n; ++k)
    for (NodeId j = 0; j < n; ++j) {
      const double p = probability(k, j);
      EXPECT_NEAR(counts(k, j), kSamples * p, 5 * std::sqrt(kSamples * p * std::max(0.0, 1 - p)) + 1e-6)
          << k << " " << j;
    }
}

TEST(RootedForests, the_root_of_a_node_is_what_the_inverse_says) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 25, .num_edges = 50, .seed = 4, .weighted = true});
  const Roots roots{3, 7, 11, 19};
  const oracle::DenseMatrix l = oracle::laplacian(graph);
  // Rows of roots become the identity's: then the inverse is the harmonic measure in the roots' columns.
  oracle::DenseMatrix fixed = l;
  for (const NodeId root : roots)
    for (NodeId u = 0; u < 25; ++u) fixed(root, u) = root == u ? 1 : 0;
  const oracle::DenseMatrix inverse = oracle::inverse(fixed);
  oracle::DenseMatrix harmonic(25, 25), killed(25, 25);
  for (NodeId k = 0; k < 25; ++k)
    for (const NodeId root : roots) harmonic(k, root) = inverse(k, root);
  expect_marginals(graph, roots, {}, harmonic);

  std::vector<double> rates(25);
  for (NodeId u = 0; u < 25; u += 4) rates[u] = 0.3 + 0.2 * u;
  oracle::DenseMatrix with_rates = l;
  for (NodeId u = 0; u < 25; ++u) with_rates(u, u) += rates[u];
  const oracle::DenseMatrix resolvent = oracle::inverse(with_rates);
  for (NodeId k = 0; k < 25; ++k)
    for (NodeId j = 0; j < 25; ++j) killed(k, j) = resolvent(k, j) * rates[j];
  expect_marginals(graph, {}, rates, killed);
}

TEST(RootedForests, a_forest_depends_on_graph_roots_seed_and_index_only) {
  const Graph graph = oracle::random_graph({.num_nodes = 400, .num_edges = 700, .seed = 9, .weighted = true});
  const Roots roots{1, 50, 51, 300};
  const RootedForests one(graph, roots, {.seed = 3}), four(graph, roots, {.seed = 3, .threads = 4});
  std::vector<Roots> drawn(8);
  parallel_for(4, 8, [&](std::size_t index) { drawn[index] = roots_of(four, index); });
  for (std::size_t index = 8; index-- > 0;) EXPECT_EQ(roots_of(one, index), drawn[index]);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(roots_of(RootedForests(graph, roots, {.seed = 4}), 0), drawn[0]);
}

TEST(RootedForests, where_walks_are_too_long_keys_complete_the_forest) {
  // Two clusters of which one has no root and hardly a way out.
  std::vector<Edge> edges = oracle::random_connected_edges({.num_nodes = 400, .num_edges = 1200, .seed = 2});
  const std::vector<Edge> other = edges;
  for (const Edge& edge : other) edges.push_back({edge.u + 400, edge.v + 400, edge.weight});
  edges.push_back({3, 405, 1e-7F});
  const Graph graph = graph_from_edges(800, edges);
  const RootedForests forests(graph, Roots{0, 200}, {});
  TreeReport report;
  const Buffer<NodeId> roots = forests.roots_of_nodes(0, &report);
  EXPECT_EQ(report.path, TreePath::completed_by_keys);
  EXPECT_TRUE(std::ranges::all_of(roots, [](NodeId root) { return root == 0 || root == 200; }));
  for (NodeId u = 400; u < 800; ++u) EXPECT_EQ(roots[u], roots[3]);
}

TEST(RootedForests, rates_and_weights_may_be_of_any_size) {
  const Graph graph = graph_from_edges(3, {{0, 1, 1e38F}, {1, 2, 1e-38F}});
  const RootedForests forests(graph, {}, {}, std::vector<double>{1e47, 0, 1e-45});
  const Roots roots = roots_of(forests, 0);
  EXPECT_EQ(roots[0], 0u);
  EXPECT_EQ(roots[1], 0u);
}

}  // namespace
}  // namespace copse
