// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// The vote of one node's committee, and the rule that decides it: most votes; between equals the class
/// of the nearest vote if it is one of them, else the more frequent class, else the lower index.
class Tally {
 public:
  explicit Tally(std::size_t num_classes) : counts_(num_classes) {}
  void add(Label label, std::uint32_t count = 1) {
    counts_[label] += count;
    total_ += count;
  }
  std::uint32_t total() const { return total_; }
  std::uint32_t count(Label label) const { return counts_[label]; }
  Prediction decide(Label nearest, const ClassPrior& prior) const {
    if (total_ == 0) {
      const Label label = prior.favourite();
      return {label, label == kNoLabel ? 0 : prior.share(label), false};
    }
    Label best = 0;
    for (Label c = 1; c < counts_.size(); ++c) {
      if (counts_[c] != counts_[best] ? counts_[c] > counts_[best] : prior.prefers(c, best)) best = c;
    }
    if (nearest != kNoLabel && counts_[nearest] == counts_[best]) best = nearest;
    return {best, static_cast<double>(counts_[best]) / total_, true};
  }
  void scores(const ClassPrior& prior, std::span<double> scores) const {
    if (total_ == 0) return prior.scores(scores);
    for (std::size_t c = 0; c < scores.size(); ++c)
      scores[c] = c < counts_.size() ? static_cast<double>(counts_[c]) / total_ : 0;
  }

 private:
  std::vector<std::uint32_t> counts_;
  std::uint32_t total_ = 0;
};

/// Orders votes by distance, to within 1 %, then by class: what decides a tie, in half a word. The upper
/// half of a non-negative float orders like the float.
inline std::uint32_t nearness(float distance, Label label) {
  return (std::bit_cast<std::uint32_t>(distance) & 0xFFFF0000) | label;
}

/// The votes of a committee for all nodes, tree by tree, in memory that does not grow with trees times
/// classes: either a counter a class or a ballot a tree, whichever is smaller, in bytes where they
/// suffice; and the nearest vote of each node, for ties. Trees may vote at the same time: all updates
/// commute, so the outcome is the same in any order.
class Votes {
 public:
  Votes(std::uint64_t num_nodes, std::size_t num_classes, std::uint32_t num_trees)
      : num_classes_(num_classes),
        counts_classes_(num_classes * width(num_trees) <= num_trees * width(num_classes)),
        width_(counts_classes_ ? width(num_trees) : width(num_classes)),
        stride_((counts_classes_ ? num_classes : num_trees) * width_),
        ballots_(num_nodes * stride_),
        nearest_(num_nodes) {}

  static std::uint64_t bytes_per_node(std::size_t num_classes, std::uint32_t num_trees) {
    return std::min(num_classes * width(num_trees), num_trees * width(num_classes)) + sizeof(std::uint32_t);
  }

  void add(NodeId node, std::uint32_t tree, Label label, float distance) {
    std::uint8_t* row = &ballots_[node * stride_];
    if (counts_classes_) {
      if (width_ == 1)
        std::atomic_ref<std::uint8_t>(row[label]).fetch_add(1, std::memory_order_relaxed);
      else
        std::atomic_ref<std::uint16_t>(reinterpret_cast<std::uint16_t*>(row)[label])
            .fetch_add(1, std::memory_order_relaxed);
    } else if (width_ == 1) {
      row[tree] = static_cast<std::uint8_t>(label + 1);
    } else {
      reinterpret_cast<std::uint16_t*>(row)[tree] = static_cast<std::uint16_t>(label + 1);
    }
    // The smallest key wins; inverted, so that 0 means no vote.
    const std::uint32_t key = ~nearness(distance, label);
    std::atomic_ref<std::uint32_t> nearest(nearest_[node]);
    std::uint32_t seen = nearest.load(std::memory_order_relaxed);
    while (key > seen && !nearest.compare_exchange_weak(seen, key, std::memory_order_relaxed)) {
    }
  }

  Tally tally(NodeId node) const {
    Tally tally(num_classes_);
    const std::uint8_t* row = &ballots_[node * stride_];
    const std::size_t places = stride_ / width_;
    for (std::size_t i = 0; i < places; ++i) {
      const std::uint32_t value = width_ == 1 ? row[i] : reinterpret_cast<const std::uint16_t*>(row)[i];
      if (value == 0) continue;
      if (counts_classes_)
        tally.add(static_cast<Label>(i), value);
      else
        tally.add(static_cast<Label>(value - 1));
    }
    return tally;
  }
  /// Class of the nearest vote; kNoLabel without one.
  Label nearest(NodeId node) const {
    return nearest_[node] == 0 ? kNoLabel : static_cast<Label>(~nearest_[node]);
  }
  std::size_t num_classes() const { return num_classes_; }

 private:
  static constexpr std::size_t width(std::size_t largest) { return largest <= 0xFF ? 1 : 2; }

  std::size_t num_classes_;
  bool counts_classes_;
  std::size_t width_, stride_;
  Buffer<std::uint8_t> ballots_;
  Buffer<std::uint32_t> nearest_;
};

}  // namespace copse
