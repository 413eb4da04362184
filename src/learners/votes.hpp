// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "copse/support/buffer.hpp"
#include "trees/prefetch.hpp"

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
    if (total_ == 0) return unreached(prior);
    Label best = 0;
    for (Label c = 1, end = static_cast<Label>(counts_.size()); c < end; ++c) {
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

/// Orders votes by distance, to within 1 %, then by class: what decides a tie, in half a word. Non-negative
/// doubles order like their bits; of these the seven upper ones of the fraction are taken, rounded like a
/// float, and nine of the exponent: a float's eight would not tell resistances of the lightest edges apart.
inline std::uint32_t nearness(double distance, Label label) {
  constexpr std::uint64_t kLeast = std::uint64_t{1023 - 160} << 7;  // 2^-160: all below are as near
  const std::uint64_t place = (std::bit_cast<std::uint64_t>(distance) + (std::uint64_t{1} << 28)) >> 45;
  return static_cast<std::uint32_t>(std::clamp(place, kLeast, kLeast + 0xFFFF) - kLeast) << 16 | label;
}

/// A vote in a word: the nearer, the larger.
inline std::uint32_t vote_of(double distance, Label label) { return ~nearness(distance, label); }
constexpr std::uint32_t kNoVote = 0;  // what kNoLabel would be
inline Label label_in(std::uint32_t vote) { return static_cast<Label>(~vote); }
/// The same vote for another label.
inline std::uint32_t vote_for(Label label, std::uint32_t vote) { return (vote | 0xFFFF) ^ label; }

/// The votes of a committee for all nodes, tree by tree, in memory that does not grow with trees times
/// classes: either a counter a class or a ballot a tree, whichever is smaller, in bytes where they
/// suffice; and the nearest vote of each node, for ties. All of a node lies together, so that a vote waits
/// for memory once. Trees may vote at the same time: all updates commute, so the outcome is the same in any
/// order.
class Votes {
 public:
  /// `at_once` trees may vote at the same time; updates need not be atomic for one.
  Votes(std::uint64_t num_nodes, std::size_t num_classes, std::uint32_t num_trees, int at_once)
      : num_classes_(num_classes),
        is_shared_(at_once > 1),
        counts_classes_(num_classes * width(num_trees) <= num_trees * width(num_classes)),
        width_(counts_classes_ ? width(num_trees) : width(num_classes)),
        num_places_(counts_classes_ ? num_classes : num_trees),
        stride_(bytes_per_node(num_classes, num_trees) / sizeof(std::uint32_t)),
        records_(num_nodes * stride_) {}

  static std::uint64_t bytes_per_node(std::size_t num_classes, std::uint32_t num_trees) {
    const std::size_t ballots = std::min(num_classes * width(num_trees), num_trees * width(num_classes));
    return sizeof(std::uint32_t) * (1 + (ballots + 3) / sizeof(std::uint32_t));
  }

  void add(NodeId node, std::uint32_t tree, std::uint32_t vote) {
    std::uint32_t* record = &records_[node * stride_];
    auto* row = reinterpret_cast<std::uint8_t*>(record + 1);
    const Label label = label_in(vote);
    if (counts_classes_) {
      if (width_ == 1)
        count_up(row[label]);
      else
        count_up(reinterpret_cast<std::uint16_t*>(row)[label]);
    } else if (width_ == 1) {
      row[tree] = static_cast<std::uint8_t>(label + 1);
    } else {
      reinterpret_cast<std::uint16_t*>(row)[tree] = static_cast<std::uint16_t>(label + 1);
    }
    raise(*record, vote);
  }

  /// Asks for the memory that add() will write to.
  [[gnu::always_inline]] void fetch(NodeId node) const { prefetch(records_.data() + node * stride_); }

  Tally tally(NodeId node) const {
    Tally tally(num_classes_);
    const auto* row = reinterpret_cast<const std::uint8_t*>(&records_[node * stride_] + 1);
    for (std::size_t i = 0; i < num_places_; ++i) {
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
    const std::uint32_t nearest = records_[node * stride_];
    return nearest == kNoVote ? kNoLabel : label_in(nearest);
  }
  std::size_t num_classes() const { return num_classes_; }

 private:
  static constexpr std::size_t width(std::size_t largest) { return largest <= 0xFF ? 1 : 2; }

  template <class Word>
  void count_up(Word& word) const {
    if (is_shared_)
      std::atomic_ref<Word>(word).fetch_add(1, std::memory_order_relaxed);
    else
      ++word;
  }
  void raise(std::uint32_t& nearest, std::uint32_t vote) const {
    if (!is_shared_) {
      const std::uint32_t is_nearer = vote > nearest;  // by chance: a branch would often guess wrong
      nearest ^= (nearest ^ vote) & (0 - is_nearer);
      return;
    }
    std::atomic_ref<std::uint32_t> shared(nearest);
    std::uint32_t seen = shared.load(std::memory_order_relaxed);
    while (vote > seen && !shared.compare_exchange_weak(seen, vote, std::memory_order_relaxed)) {
    }
  }

  std::size_t num_classes_;
  bool is_shared_;
  bool counts_classes_;
  std::size_t width_, num_places_;  // of counters or ballots, whose width is in bytes
  std::size_t stride_;              // words a node: the nearest vote, then the places
  Buffer<std::uint32_t> records_;
};

}  // namespace copse
