// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cstdlib>
#include <iterator>
#include <set>

#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "graph/edges_of.hpp"
#include "oracle/graphs.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

using oracle::contents;
using oracle::EdgeMap;
using oracle::edges_of;
using oracle::TemporaryDirectory;

Execution on(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

NamedGraph from_text(const std::string& text) {
  const TemporaryDirectory directory;
  oracle::put(directory.file("g.tsv"), text);
  return read_graph(directory.file("g.tsv"), {}, {});
}

std::string written(const NamedGraph& graph, const std::string& name, int threads = 1) {
  const TemporaryDirectory directory;
  write_graph(directory.file(name), graph, on(threads));
  EXPECT_EQ(directory.listing(), std::vector<std::string>{name});
  return contents(directory.file(name));
}

// Edges by name: what must be the same after writing and reading, whatever numbers the nodes get.
std::map<std::pair<std::string, std::string>, double> named_edges(const NamedGraph& graph) {
  std::map<std::pair<std::string, std::string>, double> edges;
  for (const auto& [ends, weight] : edges_of(graph.graph)) {
    const std::string u = graph.names.name(static_cast<NodeId>(ends.first)),
                      v = graph.names.name(static_cast<NodeId>(ends.second));
    edges[{std::min(u, v), std::max(u, v)}] = weight;
  }
  return edges;
}

TEST(WriteGraph, an_edge_list_has_each_edge_once_with_the_shortest_weight_that_reads_back) {
  const NamedGraph graph{graph_from_edges(4, {{2, 0, 0.1f}, {0, 1, 3}, {1, 2, 1e-20f}, {2, 3, 16777216}}),
                         NodeNames::numbered(4, 10)};
  EXPECT_EQ(written(graph, "g.tsv"), "10\t11\t3\n10\t12\t0.1\n11\t12\t1e-20\n12\t13\t16777216\n");
  const NamedGraph plain{graph_from_pairs(3, {{2, 0}, {0, 1}}), NodeNames::numbered(3)};
  EXPECT_EQ(written(plain, "g.edges"), "0\t1\n0\t2\n");
}

TEST(WriteGraph, a_matrix_has_the_lower_triangle_and_all_nodes) {
  const NamedGraph graph{graph_from_edges(4, {{2, 0, 0.5}, {0, 1, 3}}), NodeNames::numbered(4, 1)};
  EXPECT_EQ(written(graph, "g.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n4 4 2\n2 1 3\n3 1 0.5\n");
  const NamedGraph plain{graph_from_pairs(2, {{0, 1}}), NodeNames::numbered(2, 0)};
  EXPECT_EQ(written(plain, "g.mtx"),
            "%%MatrixMarket matrix coordinate pattern symmetric\n% row 1 is node 0, and so on\n2 2 1\n2 1\n");
}

TEST(WriteGraph, every_format_reads_back_as_the_same_graph) {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    SCOPED_TRACE(seed);
    const NamedGraph graph{oracle::random_connected_graph(
                               {.num_nodes = 200, .num_edges = 900, .seed = seed, .weighted = seed % 2 == 0}),
                           NodeNames::numbered(200, 1)};
    for (const char* name :
         {"g.tsv", "g.mtx", "g.copse", "g.tsv.gz", "g.tsv.zst", "g.mtx.xz", "g.tsv.bz2", "g.copse.gz"}) {
      SCOPED_TRACE(name);
      write_graph(directory.file(name), graph, {});
      const NamedGraph back = read_graph(directory.file(name), {}, {});
      EXPECT_EQ(named_edges(back), named_edges(graph));
      EXPECT_EQ(back.graph.view().is_weighted(), graph.graph.view().is_weighted());
    }
  }
}

TEST(WriteGraph, the_bytes_are_the_same_on_any_number_of_threads) {
  const NamedGraph graph{
      oracle::random_connected_graph({.num_nodes = 5000, .num_edges = 70000, .seed = 1, .weighted = true}),
      NodeNames::numbered(5000, 1)};
  for (const char* name : {"g.tsv", "g.mtx", "g.copse", "g.tsv.gz"}) {
    EXPECT_TRUE(written(graph, name, 1) == written(graph, name, 2)) << name;
  }
}

TEST(WriteGraph, names_are_kept_also_those_that_look_like_comments) {
  const NamedGraph graph = from_text("a b\t#c\t1\nlast\t#c\t2\nlast\tx,y\t3\n");
  const TemporaryDirectory directory;
  for (const char* name : {"g.tsv", "g.copse"}) {
    write_graph(directory.file(name), graph, {});
    EXPECT_EQ(named_edges(read_graph(directory.file(name), {}, {})), named_edges(graph)) << name;
  }
}

std::string error_of(const std::string& path, const NamedGraph& graph) {
  try {
    write_graph(path, graph, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Ids out of pieces that mean something to one reader or another.
std::string nasty_name(Stream& stream) {
  static const std::string kPieces[] = {"a",
                                        "b",
                                        "1",
                                        "007",
                                        " ",
                                        "#",
                                        "%",
                                        "\"",
                                        "'",
                                        ",",
                                        ";",
                                        "u",
                                        "v",
                                        "\\",
                                        "node",
                                        "from",
                                        "to",
                                        "source",
                                        "target",
                                        "é",
                                        "\xff",
                                        "",
                                        "\xEF\xBB\xBF",
                                        "\x1f\x8b",
                                        "PK\x03\x04",
                                        "nan",
                                        "-0",
                                        "1e5",
                                        ":",
                                        "BZh91AY&SY",
                                        "%%MatrixMarket",
                                        "\t",
                                        "\n",
                                        "\r",
                                        std::string(1, '\0')};
  std::string name;
  for (std::uint64_t k = 1 + stream.below(2); k > 0; --k) name += kPieces[stream.below(std::size(kPieces))];
  return name;
}

TEST(WriteGraph, any_ids_are_refused_or_read_back_in_every_format) {
  const TemporaryDirectory directory;
  int num_kept = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Stream stream(seed, Purpose::test, 0);
    std::set<std::string> distinct;
    while (distinct.size() < 4) distinct.insert(nasty_name(stream));
    std::vector<std::uint64_t> ends;
    std::string text;
    for (const std::string& name : distinct) ends.push_back((text += name).size());
    const bool may_be_names = text.find_first_of(std::string("\t\n\r\0", 4)) == std::string::npos;
    NodeNames names;
    try {
      names = NodeNames::strings(ends, text, nullptr);
      EXPECT_TRUE(may_be_names);
    } catch (const InputError&) {
      EXPECT_FALSE(may_be_names);
      continue;
    }
    const NamedGraph graph{seed % 2 == 0 ? graph_from_pairs(4, {{0, 1}, {1, 2}, {2, 3}})
                                         : graph_from_edges(4, {{0, 1, 1}, {1, 2, 0.5}, {2, 3, 2}}),
                           names};
    for (const char* file : {"g.tsv", "g.csv", "g.copse"}) {
      SCOPED_TRACE(file);
      try {
        write_graph(directory.file(file), graph, {});
      } catch (const UsageError&) {
        EXPECT_STRNE(file, "g.copse");
        continue;
      }
      ++num_kept;
      EXPECT_EQ(named_edges(read_graph(directory.file(file), {}, {})), named_edges(graph));
    }
  }
  EXPECT_GT(num_kept, 200);  // most are
}

TEST(WriteGraph, what_a_format_cannot_hold_is_told_and_leaves_no_file) {
  const TemporaryDirectory directory;
  const NamedGraph named = from_text("a\tb\n");
  EXPECT_EQ(error_of(directory.file("g.mtx"), named),
            directory.file("g.mtx") +
                ": Matrix Market files have no place for the nodes' names\n"
                "  write .copse or .tsv, which keep them");
  EXPECT_EQ(error_of(directory.file("g.npz"), named),
            directory.file("g.npz") +
                ": copse does not write graphs as .npz\n"
                "  write .tsv or .csv (edge list), .copse (binary), .mtx, .graphml, .gexf, .gml, .net (Pajek) or .json");
  static const std::uint64_t kEnds[] = {2, 4};
  static const std::string kText = "#a%b";
  const NamedGraph comments{graph_from_pairs(2, {{0, 1}}), NodeNames::strings(kEnds, kText, nullptr)};
  EXPECT_EQ(error_of(directory.file("g.tsv"), comments),
            directory.file("g.tsv") +
                ": the edge \"#a\", \"%b\" would not be read as one: it looks like a comment, or has an "
                "empty id\n"
                "  write a .copse file, which keeps any name");
  EXPECT_TRUE(directory.listing().empty());
}

TEST(WriteGraph, a_full_disk_leaves_nothing_half_written_in_any_format) {
  const NamedGraph graph{
      oracle::random_connected_graph({.num_nodes = 5000, .num_edges = 40000, .seed = 1, .weighted = true}),
      NodeNames::numbered(5000, 1)};
  const TemporaryDirectory directory;
  if (mount("copse-test", directory.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
    EXPECT_NE(error_of("/dev/full", graph).find("No space left on device"), std::string::npos);
    GTEST_SKIP() << "mounting a small tmpfs is not permitted here; only /dev/full was tested";
  }
  for (const char* name : {"g.tsv", "g.mtx", "g.copse", "g.tsv.gz"}) {
    EXPECT_EQ(error_of(directory.file(name), graph),
              directory.file(name) +
                  ": cannot write: No space left on device\n"
                  "  free some space or write to another disk; nothing was left behind");
    EXPECT_TRUE(directory.listing().empty());
  }
  EXPECT_EQ(umount(directory.path().c_str()), 0);
}

TEST(WriteGraph, a_missing_directory_is_told) {
  EXPECT_EQ(error_of("/no/such/place/g.copse", from_text("a\tb\n")),
            "/no/such/place/g.copse: cannot create a file in /no/such/place/: No such file or directory\n"
            "  create the directory first, or check the path");
}

TEST(WriteGraph, stopping_leaves_the_old_file) {
  struct Stop : Progress {
    void report(std::string_view, std::uint64_t, std::uint64_t) override {}
    bool cancelled() const override { return true; }
  } stop;
  const TemporaryDirectory directory;
  oracle::put(directory.file("g.tsv"), "old\n");
  Execution execution;
  execution.progress = &stop;
  EXPECT_THROW(write_graph(directory.file("g.tsv"), {graph_from_pairs(2, {{0, 1}}), NodeNames::numbered(2)},
                           execution),
               Cancelled);
  EXPECT_EQ(contents(directory.file("g.tsv")), "old\n");
  EXPECT_EQ(directory.listing().size(), 1u);
}

}  // namespace
}  // namespace copse
