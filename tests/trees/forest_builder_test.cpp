// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/forest_builder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/sample.hpp"
#include "expect_forest.hpp"
#include "oracle/chi_square.hpp"
#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

/// A stream: edges as they are listed, in any direction, and their occurrences where some pairs repeat.
struct List {
  std::vector<std::uint64_t> u, v;
  std::vector<Weight> weight;
  std::vector<std::uint32_t> occurrence;

  void add(std::uint64_t a, std::uint64_t b, Weight w, std::uint32_t k = 0) {
    u.push_back(a);
    v.push_back(b);
    weight.push_back(w);
    occurrence.push_back(k);
  }
  List shuffled(std::uint64_t seed) const {
    std::vector<std::size_t> order(u.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
    List list;
    for (const std::size_t i : order)
      if (seed % 2 == 0)
        list.add(u[i], v[i], weight[i], occurrence[i]);
      else
        list.add(v[i], u[i], weight[i], occurrence[i]);
    return list;
  }
  EdgeBlock<std::uint64_t> block(std::size_t begin, std::size_t end, bool is_weighted) const {
    EdgeBlock<std::uint64_t> block{std::span(u).subspan(begin, end - begin),
                                   std::span(v).subspan(begin, end - begin)};
    if (is_weighted) block.weight = std::span(weight).subspan(begin, end - begin);
    block.occurrence = std::span(occurrence).subspan(begin, end - begin);
    return block;
  }
  double bound(std::uint64_t num_nodes, bool is_weighted, double per_node) const {
    std::vector<std::uint64_t> bins(is_weighted ? kWeightBins : 0);
    if (is_weighted) count_weights(weight, bins);
    return key_bound(num_nodes, u.size(), bins, per_node);
  }
};

List list_of(const GraphView& graph) {
  List list;
  for (const Edge& edge : oracle::edge_list(graph)) list.add(edge.u, edge.v, edge.weight);
  return list;
}

std::vector<SpanningForest> build(const List& list, NodeId num_nodes, bool is_weighted, TreeGroup trees,
                                  double per_node, std::size_t block_size, int threads) {
  ForestBuilder builder(num_nodes, is_weighted, trees, list.bound(num_nodes, is_weighted, per_node),
                        {.seed = trees.seed, .threads = threads});
  for (std::uint64_t scan = 0; !builder.is_done(); ++scan, builder.end_scan()) {
    const List order = list.shuffled(scan);
    for (std::size_t i = 0; i < order.u.size(); i += block_size)
      builder.add(order.block(i, std::min(i + block_size, order.u.size()), is_weighted));
  }
  std::vector<SpanningForest> forests;
  for (std::uint32_t t = 0; t < trees.count; ++t) forests.push_back(builder.take_forest(t));
  return forests;
}

/// The twin: all keys of all listings, sorted, Kruskal.
struct Twin {
  double key;
  NodeId u, v;
  auto operator<=>(const Twin&) const = default;
};
oracle::EdgeSet forest_by_all_keys(const List& list, NodeId num_nodes, bool is_weighted, std::uint64_t seed,
                                   std::uint64_t tree) {
  std::vector<Twin> all;
  const auto mixed = philox4x32({0, 2U << 16, 0, 0},
                                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  for (std::size_t i = 0; i < list.u.size(); ++i) {
    const auto [u, v] = std::minmax({static_cast<NodeId>(list.u[i]), static_cast<NodeId>(list.v[i])});
    if (u == v || list.weight[i] == 0) continue;
    const auto block = philox4x32({u, v, list.occurrence[i], 0}, {mixed[0], mixed[1]});
    std::uint64_t z = (std::uint64_t{block[0]} << 32) + block[1];
    for (std::uint64_t step = 0; step <= tree; ++step) z += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    const double uniform = static_cast<double>(z >> 11) / 9007199254740992.0;
    all.push_back({-std::log1p(-uniform) / (is_weighted ? list.weight[i] : 1), u, v});
  }
  std::sort(all.begin(), all.end());
  oracle::Partition parts(num_nodes);
  std::vector<Edge> chosen;
  for (const Twin& twin : all)
    if (parts.join(twin.u, twin.v)) chosen.push_back({twin.u, twin.v});
  return oracle::pairs_of(chosen);
}

TEST(ForestBuilder, builds_the_trees_of_the_sampler_from_any_blocks_in_any_order) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const bool weighted = seed % 2 == 1;
    const Graph graph = oracle::random_graph(
        {.num_nodes = 2000, .num_edges = 1500 * (seed + 1), .seed = seed, .weighted = weighted});
    const List list = list_of(graph);
    const TreeSampler sampler(graph, TreeKind::random_key, {.seed = seed});
    for (const double per_node : {0.3, 1.0, 2.0, 100.0}) {
      for (const std::size_t block : {std::size_t{7}, std::size_t{1000}, std::size_t{1} << 20}) {
        if (block == 7 && per_node != 2) continue;
        SCOPED_TRACE(testing::Message() << seed << ' ' << per_node << ' ' << block);
        const auto forests = build(list, 2000, weighted, {.seed = seed, .first = 4, .count = 3}, per_node,
                                   block, block == 1000 ? 4 : 1);
        for (std::uint32_t t = 0; t < 3; ++t) {
          check_forest(graph, forests[t]);
          expect_equal(forests[t], sampler.tree(4 + t));
        }
      }
    }
  }
}

