// SPDX-License-Identifier: Apache-2.0
// Graphs with negative edges: building, reading, writing, balance, the double cover.

#include <gtest/gtest.h>

#include <random>

#include "copse/graph/build.hpp"
#include "copse/graph/generate.hpp"
#include "copse/graph/signs.hpp"
#include "copse/graph/statistics.hpp"
#include "copse/graph/subgraph.hpp"
#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"
#include "oracle/graphs.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

using oracle::contents;
using oracle::edges_of;
using oracle::put;
using oracle::TemporaryDirectory;
using Map = oracle::EdgeMap;

/// Edges of a random graph, about half of them negative.
std::vector<Edge> random_signed_edges(NodeId n, std::uint64_t m, std::uint64_t seed, bool weighted) {
  std::vector<Edge> edges =
      oracle::random_connected_edges({.num_nodes = n, .num_edges = m, .seed = seed, .weighted = weighted});
  std::mt19937_64 random(seed + 1000);
  for (Edge& edge : edges)
    if (random() % 2 == 0) edge.weight = -edge.weight;
  return edges;
}

template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

NamedGraph read(const std::string& path, ReadOptions options = {}, BuildReport* build = nullptr) {
  ReadReport report;
  options.is_signed = true;
  NamedGraph graph = read_graph(path, options, {.threads = 2}, &report);
  if (build != nullptr) *build = report.build;
  return graph;
}

TEST(SignedGraph, keeps_magnitudes_and_signs_of_what_was_listed) {
  for (const bool weighted : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(seed);
      const std::vector<Edge> edges = random_signed_edges(40, 100, seed, weighted);
      const Graph graph = graph_from_signed_edges(40, edges);
      ASSERT_TRUE(graph.view().is_signed());
      EXPECT_EQ(graph.view().is_weighted(), weighted);  // 1 and -1 alone are no weights
      Map wanted;
      for (const Edge& edge : edges) wanted[std::minmax(edge.u, edge.v)] = edge.weight;
      EXPECT_EQ(edges_of(graph), wanted);
      for (EdgeIndex arc = 0; arc < graph.view().num_arcs(); ++arc) EXPECT_GT(graph.view().weight(arc), 0);
    }
}

TEST(SignedGraph, without_a_negative_edge_is_a_graph_without_signs) {
  const Graph graph = graph_from_signed_edges(3, {{0, 1, 2}, {1, 2, 1}});
  EXPECT_FALSE(graph.view().is_signed());
  EXPECT_EQ(edges_of(graph), (Map{{{0, 1}, 2}, {{1, 2}, 1}}));
  EXPECT_FALSE(graph_from_signed_edges(2, {}).view().is_signed());
}

TEST(SignedGraph, listings_add_with_their_signs_and_cancel) {
  const TemporaryDirectory directory;
  put(directory.file("g.tsv"), "a\tb\t2\nb\ta\t-0.5\nb\tc\t1\nc\tb\t-1\nc\td\t-3\n");
  BuildReport report;
  const NamedGraph graph = read(directory.file("g.tsv"), {}, &report);
  EXPECT_EQ(edges_of(graph.graph), (Map{{{0, 1}, 1.5}, {{2, 3}, -3}}));
  EXPECT_EQ(report.num_cancelled, 1u);
  EXPECT_EQ(report.num_merged, 2u);
  EXPECT_EQ(graph.graph.num_nodes(), 4u);
}

TEST(SignedGraph, max_and_min_go_by_magnitude_and_refuse_a_pair_of_both_signs) {
  const TemporaryDirectory directory;
  put(directory.file("same.tsv"), "a\tb\t-2\nb\ta\t-5\na\tb\t-3\na\tc\t1\n");
  EXPECT_EQ(edges_of(read(directory.file("same.tsv"), {.duplicates = Duplicates::max}).graph),
            (Map{{{0, 1}, -5}, {{0, 2}, 1}}));
  EXPECT_EQ(edges_of(read(directory.file("same.tsv"), {.duplicates = Duplicates::min}).graph),
            (Map{{{0, 1}, -2}, {{0, 2}, 1}}));
  put(directory.file("both.tsv"), "a\tb\t-2\nb\ta\t5\n");
  for (const Duplicates policy : {Duplicates::max, Duplicates::min}) {
    const std::string text = error_of([&] { read(directory.file("both.tsv"), {.duplicates = policy}); });
    EXPECT_NE(text.find("\"a\" and \"b\" are joined by a positive and by a negative edge"), std::string::npos)
        << text;
  }
  EXPECT_NE(error_of([&] {
              read(directory.file("both.tsv"), {.duplicates = Duplicates::error});
            }).find("more than one edge"),
            std::string::npos);
}

