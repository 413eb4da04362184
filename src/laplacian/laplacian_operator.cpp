// SPDX-License-Identifier: Apache-2.0
#include "laplacian/laplacian_operator.hpp"

#include <algorithm>

#include "copse/support/parallel.hpp"
#include "laplacian/lanes.hpp"

namespace copse {

namespace {

constexpr EdgeIndex kAhead =
    12;  // arcs whose other ends are fetched early: where rows of p are long, these wait

template <int width, bool weighted, class Lane>
[[gnu::always_inline]] inline void row(const GraphView& graph, std::size_t u, const double* p, double* q) {
  constexpr std::size_t kParts = kLanes<width, Lane>;
  typename Lane::Vector sum[kParts] = {};
  const auto* own = lanes<Lane>(p + u * width);
  for (EdgeIndex arc = graph.offsets[u], end = graph.offsets[u + 1]; arc < end; ++arc) {
    if constexpr (width >= 4)
      __builtin_prefetch(p +
                         std::size_t{graph.neighbors[std::min(arc + kAhead, graph.num_arcs() - 1)]} * width);
    const auto* other = lanes<Lane>(p + std::size_t{graph.neighbors[arc]} * width);
    for (std::size_t c = 0; c < kParts; ++c) {
      if constexpr (weighted)
        sum[c] += (own[c].value - other[c].value) * static_cast<double>(graph.weights[arc]);
      else
        sum[c] += own[c].value - other[c].value;
    }
  }
  for (std::size_t c = 0; c < kParts; ++c) lanes<Lane>(q + u * width)[c].value = sum[c];
}

template <int width, bool weighted, class Lane>
[[gnu::always_inline]] inline ColumnValues rows(const LaplacianSystem& system, const double* p, double* q,
                                                std::size_t begin, std::size_t end) {
  ColumnValues dot{};
  for (std::size_t u = begin; u < end; ++u) {
    if (system.inverse_degree[u] == 0) {
      for (int c = 0; c < width; ++c) q[u * width + c] = 0;
      continue;
    }
    row<width, weighted, Lane>(system.graph, u, p, q);
    for (std::size_t c = 0; c < kLanes<width, Lane>; ++c)
      lanes<Lane>(dot.data())[c].value +=
          lanes<Lane>(p + u * width)[c].value * lanes<Lane>(q + u * width)[c].value;
  }
  return dot;
}

template <int width, bool weighted>
ColumnValues rows_narrow(const LaplacianSystem& system, const double* p, double* q, std::size_t begin,
                         std::size_t end) {
  return rows<width, weighted, Lanes<width, false>>(system, p, q, begin, end);
}
template <int width, bool weighted>
COPSE_WIDE_REGISTERS ColumnValues rows_wide(const LaplacianSystem& system, const double* p, double* q,
                                            std::size_t begin, std::size_t end) {
  return rows<width, weighted, Lanes<width, true>>(system, p, q, begin, end);
}

template <int width>
ColumnValues rows_of(const LaplacianSystem& system, const double* p, double* q, std::size_t begin,
                     std::size_t end) {
  if (width % 4 == 0 && has_wide_registers())
    return system.graph.is_weighted() ? rows_wide<width, true>(system, p, q, begin, end)
                                      : rows_wide<width, false>(system, p, q, begin, end);
  return system.graph.is_weighted() ? rows_narrow<width, true>(system, p, q, begin, end)
                                    : rows_narrow<width, false>(system, p, q, begin, end);
}

}  // namespace

ColumnValues apply_laplacian(const LaplacianSystem& system, const double* p, double* q, int width) {
  ColumnValues dot{};
  with_width(width, [&](auto w) {
    dot = deterministic_reduce(
        system.execution, system.num_nodes(), ColumnValues{},
        [&](std::size_t begin, std::size_t end) { return rows_of<w()>(system, p, q, begin, end); },
        [](const ColumnValues& a, const ColumnValues& b) { return a + b; }, kBlockRows);
  });
  return dot;
}

}  // namespace copse
