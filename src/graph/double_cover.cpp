// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/double_cover.hpp"

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {

Graph double_cover(const GraphView& graph, int threads) {
  const NodeId n = graph.num_nodes();
  if (2 * std::uint64_t{n} > kMaxNodes)
    throw InputError{"signed graph", "has " + with_commas(n) + " nodes, and its double cover twice as many",
                     "learners on the whole graph take up to " + with_commas(kMaxNodes / 2) +
                         " nodes with signs; wta and tree_cut take all"};
  const EdgeIndex half = graph.num_arcs();
  Buffer<EdgeIndex> offsets(2 * std::size_t{n} + 1);
  Buffer<NodeId> neighbors(2 * half);
  Buffer<Weight> weights(graph.is_weighted() ? 2 * half : 0);
  parallel_blocks(threads, n, std::size_t{1} << 12, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
      EdgeIndex same = graph.offsets[u], mirror = half + graph.offsets[u];
      offsets[u] = same;
      offsets[std::size_t{u} + n] = mirror;
      const auto put = [&](EdgeIndex& place, EdgeIndex arc, NodeId shift) {
        neighbors[place] = graph.neighbors[arc] + shift;
        if (graph.is_weighted()) weights[place] = graph.weights[arc];
        ++place;
      };
      // The copies below n come first in both rows: rows stay sorted.
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        put(graph.is_negative(arc) ? mirror : same, arc, 0);
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        put(graph.is_negative(arc) ? same : mirror, arc, n);
    }
  });
  offsets[2 * std::size_t{n}] = 2 * half;
  return {std::move(offsets), std::move(neighbors), std::move(weights)};
}

}  // namespace copse
