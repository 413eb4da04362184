// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "copse/graph/build.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"

namespace copse {
namespace {

using oracle::EdgeMap;
using oracle::edges_of;

ParsedEdges parse_metis(const std::string& text, int threads = 1) {
  ByteSource source = ByteSource::from_memory("m.graph", text);
  Execution execution;
  execution.threads = threads;
  return read_metis(source, {}, execution);
}

EdgeMap metis_edges(const std::string& text, int threads = 1) {
  ParsedEdges parsed = parse_metis(text, threads);
  return edges_of(build_graph(parsed, {}, {}, "m.graph"));
}

// The graph of figure 2 in the METIS manual, 7 nodes and 11 edges, without and with weights.
const EdgeMap kManual = {{{0, 4}, 1}, {{0, 2}, 1}, {{0, 1}, 1}, {{1, 2}, 1}, {{1, 3}, 1}, {{2, 3}, 1},
                         {{2, 4}, 1}, {{3, 5}, 1}, {{3, 6}, 1}, {{4, 5}, 1}, {{5, 6}, 1}};

TEST(Metis, reads_the_graph_of_the_manual) {
  const std::string text = "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n";
  EXPECT_EQ(metis_edges(text), kManual);
  EXPECT_EQ(parse_metis(text).names.name(0), "1");
  EXPECT_EQ(parse_metis(text).num_bytes, text.size());
  ParsedEdges parsed = parse_metis(text);
  EXPECT_FALSE(build_graph(parsed, {}, {}, "m.graph").view().is_weighted());
}

TEST(Metis, reads_edge_weights_and_skips_sizes_and_weights_of_nodes) {
  const EdgeMap edges = {{{0, 1}, 5}, {{1, 2}, 0.5}};
  EXPECT_EQ(metis_edges("3 2 1\n2 5\n1 5 3 0.5\n2 0.5\n"), edges);
  EXPECT_EQ(metis_edges("3 2 001\n2 5\n1 5 3 0.5\n2 0.5\n"), edges);
  EXPECT_EQ(metis_edges("3 2 011\n8 2 5\n7 1 5 3 0.5\n9 2 0.5\n"), edges);
  EXPECT_EQ(metis_edges("3 2 011 2\n8 8 2 5\n7 7 1 5 3 0.5\n9 9 2 0.5\n"), edges);
  EXPECT_EQ(metis_edges("3 2 111 2\n1 8 8 2 5\n1 7 7 1 5 3 0.5\n1 9 9 2 0.5\n"), edges);
  EXPECT_EQ(metis_edges("3 2 10\n8 2\n7 1 3\n9 2\n"), (EdgeMap{{{0, 1}, 1}, {{1, 2}, 1}}));
}

TEST(Metis, an_empty_line_is_a_node_without_neighbours_and_a_comment_is_no_line) {
  const std::string text = "% made by hand\n5 2\n% first\n3\n\n1 5\n\n% last\n3\n\n\n";
  EXPECT_EQ(metis_edges(text), (EdgeMap{{{0, 2}, 1}, {{2, 4}, 1}}));
  EXPECT_EQ(parse_metis(text).num_nodes, 5u);
  EXPECT_EQ(parse_metis("3 0\n\n\n\n").num_nodes, 3u);
  EXPECT_EQ(parse_metis("0 0\n").num_nodes, 0u);
}

TEST(Metis, lines_may_end_as_on_windows) {
  EXPECT_EQ(metis_edges("2 1\r\n2\r\n1\r\n"), (EdgeMap{{{0, 1}, 1}}));
}

TEST(Metis, loops_are_left_to_building_whether_the_header_counts_them_or_not) {
  EXPECT_EQ(metis_edges("2 1\n1 2\n1\n"), (EdgeMap{{{0, 1}, 1}}));
  EXPECT_EQ(metis_edges("2 2\n1 2\n1\n"), (EdgeMap{{{0, 1}, 1}}));
}

// Written from a map of edges, so that what is read can be compared with where it came from.
std::string write(const EdgeMap& edges, std::uint64_t n, bool is_weighted, std::mt19937_64& random) {
  std::vector<std::string> rows(n);
  for (const auto& [ends, weight] : edges) {
    const auto [u, v] = ends;
    const std::string w = is_weighted ? std::to_string(static_cast<int>(weight)).insert(0, 1, ' ') : "";
    rows[u] += std::to_string(v + 1) + w + "  ";
    rows[v] += std::to_string(u + 1) + w + " ";
  }
  std::string text =
      std::to_string(n) + " " + std::to_string(edges.size()) + (is_weighted ? " 1" : "") + "\n";
  for (const std::string& row : rows) {
    if (random() % 16 == 0) text += "% comment\n";
    text += row + "\n";
  }
  return text;
}

EdgeMap random_edges(std::uint64_t n, std::uint64_t m, bool is_weighted, std::mt19937_64& random) {
  EdgeMap edges;
  for (std::uint64_t i = 0; i < m; ++i) {
    const std::uint64_t u = random() % n, v = random() % n;
    if (u != v)
      edges[{std::min(u, v), std::max(u, v)}] = is_weighted ? static_cast<double>(1 + random() % 1000) : 1;
  }
  return edges;
}

TEST(Metis, reads_back_what_a_naive_writer_wrote) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool is_weighted = seed % 2 == 0;
    const std::uint64_t n = 1 + random() % 30;
    const EdgeMap edges = random_edges(n, random() % 100, is_weighted, random);
    EXPECT_EQ(metis_edges(write(edges, n, is_weighted, random)), edges);
  }
}

TEST(Metis, large_files_give_the_same_on_any_number_of_threads) {
  std::mt19937_64 random(1);
  const EdgeMap edges = random_edges(60000, 100000, true, random);
  const std::string text = write(edges, 60000, true, random);
  ASSERT_GT(text.size(), std::size_t{1} << 20) << "several pieces";
  EXPECT_EQ(metis_edges(text, 1), edges);
  EXPECT_EQ(metis_edges(text, 4), edges);
}

TEST(Metis, an_edge_in_one_row_only_is_named_in_a_large_file) {
  std::mt19937_64 random(2);
  const EdgeMap edges = random_edges(60000, 100000, false, random);
  std::string text = write(edges, 60000, false, random);
  // The last row gets one neighbour more; it is a node that does not list it back.
  std::uint64_t stranger = 0;
  while (edges.count({stranger, 59999})) ++stranger;
  text.insert(text.size() - 1, std::to_string(stranger + 1).insert(0, 1, ' '));
  try {
    parse_metis(text, 2);
    FAIL() << "no error";
  } catch (const InputError& error) {
    const std::string number = std::to_string(stranger + 1);
    EXPECT_EQ(error.problem(),
              "node 60000 lists " + number + ", but node " + number + " does not list 60000");
  }
}

}  // namespace
}  // namespace copse
