// SPDX-License-Identifier: Apache-2.0
#include "support/wide_registers.hpp"
#include "trees/find_arc.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace copse {
namespace {

#if defined(__x86_64__)

constexpr EdgeIndex kComparedAtOnce = 16, kComparedInTurn = 64;  // longer rows are searched

// The place of `v` among the next ones, a bit each.
COPSE_WIDE_REGISTERS [[gnu::always_inline]] inline unsigned equal_ones(const NodeId* neighbors, __m256i v) {
  const auto* halves = reinterpret_cast<const __m256i*>(neighbors);
  const __m256i low = _mm256_cmpeq_epi32(_mm256_loadu_si256(halves), v);
  const __m256i high = _mm256_cmpeq_epi32(_mm256_loadu_si256(halves + 1), v);
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(low))) |
         static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(high))) << 8;
}

// As a neighbour is in its row, nothing behind the row is ever found; but it is read.
COPSE_WIDE_REGISTERS void find_arcs_wide(const GraphView& graph, NodeId first, std::span<const NodeId> wanted,
                                         std::span<EdgeIndex> arcs) {
  const EdgeIndex* offsets = graph.offsets.data() + first;
  const NodeId* neighbors = graph.neighbors.narrow().data();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == kNoNode) continue;
    if (offsets[i + 1] - offsets[i] > kComparedInTurn) {
      arcs[i] = find_arc(graph, first + static_cast<NodeId>(i), wanted[i]);
      continue;
    }
    const __m256i v = _mm256_set1_epi32(static_cast<int>(wanted[i]));
    EdgeIndex arc = offsets[i];
    unsigned equal = equal_ones(neighbors + arc, v);
    while (equal == 0) equal = equal_ones(neighbors + (arc += kComparedAtOnce), v);
    arcs[i] = arc + static_cast<unsigned>(__builtin_ctz(equal));
  }
}

bool can_read_behind(const GraphView& graph, std::size_t row) {
  return !graph.neighbors.is_wide() && graph.offsets[row] + kComparedAtOnce <= graph.num_arcs();
}

#endif

}  // namespace

void find_arcs(const GraphView& graph, NodeId first, std::span<const NodeId> wanted,
               std::span<EdgeIndex> arcs) {
#if defined(__x86_64__)
  if (has_wide_registers() && can_read_behind(graph, first + wanted.size()))
    return find_arcs_wide(graph, first, wanted, arcs);
#endif
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != kNoNode) arcs[i] = find_arc(graph, first + static_cast<NodeId>(i), wanted[i]);
  }
}

}  // namespace copse
