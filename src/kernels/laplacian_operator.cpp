// SPDX-License-Identifier: Apache-2.0
#include "kernels/laplacian_operator.hpp"

#include "copse/support/parallel.hpp"

namespace copse {

namespace {

template <int width, bool weighted>
void row(const GraphView& graph, std::size_t u, const double* p, double* q) {
  double sum[width] = {};
  const double* own = p + u * width;
  for (EdgeIndex arc = graph.offsets[u], end = graph.offsets[u + 1]; arc < end; ++arc) {
    const double* other = p + std::size_t{graph.neighbors[arc]} * width;
    for (int c = 0; c < width; ++c) {
      if constexpr (weighted)
        sum[c] += static_cast<double>(graph.weights[arc]) * (own[c] - other[c]);
      else
        sum[c] += own[c] - other[c];
    }
  }
  for (int c = 0; c < width; ++c) q[u * width + c] = sum[c];
}

template <int width, bool weighted>
ColumnValues rows(const LaplacianSystem& system, const double* p, double* q, std::size_t begin,
                  std::size_t end) {
  ColumnValues dot{};
  for (std::size_t u = begin; u < end; ++u) {
    if (system.inverse_degree[u] == 0) {
      for (int c = 0; c < width; ++c) q[u * width + c] = 0;
      continue;
    }
    row<width, weighted>(system.graph, u, p, q);
    for (int c = 0; c < width; ++c) dot[c] += p[u * width + c] * q[u * width + c];
  }
  return dot;
}

}  // namespace

ColumnValues apply_laplacian(const LaplacianSystem& system, const double* p, double* q, int width) {
  ColumnValues dot{};
  with_width(width, [&](auto w) {
    dot = deterministic_reduce(
        system.threads, system.num_nodes(), ColumnValues{},
        [&](std::size_t begin, std::size_t end) {
          return system.graph.is_weighted() ? rows<w(), true>(system, p, q, begin, end)
                                            : rows<w(), false>(system, p, q, begin, end);
        },
        [](const ColumnValues& a, const ColumnValues& b) { return a + b; }, kBlockRows);
  });
  return dot;
}

}  // namespace copse
