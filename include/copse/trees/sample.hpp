// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// How a tree was made: the path taken is reported, never silent.
enum class TreePath {
  direct,             // the method asked for, exactly
  blocks,             // Wilson inside each biconnected block: the same law, escalated
  completed_by_keys,  // Wilson reached its step limit and random keys completed the tree: not quite the law
};

struct TreeReport {
  TreePath path = TreePath::direct;
  std::uint64_t steps = 0;  // of random walk, where there is one
};

/// What all trees of one graph share, computed once: a good root in every component (Wilson's expected
/// steps are the sum over u of d_u R(u, root), so the root matters; the law of the tree does not depend
/// on it). Keeps a view: the graph must outlive it. Copies share; any number of threads may draw trees.
class TreeSampler {
 public:
  TreeSampler(const GraphView& graph, TreeKind kind, const Execution& execution);
  /// The tree number `index` of this seed: a pure function of (graph, kind, seed, index).
  SpanningForest tree(std::uint64_t index, TreeReport* report = nullptr) const;

  TreeKind kind() const;
  /// Whether trees of different index differ: not so for the minimum tree of a weighted graph.
  bool is_random() const;
  /// Trees of a committee that asks for so many: one where all are the same.
  std::size_t num_trees(int asked) const { return is_random() ? static_cast<std::size_t>(asked) : 1; }
  /// One a component, by component number.
  std::span<const NodeId> roots() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

const char* to_string(TreeKind kind);
/// For help: what each kind is.
inline constexpr const char* kTreeKindsText =
    "kind of spanning tree: rst random by weight, nwrst random whatever the weights, random_key by random "
    "keys "
    "(a scan, not quite rst), mst minimum, spt shortest paths from a root, dfst depth first, bfst breadth "
    "first";
const char* to_string(TreePath path);

}  // namespace copse