TEST(SignedGraph, merging_agrees_with_a_map_however_listings_are_ordered) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Edge> edges;
    Map wanted;
    for (int i = 0; i < 200; ++i) {
      const auto u = static_cast<NodeId>(random() % 12), v = static_cast<NodeId>(random() % 12);
      const auto weight = static_cast<Weight>(static_cast<int>(random() % 7) - 3);  // sums are exact
      edges.push_back({u, v, weight});
      if (u != v) wanted[std::minmax(u, v)] += weight;
    }
    std::erase_if(wanted, [](const auto& entry) { return entry.second == 0; });
    EXPECT_EQ(edges_of(graph_from_signed_edges(12, edges)), wanted);
    std::shuffle(edges.begin(), edges.end(), random);
    EXPECT_EQ(edges_of(graph_from_signed_edges(12, edges)), wanted);
  }
}

TEST(SignedGraph, every_format_reads_negative_weights_only_when_told) {
  const TemporaryDirectory directory;
  put(directory.file("g.tsv"), "1\t2\t-0.5\n2\t3\t2\n");
  put(directory.file("g.mtx"), "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -0.5\n3 2 2\n");
  put(directory.file("g.graph"), "3 2 001\n2 -0.5\n1 -0.5 3 2\n2 2\n");
  for (const char* name : {"g.tsv", "g.mtx", "g.graph"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(edges_of(read(directory.file(name)).graph), (Map{{{0, 1}, -0.5}, {{1, 2}, 2}}));
    const std::string text = error_of([&] { read_graph(directory.file(name), {}, {}); });
    EXPECT_NE(text.find("weight \"-0.5\" is not a positive number"), std::string::npos) << text;
    EXPECT_NE(text.find("--signed"), std::string::npos) << text;
  }
  // The matrix of tests/data that is bad without signs: not symmetric, so that its entries 3 and -3 are two
  // listings of one pair.
  const std::string npz = std::string(COPSE_TEST_DATA) + "/broken/negative_weight.npz";
  BuildReport report;
  EXPECT_EQ(edges_of(read(npz, {}, &report).graph), (Map{{{0, 1}, 2}, {{0, 2}, 4}}));
  EXPECT_EQ(report.num_cancelled, 1u);
  EXPECT_NE(error_of([&] { read_graph(npz, {}, {}); }).find("--signed"), std::string::npos);
}

TEST(SignedGraph, a_metis_file_with_two_signs_for_an_edge_is_refused) {
  const TemporaryDirectory directory;
  put(directory.file("g.graph"), "2 1 001\n2 -1\n1 1\n");
  EXPECT_NE(error_of([&] { read(directory.file("g.graph")); }).find("with the same weight"),
            std::string::npos);
}

TEST(SignedGraph, weights_that_are_no_numbers_are_refused_with_signs_too) {
  const TemporaryDirectory directory;
  for (const char* bad : {"nan", "-nan", "inf", "-inf", "--1", "-+1", "-", "-x", "1e99", "-1e99", "-1e-99"}) {
    SCOPED_TRACE(bad);
    for (const char* line : {"1\t2\t", "a\tb\t"}) {  // both ways of parsing
      put(directory.file("g.tsv"), line + std::string("1\n") + line + bad + "\n");
      const std::string text = error_of([&] { read(directory.file("g.tsv")); });
      EXPECT_NE(text.find("g.tsv:2: weight"), std::string::npos) << text;
    }
  }
  EXPECT_NE(error_of([] { graph_from_signed_edges(2, {{0, 1, std::nanf("")}}); }), "no error");
  EXPECT_NE(error_of([] { graph_from_edges(2, {{0, 1, -1}}); }), "no error");
}

TEST(SignedGraph, sums_beyond_a_float_are_refused_on_either_side) {
  for (const Weight sign : {Weight{1}, Weight{-1}}) {
    const Weight huge = sign * 3e38F;
    EXPECT_NE(error_of([&] {
                graph_from_signed_edges(2, {{0, 1, huge}, {1, 0, huge}, {0, 1, huge}});
              }).find("too large"),
              std::string::npos);
  }
  EXPECT_EQ(graph_from_signed_edges(2, {{0, 1, 3e38F}, {0, 1, -3e38F}}).view().num_arcs(), 0u);
}

TEST(SignedGraph, is_the_same_however_many_threads_build_it_and_both_ways_are_one_way) {
  const auto edges = random_signed_edges(500, 3000, 7, true);
  const auto build = [&](bool both_ways, int threads) {
    std::vector<EdgeChunk> chunks(3);
    std::size_t next = 0;
    const auto add = [&](NodeId u, NodeId v, Weight weight) {
      EdgeChunk& chunk = chunks[next++ % 3];
      chunk.u.push_back(u);
      chunk.v.push_back(v);
      chunk.weight.push_back(weight);
    };
    for (const Edge& edge : edges) add(edge.u, edge.v, edge.weight);
    if (both_ways)
      for (const Edge& edge : edges) add(edge.v, edge.u, edge.weight);
    return build_graph(std::move(chunks), 500, {.is_signed = true}, {.threads = threads}, "test");
  };
  const Map wanted = edges_of(build(false, 1));
  for (const bool both_ways : {false, true})
    for (const int threads : {1, 4}) EXPECT_EQ(edges_of(build(both_ways, threads)), wanted);
}

TEST(SignedGraph, check_graph_sees_signs_that_differ_or_do_not_fit) {
  const Graph graph = graph_from_signed_edges(3, {{0, 1, -1}, {1, 2, 1}});
  GraphView view = graph;
  std::vector<std::uint64_t> bits(view.negative.begin(), view.negative.end());
  view.negative = bits;
  EXPECT_NO_THROW(check_graph(view, "test"));
  bits[0] ^= 1;  // the arc 0 -> 1 alone
  EXPECT_NE(error_of([&] { check_graph(view, "test"); }).find("another sign"), std::string::npos);
  bits[0] ^= 1;
  bits[0] |= std::uint64_t{1} << 40;
  EXPECT_NE(error_of([&] { check_graph(view, "test"); }).find("behind the last arc"), std::string::npos);
  bits.push_back(0);
  view.negative = bits;
  EXPECT_NE(error_of([&] { check_graph(view, "test"); }).find("words"), std::string::npos);
}

TEST(SignedGraph, comes_back_from_every_format_it_is_written_in) {
  const TemporaryDirectory directory;
  for (const bool weighted : {false, true}) {
    NamedGraph graph{graph_from_signed_edges(60, random_signed_edges(60, 150, 3, weighted)),
                     NodeNames::numbered(60, 1)};
    for (const char* name : {"g.tsv", "g.tsv.gz", "g.mtx", "g.copse"}) {
      SCOPED_TRACE(name);
      write_graph(directory.file(name), graph, {.threads = 2});
      const NamedGraph back = read(directory.file(name));
      EXPECT_EQ(edges_of(back.graph), edges_of(graph.graph));
      EXPECT_EQ(back.graph.view().is_weighted(), weighted);
    }
  }
}

TEST(SignedGraph, a_copse_file_says_itself_that_it_has_signs) {
  const TemporaryDirectory directory;
  const NamedGraph graph{graph_from_signed_edges(3, {{0, 1, -2}, {1, 2, 1}}), NodeNames::numbered(3, 0)};
  write_graph(directory.file("g.copse"), graph, {});
  EXPECT_EQ(edges_of(read_graph(directory.file("g.copse"), {}, {}).graph), edges_of(graph.graph));
  EXPECT_EQ(contents(directory.file("g.copse"))[8], 2);  // its version
  const NamedGraph plain{graph_from_edges(3, {{0, 1, 2}}), NodeNames::numbered(3, 0)};
  write_graph(directory.file("p.copse"), plain, {});
  EXPECT_EQ(contents(directory.file("p.copse"))[8], 1);  // what older programs read
}

TEST(SignedGraph, every_byte_of_a_copse_file_with_signs_counts) {
  const TemporaryDirectory directory;
  const NamedGraph graph{graph_from_signed_edges(4, {{0, 1, -2}, {1, 2, 1}, {2, 3, -1}}),
                         NodeNames::numbered(4, 0)};
  write_graph(directory.file("g.copse"), graph, {});
  const std::string bytes = contents(directory.file("g.copse"));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    ByteSource source = ByteSource::from_memory("g.copse", flipped);
    EXPECT_THROW(open_copse(source, {}), InputError) << i;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    ByteSource source = ByteSource::from_memory("g.copse", cut);
    EXPECT_THROW(open_copse(source, {}), InputError) << length;
  }
}

