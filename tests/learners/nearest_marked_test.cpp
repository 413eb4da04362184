// SPDX-License-Identifier: Apache-2.0
#include "learners/nearest_marked.hpp"

#include <gtest/gtest.h>

#include <random>

#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/tree_kernel.hpp"

namespace copse {
namespace {

__extension__ using Int128 = __int128;

/// Marks nodes one after the other; the nearest is the oldest of those no farther than any other.
template <class Integer>
void expect_nearest(const Graph& graph, const ResistanceScale& scale, std::uint64_t seed) {
  const SpanningForest forest = TreeSampler(graph, TreeKind::rst, {.seed = seed}).tree(0);
  const oracle::TreeByCuts twin(forest);
  NearestMarked<Integer> nearest(forest, scale);
  const NodeId n = graph.num_nodes();
  std::mt19937_64 random(seed);
  std::vector<NodeId> marks;
  for (int round = 0; round < 12; ++round) {
    for (NodeId u = 0; u < n; ++u) {
      std::uint32_t wanted = NearestMarked<Integer>::kNone;
      long double least = std::numeric_limits<long double>::infinity();
      for (std::uint32_t t = 0; t < marks.size(); ++t) {
        if (!(twin.resistance(u, marks[t]) < least * (1 - 1e-12L))) continue;
        least = twin.resistance(u, marks[t]);
        wanted = t;
      }
      ASSERT_EQ(nearest.nearest(u), wanted) << u;
    }
    marks.push_back(static_cast<NodeId>(random() % n));
    nearest.mark(marks.back(), static_cast<std::uint32_t>(marks.size() - 1));
  }
  nearest.clear();
  EXPECT_EQ(nearest.nearest(0), NearestMarked<Integer>::kNone);
}

TEST(NearestMarked, finds_the_oldest_of_the_nearest_marks_on_every_kind_of_forest) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const ResistanceScale scale = ResistanceScale::of(graph, true, 1);
    ASSERT_FALSE(scale.wide);
    for (std::uint64_t seed = 1; seed < 5; ++seed) expect_nearest<std::int64_t>(graph, scale, seed);
  }
  expect_nearest<std::int64_t>(oracle::path(60), {}, 1);
  expect_nearest<std::int64_t>(oracle::star(60), {}, 2);
}

TEST(NearestMarked, keeps_its_digits_when_weights_span_fourteen_orders) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    auto edges = oracle::random_connected_edges({.num_nodes = 40, .num_edges = 39, .seed = seed});
    std::mt19937_64 random(seed);
    for (Edge& edge : edges)
      edge.weight =
          static_cast<Weight>(std::pow(10.0, 14 * (static_cast<double>(random() % 10001) / 10000 - 0.5)));
    const Graph graph = graph_from_edges(40, edges);
    const ResistanceScale scale = ResistanceScale::of(graph, true, 1);
    ASSERT_TRUE(scale.wide);
    expect_nearest<Int128>(graph, scale, seed);
  }
}

}  // namespace
}  // namespace copse
