// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/arc_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "copse/graph/double_cover.hpp"
#include "copse/io/read.hpp"
#include "copse/graph/statistics.hpp"
#include "copse/graph/subgraph.hpp"
#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"
#include "oracle/property.hpp"
#include "oracle/signed.hpp"
#include "oracle/temporary_directory.hpp"
#include "oracle/wide_copy.hpp"

namespace copse {
namespace {

static_assert(std::random_access_iterator<NeighborArray::Iterator>);
static_assert(std::convertible_to<std::vector<NodeId>, NeighborArray>);
static_assert(std::convertible_to<Buffer<Weight>, WeightArray>);
static_assert(!std::convertible_to<std::span<const double>, WeightArray>, "wide ones are asked for by name");

// What a view of `stored` must look like: the values narrowed one by one into an array of their own.
template <class Array, class Stored>
void expect_narrowed(const Array& array, const std::vector<Stored>& stored, std::size_t from,
                     std::size_t count) {
  using Narrow = typename Array::value_type;
  std::vector<Narrow> wanted;
  for (const Stored value : stored) wanted.push_back(static_cast<Narrow>(value));
  RC_ASSERT(std::equal(array.begin(), array.end(), wanted.begin(), wanted.end()));
  RC_ASSERT(array.size_bytes() == stored.size() * sizeof(Stored));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    RC_ASSERT(array[i] == wanted[i] && array.begin()[static_cast<std::ptrdiff_t>(i)] == wanted[i]);
    RC_ASSERT((array.address(i) == &stored[i]));
    RC_ASSERT(static_cast<Stored>(array.stored(i)) == stored[i]);
  }
  const Array part = array.subspan(from, count);
  RC_ASSERT(std::equal(part.begin(), part.end(), wanted.begin() + static_cast<std::ptrdiff_t>(from)));
  RC_ASSERT(part.size() == count && part.empty() == (count == 0) && part.is_wide() == array.is_wide());
  RC_ASSERT(std::ranges::equal(array.first(from), std::span(wanted).first(from)));
  RC_ASSERT(array.visit([&](const auto span) {
    return static_cast<const void*>(span.data()) == stored.data() && span.size() == stored.size();
  }));
}

TEST(ArcArray, reads_wide_values_as_an_array_of_narrowed_ones) {
  EXPECT_TRUE(
      oracle::holds("four arrays", [](const std::vector<double>& floats, const std::vector<NodeId>& ids) {
        const auto places = [](std::size_t size) {
          const auto from = *rc::gen::inRange<std::size_t>(0, size + 1);
          return std::pair(from, *rc::gen::inRange<std::size_t>(0, size - from + 1));
        };
        const auto [a, b] = places(floats.size());
        expect_narrowed(WeightArray(std::span(floats)), floats, a, b);
        const std::vector<Weight> narrow(floats.begin(), floats.end());
        expect_narrowed(WeightArray(narrow), narrow, a, b);
        const auto [c, d] = places(ids.size());
        expect_narrowed(NeighborArray(ids), ids, c, d);
        const std::vector<std::int64_t> wide(ids.begin(), ids.end());
        expect_narrowed(NeighborArray(std::span(wide)), wide, c, d);
      }));
}

TEST(ArcArray, can_be_searched_like_any_sorted_range) {
  const std::vector<std::int64_t> wide = {2, 3, 5, 7, 4294967294};
  const NeighborArray row{std::span(wide)};
  EXPECT_EQ(std::lower_bound(row.begin(), row.end(), NodeId{4}) - row.begin(), 2);
  EXPECT_EQ(std::upper_bound(row.begin(), row.end(), NodeId{7}) - row.begin(), 4);
  EXPECT_EQ(*std::max_element(row.begin(), row.end()), 4294967294U);
  EXPECT_EQ(*--row.end(), 4294967294U);
}

std::string problem_of(const GraphView& graph, int threads = 1) {
  try {
    check_graph(graph, "here", threads);
  } catch (const InputError& error) {
    return error.problem();
  }
  return "";
}

std::vector<Graph> graphs() {
  std::vector<Graph> all;
  all.push_back(graph_from_pairs(0, {}));
  all.push_back(graph_from_pairs(3, {}));
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const oracle::RandomGraph wanted{
        .num_nodes = 60, .num_edges = 90 * seed, .seed = seed, .weighted = seed % 2 == 0};
    all.push_back(oracle::random_graph(wanted));
    all.push_back(
        graph_from_signed_edges(60, oracle::with_signs(oracle::random_connected_edges(wanted), seed)));
  }
  return all;
}

template <class Body>
void for_each_width(const GraphView& graph, Body&& body) {
  const oracle::WideCopy wide(graph);
  for (const auto& [neighbors, weights] : oracle::kWidths) {
    SCOPED_TRACE(std::string(neighbors ? "wide neighbors " : "") + (weights ? "wide weights" : ""));
    body(wide.view(neighbors, weights));
  }
}

bool same_arrays(const GraphView& a, const GraphView& b) {
  return std::ranges::equal(a.offsets, b.offsets) && std::ranges::equal(a.neighbors, b.neighbors) &&
         std::ranges::equal(a.weights, b.weights) && std::ranges::equal(a.negative, b.negative);
}

TEST(WideGraph, is_sound_where_the_narrow_one_is) {
  for (const Graph& graph : graphs())
    for_each_width(graph, [&](const GraphView& view) {
      EXPECT_EQ(problem_of(view), "");
      EXPECT_EQ(problem_of(view, 3), "");
      EXPECT_TRUE(same_arrays(view, graph));
    });
}

