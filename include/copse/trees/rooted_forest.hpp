// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/sample.hpp"

namespace copse {

/// Random spanning forests in which every tree has one of `roots`: P(F) is proportional to the product of its
/// weights, and root(k) = j with the probability that a random walk from k meets j before any other root. So
/// the root of a node is a sample of the harmonic measure there, of all nodes at once, at the price of
/// Wilson's walks: they end at the first root, and more roots make them shorter.
///
/// With a killing rate q[u] a walk at u also ends there with probability q[u] / (q[u] + degree of u), and u
/// is the root of the nodes that then hang on it: as if edges of weight q led to a ground node. P(root(k) =
/// j) is q[j] times the entry (k, j) of the inverse of L + diag(q), the rows and columns of `roots` left out.
///
/// Keeps a view: the graph must outlive it. Copies share; any number of threads may draw forests.
class RootedForests {
 public:
  /// `killing_rates` is empty or has a value per node, finite and not negative. Signs are not looked at.
  RootedForests(const GraphView& graph, std::span<const NodeId> roots, const Execution& execution,
                std::span<const double> killing_rates = {});

  /// The root of every node in the forest number `index` of this seed; kNoNode where a component has none. A
  /// pure function of (graph, roots, rates, seed, index). Where walks take more than 256 steps per node,
  /// random keys complete the forest, not quite by the law, and the report says so.
  Buffer<NodeId> roots_of_nodes(std::uint64_t index, TreeReport* report = nullptr) const;

 private:
  struct Shared;
  std::shared_ptr<const Shared> shared_;
};

}  // namespace copse
