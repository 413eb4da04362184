// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Labellings that cut few edges and agree with what is known.
struct CountQuestion {
  std::size_t num_classes = 2;
  std::uint64_t max_cut = 0;  // of each tree; 0: the smallest power of two that some labelling keeps
};

/// By node and class, the share of the labellings of the node's tree that give it the class: at most k cut
/// edges, and `fixed[node]` (a column, or kNoLabel) where that is known. Shares of a node sum to 1. If no
/// labelling keeps max_cut, k is the smallest that one keeps.
///
/// O(n K s^2) for K classes and s = k - (smallest cut) + 1, at most kMostSlack + 1 where k is found and not
/// given: counts are kept from the smallest cut upwards, so that the cut itself may be large. They are scaled
/// doubles: shares are right to rounding, however many labellings there are.
std::vector<double> count_on_forest(const SpanningForest& forest, std::span<const Label> fixed,
                                    const CountQuestion& question);

/// The same on a component of any shape, by listing all K^n labellings: `nodes` are its nodes. `shares` has
/// num_classes places per node of the graph, and only those of `nodes` are written.
void count_by_listing(const GraphView& graph, std::span<const NodeId> nodes, std::span<const Label> fixed,
                      const CountQuestion& question, std::span<double> shares);

/// The cut allowed when the smallest one that agrees is known.
std::uint64_t allowed_cut(std::uint64_t smallest, const CountQuestion& question);

inline constexpr std::uint64_t kMostSlack = 16;
/// Labellings that may be listed.
inline constexpr std::uint64_t kMostListed = std::uint64_t{1} << 14;

}  // namespace copse