TEST(WideGraph, has_the_faults_that_only_wide_values_can_have) {
  const Graph ring = graph_from_edges(4, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {3, 0, 4}});
  const auto with_neighbor = [&](std::size_t arc, std::int64_t value) {
    oracle::WideCopy copy(ring);
    copy.neighbors()[arc] = value;
    return problem_of(copy.view(true, true));
  };
  const auto with_weight = [&](std::size_t arc, double value) {
    oracle::WideCopy copy(ring);
    copy.weights()[arc] = value;
    return problem_of(copy.view(false, true));
  };
  EXPECT_EQ(with_neighbor(0, -1), "row 0: neighbor -1 is not a node (there are 4)");
  // Their last 32 bits would be the right neighbours.
  EXPECT_EQ(with_neighbor(0, (std::int64_t{1} << 32) + 1),
            "row 0: neighbor 4294967297 is not a node (there are 4)");
  EXPECT_EQ(with_neighbor(7, std::numeric_limits<std::int64_t>::min() + 2),
            "row 3: neighbor -9223372036854775806 is not a node (there are 4)");
  EXPECT_EQ(with_neighbor(1, 4), "row 0: neighbor 4 is not a node (there are 4)");
  EXPECT_EQ(with_neighbor(2, 1), "row 1 has a loop: neighbor 1");
  EXPECT_EQ(with_neighbor(1, 1), "row 0: neighbor 1 stands there twice");
  EXPECT_EQ(with_neighbor(1, 2), "row 0 has neighbor 2, but row 2 lacks 0");
  EXPECT_EQ(with_weight(0, 0), "row 0: the weight of neighbor 1 is 0.000000");
  EXPECT_EQ(with_weight(0, -2), "row 0: the weight of neighbor 1 is -2.000000");
  EXPECT_EQ(with_weight(0, std::numeric_limits<double>::quiet_NaN()),
            "row 0: the weight of neighbor 1 is nan");
  EXPECT_EQ(with_weight(3, std::numeric_limits<double>::infinity()),
            "row 1: the weight of neighbor 2 is inf");
  EXPECT_EQ(with_weight(0, 1e-60), "row 0: the weight of neighbor 1 is 0.000000") << "0 as a float";
  EXPECT_NE(with_weight(0, 1e39), "") << "beyond the largest float";
  EXPECT_EQ(with_weight(0, 1.5), "row 0 gives the edge to 1 weight 1.500000, row 1 gives it 1.000000");
  EXPECT_EQ(with_weight(0, 1 + 1e-9), "") << "the same float from both ends";
}

TEST(WideGraph, is_written_and_copied_as_the_narrow_one) {
  const oracle::TemporaryDirectory directory;
  const auto written = [&](const GraphView& view, const std::string& name) {
    write_graph(directory.file(name), {Graph(view, nullptr), NodeNames::numbered(view.num_nodes(), 0)},
                {.threads = 2});
    return oracle::contents(directory.file(name));
  };
  for (const Graph& graph : graphs())
    for_each_width(graph, [&](const GraphView& view) {
      for (const char* name : {"a.copse", "a.tsv", "a.mtx"})
        EXPECT_EQ(written(view, name), written(graph, name)) << name;
      EXPECT_TRUE(same_arrays(double_cover(view), double_cover(graph)));
      const Components components = connected_components(view);
      EXPECT_EQ(components.of_node, connected_components(graph).of_node);
      if (components.count() == 0) return;
      EXPECT_TRUE(same_arrays(component_subgraph(view, components, components.largest()).graph,
                              component_subgraph(graph, components, components.largest()).graph));
    });
}

TEST(WideGraph, of_several_blocks_is_written_as_the_narrow_one) {
  std::vector<Edge> edges;  // more than two blocks of 4 MiB of neighbours
  for (NodeId u = 0; u + 7 < 90'000; ++u)
    for (NodeId step = 1; step < 8; ++step) edges.push_back({u, u + step, 1 / Weight(step)});
  const Graph graph = graph_from_edges(90'000, edges);
  const oracle::WideCopy wide(graph);
  const oracle::TemporaryDirectory directory;
  const auto written = [&](const GraphView& view, const std::string& name) {
    write_graph(directory.file(name), {Graph(view, nullptr), NodeNames::numbered(view.num_nodes(), 0)}, {});
    return oracle::contents(directory.file(name));
  };
  EXPECT_TRUE(written(wide.view(true, true), "wide.copse") == written(graph, "narrow.copse"));
  const NamedGraph back = read_graph(directory.file("wide.copse"), {}, {});
  EXPECT_TRUE(same_arrays(back.graph, graph));
}

TEST(WideGraph, has_the_statistics_of_the_narrow_one_but_for_its_bytes) {
  for (const Graph& graph : graphs())
    for_each_width(graph, [&](const GraphView& view) {
      const GraphStatistics a = graph_statistics(view, 2), b = graph_statistics(graph, 2);
      EXPECT_EQ(a.min_weight, b.min_weight);
      EXPECT_EQ(a.median_weight, b.median_weight);
      EXPECT_EQ(a.max_weight, b.max_weight);
      EXPECT_EQ(a.total_weight, b.total_weight);
      EXPECT_EQ(a.num_components, b.num_components);
      EXPECT_EQ(a.num_frustrated, b.num_frustrated);
      EXPECT_EQ(a.num_bytes, b.num_bytes + (view.neighbors.is_wide() ? 4 * view.num_arcs() : 0) +
                                 (view.weights.is_wide() ? 4 * view.num_arcs() : 0));
    });
}

}  // namespace
}  // namespace copse