TEST(ForestBuilder, agrees_with_kruskal_over_all_keys_also_of_parallel_edges_and_loops) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const bool weighted = seed % 2 == 1, counted = seed % 4 >= 2;
    std::mt19937_64 random(seed);
    List list;
    for (int i = 0; i < 9000; ++i)
      list.add(random() % 300, random() % 300, static_cast<Weight>(random() % 5),
               counted ? static_cast<std::uint32_t>(i) : 0);
    if (!weighted) std::fill(list.weight.begin(), list.weight.end(), Weight{1});
    const auto forests = build(list, 301, weighted, {.seed = seed, .first = 0, .count = 32}, 1, 512, 2);
    for (std::uint32_t t = 0; t < 32; ++t)
      EXPECT_EQ(oracle::edge_set(forests[t]), forest_by_all_keys(list, 301, weighted, seed, t));
  }
}

TEST(ForestBuilder, reduces_candidates_that_outgrow_their_limit_without_a_change) {
  // One scan of 2^20 and more edges for few nodes.
  List list;
  std::mt19937_64 random(5);
  for (int i = 0; i < 1'200'000; ++i) {
    const std::uint64_t u = random() % 1000, v = random() % 1000;
    list.add(u, v, static_cast<Weight>(1 + random() % 100), static_cast<std::uint32_t>(i));
  }
  const auto forests = build(list, 1000, true, {.seed = 3, .first = 0, .count = 2}, 1e9, 100'000, 2);
  for (std::uint32_t t = 0; t < 2; ++t)
    EXPECT_EQ(oracle::edge_set(forests[t]), forest_by_all_keys(list, 1000, true, 3, t));
}

TEST(ForestBuilder, merges_what_others_were_given) {
  const Graph graph =
      oracle::random_graph({.num_nodes = 500, .num_edges = 4000, .seed = 2, .weighted = true});
  const List list = list_of(graph);
  const TreeGroup trees{.seed = 9, .first = 0, .count = 5};
  const double bound = list.bound(500, true, 1);
  std::vector<ForestBuilder> parts;
  for (int i = 0; i < 3; ++i) parts.emplace_back(500, true, trees, bound, Execution{});
  // Every part holds a third of the edges; scan by scan the others give theirs to the first, whose components
  // the next ones start from.
  ForestBuilder whole(500, true, trees, bound, {});
  for (int part = 0; part < 3; ++part) {
    const auto begin = static_cast<std::size_t>(part) * 1334;
    parts[static_cast<std::size_t>(part)].add(
        list.block(begin, std::min<std::size_t>(begin + 1334, 4000), true));
    whole.merge(std::move(parts[static_cast<std::size_t>(part)]));
  }
  whole.end_scan();
  EXPECT_FALSE(whole.is_done());
  EXPECT_THROW(whole.merge(ForestBuilder(500, true, trees, bound, {})), UsageError);
  whole.add(list.block(0, 4000, true));
  whole.end_scan();
  const TreeSampler sampler(graph, TreeKind::random_key, {.seed = 9});
  for (std::uint32_t t = 0; t < 5; ++t) expect_equal(whole.take_forest(t), sampler.tree(t));
}

TEST(OutsideGiants, has_a_bit_for_every_node_and_tree) {
  for (const std::size_t num_trees : {1, 3, 31, 32}) {
    for (const NodeId n : {1, 63, 64, 65, 1000}) {
      SCOPED_TRACE(testing::Message() << num_trees << ' ' << n);
      std::mt19937_64 random(n);
      std::vector<std::vector<NodeId>> components(num_trees, std::vector<NodeId>(n));
      for (auto& component : components)
        for (NodeId u = 0; u < n; ++u) component[u] = random() % 4 == 0 ? u : 0;  // node 0 is in the giant
      const std::vector<std::span<const NodeId>> spans(components.begin(), components.end());
      const OutsideGiants outside(spans, {.threads = 2});
      for (NodeId u = 0; u < n; ++u)
        for (std::size_t t = 0; t < num_trees; ++t)
          ASSERT_EQ(outside.trees_of(u) >> t & 1, components[t][u] != 0);
    }
  }
}

/// Counts of trees over many seeds' worth of groups: the stages as a cluster runs them.
std::map<oracle::EdgeSet, std::uint64_t> sample(const List& list, NodeId num_nodes, double per_node) {
  std::map<oracle::EdgeSet, std::uint64_t> counts;
  for (std::uint32_t group = 0; group < 940; ++group)
    for (const SpanningForest& forest :
         build(list, num_nodes, true, {.seed = 11, .first = 32 * group, .count = 32}, per_node, 4, 1))
      ++counts[oracle::edge_set(forest)];
  return counts;
}

void expect_law(const oracle::TreeLaw& law, const std::map<oracle::EdgeSet, std::uint64_t>& counts) {
  const oracle::ChiSquare test = oracle::chi_square(law, counts);
  EXPECT_LT(test.statistic, test.threshold()) << test.degrees << " degrees of freedom";
}

TEST(ForestBuilder, listings_that_are_numbered_add_and_others_count_as_the_largest) {
  const std::vector<Edge> listed = {{0, 1, 1},    {0, 2, 2}, {1, 2, 0.5F}, {1, 3, 3},   {2, 3, 1},
                                    {1, 0, 2.5F}, {3, 2, 4}, {2, 3, 1},    {3, 0, 0.5F}};
  List apart, together;
  for (std::uint32_t i = 0; i < listed.size(); ++i) {
    apart.add(listed[i].u, listed[i].v, listed[i].weight, i);
    together.add(listed[i].u, listed[i].v, listed[i].weight);
  }
  const Graph sum = graph_from_edges(4, listed);
  const Graph max =
      graph_from_edges(4, {{0, 1, 2.5F}, {0, 2, 2}, {1, 2, 0.5F}, {1, 3, 3}, {2, 3, 4}, {3, 0, 0.5F}});
  const auto counts_apart = sample(apart, 4, 0.7), counts_together = sample(together, 4, 0.7);
  expect_law(oracle::random_key_law(sum), counts_apart);
  expect_law(oracle::random_key_law(max), counts_together);
  const oracle::ChiSquare other = oracle::chi_square(oracle::random_key_law(max), counts_apart);
  EXPECT_GT(other.statistic, 10 * other.threshold()) << "this test could not tell the two laws apart";
}

TEST(ForestBuilder, trees_of_one_edge_are_independent) {
  // A triangle: which edge is left out of one tree must not depend on which is left out of another.
  List list;
  list.add(0, 1, 1, 0), list.add(1, 2, 1, 0), list.add(0, 2, 1, 0);
  std::map<std::pair<oracle::EdgeSet, oracle::EdgeSet>, std::uint64_t> counts;
  std::map<std::pair<oracle::EdgeSet, oracle::EdgeSet>, double> law;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto forests = build(list, 3, true, {.seed = seed, .first = 0, .count = 2}, 100, 3, 1);
    ++counts[{oracle::edge_set(forests[0]), oracle::edge_set(forests[1])}];
  }
  for (const auto& entry : counts) law[entry.first] = 1.0 / 9;
  ASSERT_EQ(law.size(), 9U);
  const oracle::ChiSquare test = oracle::chi_square(law, counts);
  EXPECT_LT(test.statistic, test.threshold());
}

