// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "support/simd.hpp"

// What the parts of the solver share: the system, blocks of vectors, the product with L, preconditioners.

namespace copse {

/// L x = b as the iterations see it. Grounded nodes keep their rows: every vector is 0 there, so that
/// sum_v w (p_u - p_v) is the row of L_UU without further ado.
struct LaplacianSystem {
  GraphView graph;
  Execution execution;            // every pass over the rows asks whether to go on
  Buffer<double> inverse_degree;  // 1 / weighted degree; 0 where x is fixed at 0: grounded or isolated
  Buffer<NodeId> singular;        // number of the singular component a node is in, or kNoNode
  std::vector<NodeId> sizes;      // of the singular components
  NodeId num_free = 0;            // nodes that are not fixed
  EdgeIndex num_arcs = 0;

  NodeId num_nodes() const { return graph.num_nodes(); }
  bool is_fixed(NodeId u) const { return inverse_degree[u] == 0; }
  bool is_singular() const { return !sizes.empty(); }

  static LaplacianSystem of(const GraphView& graph, std::span<const NodeId> grounded,
                            const Execution& execution);
};

/// The same system with its nodes in another order, and the arrays of the graph it then needs.
struct ReorderedSystem {
  std::vector<NodeId> order;  // order[new] = old
  Graph graph;
  LaplacianSystem system;
};
ReorderedSystem reorder(const LaplacianSystem& system, std::vector<NodeId> order);

/// Breadth-first from the first node of every component: neighbours get numbers that lie close together,
/// which is what a sweep over the rows needs from a cache. Nothing once more than `most_wide` nodes are in
/// levels too wide for that: then no order will do.
std::vector<NodeId> breadth_first_order(const GraphView& graph, const Execution& execution = {},
                                        NodeId most_wide = kNoNode);

/// Levels of breadth-first searches from the first node of every component.
struct LevelStructure {
  /// Sum of level times (level + the one before): entries that a factor has at most, when it eliminates level
  /// by level.
  std::uint64_t fill = 0;
  NodeId depth = 0;      // levels of the deepest search
  bool is_whole = true;  // or the search stopped, `fill` having passed its limit
};
LevelStructure level_structure(const GraphView& graph, std::uint64_t max_fill,
                               const Execution& execution = {});

/// Whether the neighbours of a node mostly lie near it, from a sample of the arcs: as the nodes are numbered,
/// or in another order of theirs.
bool has_local_order(const GraphView& graph, std::span<const NodeId> order = {});

// A block of vectors lies node by node, value[node * width + column], so that one pass over the graph serves
// all of them.

inline constexpr int kMaxWidth = 8;                  // columns of a block: 64 bytes per node, one cache line
inline constexpr std::size_t kBlockRows = 1 << 13;   // rows of a task and of a partial sum
using ColumnValues = std::array<double, kMaxWidth>;  // one number per column

/// body(std::integral_constant<int, width>): inside a kernel the compiler knows the width.
template <int most = kMaxWidth, class Body>
void with_width(int width, Body&& body) {
  if constexpr (most > 1) {
    if (width < most) return with_width<most - 1>(width, body);
  }
  body(std::integral_constant<int, most>{});
}

/// One row of a block, `width` numbers, in registers: the widest that divide it. GCC keeps a plain array of
/// sums in memory.
template <class Real, int width, std::size_t register_bytes>
struct BlockRow {
  static constexpr int kLanes = width * sizeof(Real) % register_bytes == 0 ? register_bytes / sizeof(Real)
                                : width * sizeof(Real) % 16 == 0           ? 16 / sizeof(Real)
                                                                           : 1;
  static constexpr int kParts = width / kLanes;
  static constexpr std::size_t kWidth = width;
  using Part = std::conditional_t<kLanes == 1, Real, Register<Real, kLanes * sizeof(Real)>>;
  Part part[kParts] = {};

  BlockRow() = default;
  [[gnu::always_inline]] explicit BlockRow(const Real* from) {
    for (int i = 0; i < kParts; ++i) {
      if constexpr (kLanes == 1)
        part[i] = from[i];  // copied as bytes it would pass through another kind of register
      else
        load_lanes(from + i * kLanes, part[i]);
    }
  }
  [[gnu::always_inline]] void store(Real* to) const {
    for (int i = 0; i < kParts; ++i) {
      if constexpr (kLanes == 1)
        to[i] = part[i];
      else
        store_lanes(part[i], to + i * kLanes);
    }
  }
  [[gnu::always_inline]] void scale(Real factor) {
    for (int i = 0; i < kParts; ++i) part[i] *= factor;
  }
  /// this -= factor * row
  [[gnu::always_inline]] void subtract_multiple(const Real* row, Real factor) {
    const BlockRow other(row);
    for (int i = 0; i < kParts; ++i) part[i] -= other.part[i] * factor;
  }
  /// row -= factor * this
  [[gnu::always_inline]] void subtract_multiple_from(Real* row, Real factor) const {
    BlockRow other(row);
    for (int i = 0; i < kParts; ++i) other.part[i] -= part[i] * factor;
    other.store(row);
  }
  [[gnu::always_inline]] void add_product(const BlockRow& a, const BlockRow& b) {
    for (int i = 0; i < kParts; ++i) part[i] += a.part[i] * b.part[i];
  }
  /// this += factor * (a - b)
  [[gnu::always_inline]] void add_difference(const BlockRow& a, const Real* b, Real factor) {
    const BlockRow other(b);
    for (int i = 0; i < kParts; ++i) part[i] += (a.part[i] - other.part[i]) * factor;
  }
};

/// Wide registers for rows that fill them; others are made of one or two numbers at a time anyway.
template <int width, class Kernel, class... Arguments>
auto run_row_kernel(const Kernel& kernel, Arguments... arguments) {
  if constexpr (width % 4 == 0)
    return run_kernel(kernel, arguments...);
  else
    return kernel.template operator()<16>(arguments...);
}

/// The sums that body(begin, end) finds for every column, over fixed blocks of rows and added in order.
template <class Body>
ColumnValues sum_rows(const Execution& execution, std::size_t num_rows, Body&& body) {
  const auto add = [](ColumnValues a, const ColumnValues& b) {
    for (std::size_t c = 0; c < a.size(); ++c) a[c] += b[c];
    return a;
  };
  return deterministic_reduce(execution, num_rows, ColumnValues{}, body, add, kBlockRows);
}

/// q = L p for `width` columns, 0 at fixed nodes; returns p . q of every column. p must be 0 at grounded
/// nodes. Rows are sums of w (p_u - p_v), not degree * p_u - sum w p_v: a large constant in p then costs no
/// digits. For floats and doubles; sums over all rows are doubles.
template <class Real>
ColumnValues apply_laplacian(const LaplacianSystem& system, const Real* p, Real* q, int width);

/// Takes its mean off every singular component of `values`.
template <class Real>
void subtract_component_means(const LaplacianSystem& system, Real* values, int width);

/// z = M^-1 r for a symmetric M close to L. In singular components z may be off by a constant.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// In place: z comes in as r, 0 at fixed nodes, and has room for one row more than there are nodes. Returns
  /// r . z of each of the `width` columns.
  virtual ColumnValues apply(double* z, int width) const = 0;
  virtual std::uint64_t entries() const = 0;
};

}  // namespace copse
