// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "copse/support/error.hpp"

namespace copse {
namespace {

class ReadGraph : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "copse_read_XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& name, const std::string& bytes) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string directory_;
};

std::map<std::pair<std::string, std::string>, double> arcs(const NamedGraph& named) {
  std::map<std::pair<std::string, std::string>, double> all;
  const GraphView& graph = named.graph;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex i = graph.offsets[u]; i < graph.offsets[u + 1]; ++i)
      all[{named.names.name(u), named.names.name(graph.neighbors[i])}] = graph.weight(i);
  return all;
}

TEST_F(ReadGraph, knows_the_format_by_its_first_bytes_then_by_the_extension) {
  ReadReport report;
  const NamedGraph list = read_graph(file("g.txt", "1 2\n2 3\n"), {}, {}, &report);
  EXPECT_EQ(report.format, GraphFormat::edge_list);
  EXPECT_EQ(report.num_bytes, 8u);
  const std::string market = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
  EXPECT_EQ(arcs(read_graph(file("market.txt", market), {}, {}, &report)).size(), 4u);
  EXPECT_EQ(report.format, GraphFormat::matrix_market);
  const std::string metis = "3 2\n2\n1 3\n2\n";
  EXPECT_EQ(arcs(read_graph(file("m.graph", metis), {}, {}, &report)), arcs(list));
  EXPECT_EQ(report.format, GraphFormat::metis);
  EXPECT_EQ(arcs(read_graph(file("m.metis", metis), {}, {}, &report)), arcs(list));
  const std::string binary = directory_ + "/g.copse";
  write_graph(binary, list, {});
  std::filesystem::rename(binary, directory_ + "/renamed.txt");
  EXPECT_EQ(arcs(read_graph(directory_ + "/renamed.txt", {}, {}, &report)), arcs(list));
  EXPECT_EQ(report.format, GraphFormat::copse);
  EXPECT_EQ(arcs(read_graph(file("m.txt", metis), {.format = GraphFormat::metis}, {})), arcs(list));
}

TEST_F(ReadGraph, reads_a_compressed_list_like_the_plain_one) {
  const std::string plain = file("g.tsv", "a\tb\t2\nb\tc\t3\n");
  const auto expected = arcs(read_graph(plain, {}, {}));
  for (const std::string tool : {"gzip", "zstd -q", "xz", "bzip2"}) {
    ASSERT_EQ(std::system((tool + " -c < " + plain + " > " + plain + ".packed").c_str()), 0) << tool;
    EXPECT_EQ(arcs(read_graph(plain + ".packed", {}, {})), expected) << tool;
  }
}

TEST_F(ReadGraph, pairs_without_weights_count_once_unless_told_to_be_added) {
  const std::string list = file("pairs", "a b\nb c\na b\na b\n"),
                    weighted = file("w", "a b 1\nb c 1\na b 1\n");
  ReadReport report;
  EXPECT_FALSE(read_graph(list, {}, {}, &report).graph.view().is_weighted());
  EXPECT_EQ(report.build.num_merged, 2u);
  EXPECT_EQ(arcs(read_graph(list, {.duplicates = Duplicates::sum}, {})).at({"a", "b"}), 3);
  EXPECT_EQ(arcs(read_graph(weighted, {}, {})).at({"a", "b"}), 2);
}

TEST_F(ReadGraph, reports_what_building_merged_and_dropped) {
  ReadReport report;
  const NamedGraph merged = read_graph(file("g", "a b 1\nb a 2\nc c 1\na c 0\n"), {}, {}, &report);
  EXPECT_EQ(report.build.num_listed, 4u);
  EXPECT_EQ(report.build.num_merged, 1u);
  EXPECT_EQ(report.build.num_self_loops, 1u);
  EXPECT_EQ(report.build.num_zero_weights, 1u);
  EXPECT_FALSE(report.build.listed_both_ways);
  EXPECT_EQ(merged.graph.num_nodes(), 3u);
  EXPECT_EQ(arcs(merged).at({"a", "b"}), 3);
  EXPECT_EQ(arcs(read_graph(file("h", "a b 1\nb a 2\n"), {.duplicates = Duplicates::max}, {})).at({"b", "a"}),
            2);
  const NamedGraph both = read_graph(file("both", "a b\nb a\nb c\nc b\n"), {}, {}, &report);
  EXPECT_TRUE(report.build.listed_both_ways);
  EXPECT_FALSE(both.graph.view().is_weighted());
}

TEST_F(ReadGraph, a_pair_that_may_not_repeat_is_named_by_the_ids_of_the_file) {
  try {
    read_graph(file("g", "anna bert\nbert carl\ncarl bert\n"), {.duplicates = Duplicates::error}, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(error.problem().find("\"bert\" and \"carl\""), std::string::npos) << error.what();
  }
}

TEST_F(ReadGraph, says_what_is_wrong_with_a_file_that_holds_no_graph) {
  const auto problem = [&](const std::string& path, const ReadOptions& options = {}) -> std::string {
    try {
      read_graph(path, options, {});
    } catch (const InputError& error) {
      EXPECT_EQ(error.where().substr(0, path.size()), path);
      EXPECT_FALSE(error.remedy().empty());
      return error.problem();
    }
    return "none";
  };
  EXPECT_NE(problem(directory_ + "/missing").find("no such file"), std::string::npos);
  EXPECT_NE(problem(directory_).find("directory"), std::string::npos);
  EXPECT_NE(problem(file("empty", "")).find("no edge"), std::string::npos);
  EXPECT_NE(problem(file("comments", "# a\n%b\n")).find("no edge"), std::string::npos);
  EXPECT_NE(problem(file("noise", std::string("\x7f"
                                              "ELF\2\1\1\0\0\0",
                                              10)))
                .find("not text"),
            std::string::npos);
  EXPECT_NE(problem(file("text.copse", "1 2\n")), "none");
  EXPECT_NE(problem(file("text.npz", "1 2\n")), "none");
}

TEST_F(ReadGraph, a_file_of_nodes_goes_with_edge_lists_only) {
  const std::string nodes = file("nodes", "z\na\n");
  EXPECT_EQ(read_graph(file("g", "a b\n"), {.nodes_path = nodes}, {}).graph.num_nodes(), 3u);
  EXPECT_THROW(read_graph(file("g.graph", "2 1\n2\n1\n"), {.nodes_path = nodes}, {}), UsageError);
}

TEST_F(ReadGraph, real_graphs_have_the_sizes_their_index_says) {
  const std::string karate = std::string(COPSE_SHARED_DATA) + "/karate";
  if (!std::filesystem::exists(karate)) GTEST_SKIP() << "no shared data at " << COPSE_SHARED_DATA;
  for (const auto& entry : std::filesystem::directory_iterator(karate))
    if (entry.path().filename().string().find("edges") == 0) {
      const NamedGraph graph = read_graph(entry.path().string(), {}, {.threads = 2});
      EXPECT_EQ(graph.graph.num_nodes(), 34u);
      EXPECT_EQ(graph.graph.view().num_edges(), 78u);
    }
}

}  // namespace
}  // namespace copse
