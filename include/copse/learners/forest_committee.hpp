// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "copse/trees/spanning_forest.hpp"

// The committees of Wta and TreeCut with forests from elsewhere: from a stream (trees/forest_builder.hpp), on
// one machine or on many. Of the same forests their answers are those of Wta::fit and TreeCut::fit, bit for
// bit. Labels have one entry per node, kNoLabel where unknown.

namespace copse {

enum class ForestRule { wta, tree_cut };

/// The smallest and the largest weight of a graph: distances are measured in units that follow from them.
struct WeightRange {
  Weight low = std::numeric_limits<Weight>::infinity(), high = 0;  // so without weights

  void add(Weight weight) {
    low = std::min(low, weight);
    high = std::max(high, weight);
  }
  void merge(const WeightRange& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

/// On one machine: trees vote as they are done and are forgotten. O(n) memory whatever their number.
class ForestCommittee {
 public:
  /// `labels` must live as long as this. The trees are 0 ... num_trees - 1 of the seed in `execution`.
  ForestCommittee(ForestRule rule, std::span<const Label> labels, std::size_t num_classes,
                  std::uint32_t num_trees, const WeightRange& weights, const Execution& execution);
  ~ForestCommittee();

  /// Every tree once, in any order, by any of the threads of `execution`.
  void vote(std::uint32_t tree, SpanningForest&& forest);
  /// All votes so far, between two of them: memory that may be written away, and later written back into the
  /// committee of another run of the same arguments, which then is told how many trees these were.
  std::array<std::span<std::byte>, 2> state();
  void resume(std::uint32_t num_voted);
  /// Once, after the last vote; fewer than all trees are a smaller committee.
  BatchResult finish();

  /// Of the votes, beside the trees that vote.
  static std::uint64_t bytes_per_node(std::size_t num_classes, std::uint32_t num_trees);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// On a cluster: what one tree says of every node, 4 bytes per node to be sent to whoever decides. A nearness
/// of 0 means that no label reaches the node.
struct TreeVotes {
  std::vector<Label> label;
  std::vector<std::uint16_t> nearness;
};
TreeVotes votes_of_tree(ForestRule rule, SpanningForest&& forest, std::uint32_t tree,
                        std::span<const Label> labels, std::size_t num_classes, const WeightRange& weights,
                        const Execution& execution);

/// The answer for an unlabelled node from what the trees say of it, in any order. `prior` has counted the
/// labels.
Prediction decide_votes(std::span<const Label> labels, std::span<const std::uint16_t> nearness,
                        const ClassPrior& prior);

}  // namespace copse
