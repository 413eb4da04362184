// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <sstream>

#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"

namespace copse {
namespace {

using oracle::EdgeMap;
using oracle::edges_of;

ParsedEdges parse_matrix_market(const std::string& text, int threads = 1) {
  ByteSource source = ByteSource::from_memory("m.mtx", text);
  Execution execution;
  execution.threads = threads;
  return read_matrix_market(source, {}, execution);
}

EdgeMap matrix_market_edges(const std::string& text, int threads = 1) {
  ParsedEdges parsed = parse_matrix_market(text, threads);
  return edges_of(build_graph(parsed, {}, {}, "m.mtx"));
}

// The slow twin: one entry at a time through a stream, summed in a map.
EdgeMap slowly(const std::string& text) {
  std::istringstream in(text);
  std::string line, banner;
  std::getline(in, banner);
  const bool is_pattern = banner.find("pattern") != std::string::npos;
  EdgeMap edges;
  bool has_size = false;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::uint64_t u = 0, v = 0;
    double w = 1;
    if (line.find('%') == 0 || !(words >> u >> v)) continue;
    if (!is_pattern || !has_size) words >> w;
    if (has_size && u != v && w != 0) edges[{std::min(u, v) - 1, std::max(u, v) - 1}] += w;
    has_size = true;
  }
  return edges;
}

TEST(MatrixMarket, reads_the_example_of_a_symmetric_matrix) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n\n4 4 4\n2 1 0.5\n3 1 2e0\n3 3 9\n3 2 "
      "+3\n";
  EXPECT_EQ(matrix_market_edges(text), (EdgeMap{{{0, 1}, 0.5}, {{0, 2}, 2}, {{1, 2}, 3}}));
  const ParsedEdges parsed = parse_matrix_market(text);
  EXPECT_EQ(parsed.num_nodes, 4u);
  EXPECT_EQ(parsed.num_bytes, text.size());
  EXPECT_EQ(parsed.names.name(3), "4") << "rows count from 1, also those without entries";
}

TEST(MatrixMarket, words_of_the_banner_may_be_in_any_case_and_lines_may_end_as_on_windows) {
  EXPECT_EQ(matrix_market_edges("%%matrixmarket MATRIX Coordinate Integer General\r\n2 2 1\r\n1 2 7\r\n"),
            (EdgeMap{{{0, 1}, 7}}));
}

TEST(MatrixMarket, a_pattern_has_no_weights) {
  ParsedEdges parsed =
      parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1");
  const Graph graph = build_graph(parsed, {}, {}, "m.mtx");
  EXPECT_FALSE(graph.view().is_weighted());
  EXPECT_EQ(edges_of(graph), (EdgeMap{{{0, 1}, 1}, {{0, 2}, 1}}));
}

TEST(MatrixMarket, a_general_matrix_with_both_triangles_is_the_graph_it_shows) {
  EXPECT_EQ(matrix_market_edges(
                "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 2 5\n2 1 5\n3 1 2\n1 3 2\n"),
            (EdgeMap{{{0, 1}, 5}, {{0, 2}, 2}}));
}

TEST(MatrixMarket, an_empty_matrix_is_a_graph_without_edges) {
  EXPECT_EQ(matrix_market_edges("%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n"), EdgeMap{});
  EXPECT_EQ(parse_matrix_market("%%MatrixMarket matrix coordinate real symmetric\n0 0 0").num_nodes, 0u);
}

TEST(MatrixMarket, agrees_with_the_slow_twin_on_random_files) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool is_pattern = random() % 3 == 0;
    const std::uint64_t n = 1 + random() % 40, m = random() % 200;
    std::ostringstream text;
    text << "%%MatrixMarket matrix coordinate " << (is_pattern ? "pattern" : "real") << " general\n";
    text << n << ' ' << n << ' ' << m << '\n';
    for (std::uint64_t i = 0; i < m; ++i) {
      if (random() % 10 == 0) text << "% comment\n";
      if (random() % 10 == 0) text << "  \n";
      // One triangle and weights in quarters: sums are exact in any order.
      const std::uint64_t u = 1 + random() % n, v = 1 + random() % u;
      text << (random() % 2 ? " " : "") << u << '\t' << v;
      if (!is_pattern) text << ' ' << static_cast<double>(random() % 50) / 4;
      text << (i + 1 < m || random() % 2 ? "\n" : "");
    }
    EXPECT_EQ(matrix_market_edges(text.str()), slowly(text.str()));
  }
}

// Large enough for several pieces of a megabyte.
std::string large_file(std::uint64_t entries) {
  std::string text =
      "%%MatrixMarket matrix coordinate real general\n% c\n100000 100000 " + std::to_string(entries) + "\n";
  for (std::uint64_t i = 0; i < entries; ++i) {
    text += std::to_string(i * 7919 % 99999 + 2) + " 1 " + std::to_string(i % 97 + 1) + "\n";
  }
  return text;
}

TEST(MatrixMarket, large_files_give_the_same_on_any_number_of_threads) {
  const std::string text = large_file(120000);
  ASSERT_GT(text.size(), std::size_t{1} << 20) << "several pieces";
  const EdgeMap one = matrix_market_edges(text, 1);
  EXPECT_EQ(one, slowly(text));
  EXPECT_EQ(one, matrix_market_edges(text, 4));
}

TEST(MatrixMarket, errors_far_into_a_large_file_name_the_right_line) {
  std::string text = large_file(120000);
  for (const auto& [line, replacement] : std::map<int, std::string>{{100000, "5 x 1"}, {119000, "5 4 -1"}}) {
    std::string broken = text;
    std::size_t position = 0;
    for (int i = 1; i < line; ++i) position = broken.find('\n', position) + 1;
    broken.replace(position, broken.find('\n', position) - position, replacement);
    for (const int threads : {1, 4}) {
      try {
        parse_matrix_market(broken, threads);
        FAIL() << "no error";
      } catch (const InputError& error) {
        EXPECT_EQ(error.where(), "m.mtx:" + std::to_string(line));
      }
    }
  }
  // One entry more than the size line allows, behind comments: the line of that entry.
  try {
    parse_matrix_market(text + "% c\n\n2 1 1\n");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), "m.mtx:120006");
  }
}

}  // namespace
}  // namespace copse