TEST(KeyBound, lets_as_many_edges_pass_as_were_asked_for) {
  const Graph graph =
      oracle::random_graph({.num_nodes = 3000, .num_edges = 60000, .seed = 2, .weighted = true});
  const List list = list_of(graph);
  for (const bool weighted : {false, true}) {
    std::vector<KeptEdges> kept(32);
    keep_small_keys(list.block(0, 60000, weighted), 3000, {.seed = 1, .first = 0, .count = 32},
                    list.bound(3000, weighted, 2), kept);
    double total = 0;
    for (const KeptEdges& edges : kept) total += static_cast<double>(edges.size());
    EXPECT_NEAR(total / 32, 6000, 300);
  }
  EXPECT_EQ(key_bound(100, 200, {}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(key_bound(100, 1000, {}), 0.2);
}

template <class Body>
std::string message_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ForestBuilder, refuses_what_is_no_edge_and_says_what_to_do) {
  ForestBuilder builder(3, true, {}, 1, {});
  const std::uint64_t u[] = {0, 1}, v[] = {1, std::uint64_t{1} << 32};
  const Weight weight[] = {1, 1};
  const std::uint64_t good[] = {1, 2};
  EXPECT_EQ(message_of([&] {
              builder.add(EdgeBlock<std::uint64_t>{u, v, weight});
            }),
            "edges: node 4294967296 is not one of 0 ... 2\n  number the nodes 0, 1, 2, ... and say how many "
            "there are");
  for (const Weight bad : {-1.0F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const Weight weights[] = {1, bad};
    EXPECT_NE(message_of([&] {
                builder.add(EdgeBlock<std::uint64_t>{u, good, weights});
              }).find("is not a positive number\n  weights are similarities"),
              std::string::npos);
  }
  EXPECT_NE(message_of([&] {
              builder.add(EdgeBlock<std::uint64_t>{u, good});
            }).find("has no weights"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              builder.add(EdgeBlock<std::uint64_t>{std::span(u).first(1), good, weight});
            }).find("differ in length"),
            std::string::npos);
  EXPECT_NE(message_of([&] { builder.take_forest(0); }).find("is not done"), std::string::npos);
  EXPECT_NE(message_of([&] { ForestBuilder(3, true, {.count = 33}, 1, {}); }).find("not 1 to 32"),
            std::string::npos);
  EXPECT_NE(message_of([&] { ForestBuilder(std::uint64_t{1} << 32, true, {}, 1, {}); }).find("are more than"),
            std::string::npos);
}

TEST(ForestBuilder, takes_a_stream_without_edges_and_a_graph_of_one_node) {
  for (const NodeId n : {NodeId{1}, NodeId{5}}) {
    ForestBuilder builder(n, false, {}, key_bound(n, 0, {}), {});
    builder.end_scan();
    ASSERT_TRUE(builder.is_done());
    EXPECT_EQ(builder.take_forest(0).num_nodes(), n);
  }
}

}  // namespace
}  // namespace copse
