// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"

namespace copse {
namespace {

using oracle::EdgeMap;
using oracle::edges_of;

// What tests/data/make_samples.py --scipy saved with SciPy itself: 6 nodes, the last one alone, and an
// explicit zero between nodes 0 and 5.
const EdgeMap kSampleEdges = {{{0, 1}, 0.5}, {{0, 2}, 2}, {{1, 2}, 3}, {{3, 4}, 7}};

NamedGraph read_sample(const std::string& name, ReadReport* report = nullptr, int threads = 1) {
  Execution execution;
  execution.threads = threads;
  return read_graph(std::string(COPSE_TEST_DATA "/npz/") + name, {}, execution, report);
}

TEST(Npz, reads_what_scipy_saved_in_each_layout) {
  for (const char* name :
       {"csr.npz", "csr_stored.npz", "csc_float32.npz", "coo.npz", "csr_int64_indices.npz"}) {
    SCOPED_TRACE(name);
    ReadReport report;
    const NamedGraph graph = read_sample(name, &report, 2);
    EXPECT_EQ(edges_of(graph.graph), kSampleEdges);
    EXPECT_EQ(graph.graph.num_nodes(), 6u);
    EXPECT_EQ(graph.names.name(5), "5") << "rows count from 0";
    EXPECT_EQ(report.format, GraphFormat::npz);
    EXPECT_EQ(report.build.num_zero_weights, 2u);
  }
}

TEST(Npz, one_triangle_is_as_good_as_both) {
  ReadReport report;
  EXPECT_EQ(edges_of(read_sample("upper_triangle.npz", &report).graph), kSampleEdges);
  EXPECT_FALSE(report.build.listed_both_ways);
}

TEST(Npz, a_boolean_matrix_is_an_unweighted_graph) {
  const NamedGraph graph = read_sample("bool.npz");
  EXPECT_FALSE(graph.graph.view().is_weighted());
  EXPECT_EQ(edges_of(graph.graph), (EdgeMap{{{0, 1}, 1}, {{0, 2}, 1}, {{1, 2}, 1}, {{3, 4}, 1}}));
}

TEST(Npz, integers_are_weights) {
  EXPECT_EQ(edges_of(read_sample("uint8.npz").graph),
            (EdgeMap{{{0, 1}, 1}, {{0, 2}, 2}, {{1, 2}, 3}, {{3, 4}, 7}}));
}

TEST(Npz, a_matrix_without_entries_has_its_nodes) {
  const NamedGraph graph = read_sample("empty.npz");
  EXPECT_EQ(graph.graph.num_nodes(), 4u);
  EXPECT_EQ(graph.graph.view().num_arcs(), 0u);
}

}  // namespace
}  // namespace copse
