// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "laplacian/laplacian_system.hpp"

namespace copse {

/// Where a system has entries, twins taken together: nodes that are joined and have the same other neighbours
/// (the inside of a clique) stay twins while others are eliminated, so that orders and trees need know only
/// one of them. Graphs of a mean degree below 3 are taken as having none.
struct QuotientPattern {
  std::vector<NodeId> members;     // the unknowns, group after group
  std::vector<NodeId> begin;       // of every group in `members`; one more for the end
  std::vector<EdgeIndex> offsets;  // of every group in `neighbors`; one more for the end
  std::vector<NodeId> neighbors;   // other groups, each arc in both rows

  NodeId num_groups() const { return static_cast<NodeId>(begin.size() - 1); }
  NodeId size(NodeId group) const { return begin[group + 1] - begin[group]; }
  std::span<const NodeId> neighbors_of(NodeId group) const {
    return {neighbors.data() + offsets[group], neighbors.data() + offsets[group + 1]};
  }

  /// Unknown is every free node but the first of each singular component, which is grounded.
  static QuotientPattern of(const LaplacianSystem& system);
};

}  // namespace copse
