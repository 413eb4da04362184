// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "laplacian/quotient_pattern.hpp"

namespace copse {

/// Where the Cholesky factor of a system has its entries. Columns come in supernodes: neighbours in the order
/// of elimination that have the same rows below them, held as one dense panel. A supernode hands what is left
/// of its rows to its parent.
struct Supernodes {
  std::vector<NodeId> node_of;             // column -> node of the system
  std::vector<NodeId> first;               // first column of every supernode; one more for the end
  std::vector<NodeId> parent;              // always a later one; kNoNode at a root
  std::vector<std::uint64_t> row_begin;    // of every supernode in `rows`; one more for the end
  std::vector<NodeId> rows;                // columns whose rows lie below the supernode's own, ascending
  std::vector<std::uint64_t> panel_begin;  // of every panel; one more for the end

  NodeId count() const { return static_cast<NodeId>(parent.size()); }
  NodeId width(NodeId s) const { return first[s + 1] - first[s]; }
  std::span<const NodeId> rows_of(NodeId s) const {
    return {rows.data() + row_begin[s], rows.data() + row_begin[s + 1]};
  }
};

/// What an exact factorization would take, found out without computing it: some tens of nanoseconds an arc,
/// most of them for the order.
class SymbolicCholesky {
 public:
  /// Nothing when the system is larger than the order can number.
  static std::optional<SymbolicCholesky> of(const LaplacianSystem& system);

  std::uint64_t entries() const { return entries_; }  // stored, zeros in panels included
  double operations() const { return operations_; }   // multiplications and additions
  std::uint64_t num_supernodes() const { return num_supernodes_; }

  /// Of the factor, and of what waits on the stack while it is made: about a third as much.
  std::uint64_t bytes() const { return entries_ * 11 + num_supernodes_ * 64; }

  Supernodes supernodes() const;

 private:
  QuotientPattern pattern_;
  std::vector<NodeId> order_;   // groups as they are eliminated, supernode after supernode
  std::vector<NodeId> first_;   // first step of every supernode; one more for the end
  std::vector<NodeId> parent_;  // supernode
  std::uint64_t entries_ = 0, num_supernodes_ = 0;
  double operations_ = 0;
};

}  // namespace copse