TEST(SignedGraph, a_component_keeps_its_signs) {
  const Graph graph = graph_from_signed_edges(6, {{0, 2, -1}, {2, 4, 3}, {4, 0, -2}, {1, 3, 1}, {3, 5, -1}});
  const Components components = connected_components(graph);
  EXPECT_EQ(edges_of(component_subgraph(graph, components, 0).graph),
            (Map{{{0, 1}, -1}, {{1, 2}, 3}, {{0, 2}, -2}}));
  EXPECT_EQ(edges_of(component_subgraph(graph, components, 1).graph), (Map{{{0, 1}, 1}, {{1, 2}, -1}}));
}

/// Whether two sides exist, by trying all of them.
bool is_balanced_by_trying(const GraphView& graph) {
  const NodeId n = graph.num_nodes();
  for (std::uint32_t sides = 0; sides < 1U << n; ++sides) {
    bool fits = true;
    for (NodeId u = 0; u < n; ++u)
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        fits &= ((sides >> u ^ sides >> graph.neighbors[arc]) & 1) == (graph.is_negative(arc) ? 1U : 0U);
    if (fits) return true;
  }
  return false;
}

TEST(Balance, agrees_with_trying_all_sides) {
  int num_balanced = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = graph_from_signed_edges(6, random_signed_edges(6, 7, seed, false));
    const Components components = connected_components(graph);
    const SignBalance balance = sign_balance(graph, components);
    const bool wanted = is_balanced_by_trying(graph);
    EXPECT_EQ(balance.is_all_balanced(), wanted);
    EXPECT_EQ(balance.is_balanced[0] != 0, wanted);
    num_balanced += wanted;
  }
  EXPECT_GT(num_balanced, 20);
  EXPECT_LT(num_balanced, 180);
}

