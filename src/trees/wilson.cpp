// SPDX-License-Identifier: Apache-2.0
#include "trees/wilson.hpp"

#include <algorithm>
#include <cmath>

#include "trees/wilson_walks.hpp"

namespace copse {

WalkOrder walk_order(const GraphView& graph) {
  constexpr std::uint64_t kSamples = 1024;
  constexpr double kFar = 3 << 20;  // bytes: a few times what a core has of cache for itself
  if (graph.num_arcs() == 0) return WalkOrder::one_by_one;
  const double arcs_per_node = static_cast<double>(graph.num_arcs()) / graph.num_nodes();
  const double bytes_per_node = 16 + (graph.is_weighted() ? 8 : 4) * arcs_per_node;
  std::uint64_t num_far = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const auto arc = static_cast<EdgeIndex>(static_cast<Uint128>(i) * graph.num_arcs() / kSamples);
    const auto row = std::upper_bound(graph.offsets.begin(), graph.offsets.end(), arc);
    const double from = static_cast<double>(row - graph.offsets.begin() - 1), to = graph.neighbors[arc];
    num_far += std::abs(from - to) * bytes_per_node > kFar;
  }
  return 2 * num_far > kSamples ? WalkOrder::interleaved : WalkOrder::one_by_one;
}

template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t index, const Execution& execution, const WilsonOptions& options) {
  if (graph.num_nodes() == 0) return {.complete = true};
  if (options.order == WalkOrder::one_by_one)
    return detail::OneByOne<Arcs>(graph, arcs, roots, index, execution, options).run();
  return detail::Interleaved<Arcs>(graph, arcs, roots, index, execution, options).run();
}

template WilsonResult wilson(const GraphView&, const UniformArcs&, std::span<const NodeId>, std::uint64_t,
                             const Execution&, const WilsonOptions&);
template WilsonResult wilson(const GraphView&, const WeightedArcs&, std::span<const NodeId>, std::uint64_t,
                             const Execution&, const WilsonOptions&);

}  // namespace copse