TEST(Balance, tells_components_apart_and_counts_edges_against_the_sides) {
  // A triangle of one negative edge, and one of two.
  const Graph graph =
      graph_from_signed_edges(7, {{0, 1, 1}, {1, 2, 1}, {0, 2, -1}, {3, 4, -1}, {4, 5, -1}, {3, 5, 1}});
  const SignBalance balance = sign_balance(graph, connected_components(graph));
  EXPECT_EQ(balance.is_balanced, (std::vector<char>{0, 1, 1}));
  EXPECT_EQ(balance.num_frustrated, 1u);
  EXPECT_EQ((std::vector<char>(balance.side.begin() + 3, balance.side.end())),
            (std::vector<char>{0, 1, 0, 0}));
  const GraphStatistics facts = graph_statistics(graph);
  EXPECT_TRUE(facts.is_signed);
  EXPECT_EQ(facts.num_negative, 3u);
  EXPECT_EQ(facts.num_balanced_components, 2u);
  EXPECT_EQ(facts.num_frustrated, 1u);
}

TEST(Balance, a_negative_edge_is_cut_where_its_ends_agree) {
  const Graph graph = graph_from_signed_edges(4, {{0, 1, -2}, {1, 2, -3}, {2, 3, 5}});
  const std::vector<Label> labels{0, 1, 1, 0};
  const LabelStatistics facts = label_statistics(graph, labels);
  EXPECT_EQ(facts.cut_size, 2u);
  EXPECT_EQ(facts.cut_weight, 8);
}

TEST(DoubleCover, has_the_edges_of_its_definition) {
  for (const bool weighted : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(seed);
      const NodeId n = 15;
      const std::vector<Edge> edges = random_signed_edges(n, 30, seed, weighted);
      Map wanted;
      for (const Edge& edge : edges) {
        const auto [u, v] = std::minmax(edge.u, edge.v);
        const double weight = std::fabs(edge.weight);
        if (edge.weight > 0) {
          wanted[{u, v}] = wanted[{u + n, v + n}] = weight;
        } else {
          wanted[{u, v + n}] = wanted[{v, u + n}] = weight;
        }
      }
      for (const int threads : {1, 3}) {
        const Graph cover = double_cover(graph_from_signed_edges(n, edges), threads);
        EXPECT_EQ(edges_of(cover), wanted);
        EXPECT_FALSE(cover.view().is_signed());
      }
    }
}

TEST(DoubleCover, of_a_balanced_component_is_two_copies_and_else_one) {
  const Graph graph =
      graph_from_signed_edges(7, {{0, 1, 1}, {1, 2, 1}, {0, 2, -1}, {3, 4, -1}, {4, 5, -1}, {3, 5, 1}});
  EXPECT_EQ(connected_components(double_cover(graph)).count(), 1u + 2u + 2u);
  EXPECT_EQ(double_cover(GraphView{}).num_nodes(), 0u);
}

TEST(SignedBlocks, signs_follow_the_classes_but_for_the_noise) {
  for (const double noise : {0.0, 0.2}) {
    const GeneratedGraph made =
        generate_graph("signed_blocks", {{"nodes", 2000}, {"degree", 10}, {"noise", noise}}, {.seed = 4});
    const LabelStatistics facts = label_statistics(made.graph, made.labels.of_node);
    EXPECT_EQ(made.graph.view().num_edges(), 10'000u);
    EXPECT_NEAR(static_cast<double>(facts.cut_size) / 10'000, noise, noise == 0 ? 0 : 0.02);
    EXPECT_EQ(facts.class_counts, (std::vector<std::uint64_t>{1000, 1000}));
    const GeneratedGraph again = generate_graph(
        "signed_blocks", {{"nodes", 2000}, {"degree", 10}, {"noise", noise}}, {.seed = 4, .threads = 4});
    EXPECT_EQ(edges_of(made.graph), edges_of(again.graph));
  }
  const GeneratedGraph balanced = generate_graph("signed_blocks", {{"nodes", 300}, {"noise", 0}}, {});
  EXPECT_TRUE(sign_balance(balanced.graph, connected_components(balanced.graph)).is_all_balanced());
}

}  // namespace
}  // namespace copse
