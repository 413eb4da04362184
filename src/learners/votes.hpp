// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
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

/// What one tree says of one node, in 4 bytes: memory of zeros is of nodes without a vote.
struct Vote {
  std::uint16_t nearness = 0;  // 0: there is none
  Label label = 0;

  bool exists() const { return nearness != 0; }
  /// Of votes as near, the lower class counts as nearer.
  bool is_nearer_than(Vote other) const {
    return nearness != other.nearness ? nearness > other.nearness : label < other.label;
  }
};

/// A vote for `label` by a labelled node at `distance`, which is told to within 1 %. Non-negative doubles
/// order like their bits; of these the seven upper ones of the fraction are taken, rounded like a float, and
/// nine of the exponent: a float's eight would not tell resistances of the lightest edges apart.
inline Vote vote_of(double distance, Label label) {
  constexpr std::uint64_t kLeast = std::uint64_t{1023 - 160} << 7;  // 2^-160: all below are as near
  const std::uint64_t place = (std::bit_cast<std::uint64_t>(distance) + (std::uint64_t{1} << 28)) >> 45;
  return {static_cast<std::uint16_t>(kLeast + 0xFFFF - std::clamp(place, kLeast, kLeast + 0xFFFE)), label};
}

/// Numbers below 65,536: the low bytes, and behind them, where `largest` needs them, the high ones.
class SmallNumbers {
 public:
  static constexpr std::uint64_t bytes_each(std::size_t largest) { return largest <= 0xFF ? 1 : 2; }

  SmallNumbers(std::size_t size, std::size_t largest) : size_(size), bytes_(size * bytes_each(largest)) {}

  std::uint32_t operator[](std::size_t i) const {
    return bytes_[i] | (bytes_.size() > size_ ? std::uint32_t{bytes_[size_ + i]} << 8 : 0);
  }
  void set(std::size_t i, std::uint32_t value) {
    bytes_[i] = static_cast<std::uint8_t>(value);
    if (bytes_.size() > size_) bytes_[size_ + i] = static_cast<std::uint8_t>(value >> 8);
  }
  void count_up(std::size_t i) {
    if (bytes_[i]++ == 0xFF) ++bytes_[size_ + i];
  }
  std::span<std::byte> bytes() { return std::as_writable_bytes(bytes_.span()); }

 private:
  std::size_t size_;
  Buffer<std::uint8_t> bytes_;
};

/// The votes of a committee for all nodes, in memory that does not grow with trees times classes: of each
/// node the nearest vote, for ties, and either a counter per class or a ballot per tree, whichever is
/// smaller.
class Votes {
 public:
  Votes(std::uint64_t num_nodes, std::size_t num_classes, std::uint32_t num_trees)
      : num_classes_(num_classes),
        counts_classes_(counter_bytes(num_classes, num_trees) <= ballot_bytes(num_classes, num_trees)),
        per_node_(counts_classes_ ? num_classes : num_trees),
        nearest_(num_nodes),
        numbers_(num_nodes * per_node_, counts_classes_ ? num_trees : num_classes),
        locks_(std::make_unique<std::mutex[]>(num_nodes / kBlock + 1)) {}

  static std::uint64_t bytes_per_node(std::size_t num_classes, std::uint32_t num_trees) {
    return sizeof(Vote) +
           std::min(counter_bytes(num_classes, num_trees), ballot_bytes(num_classes, num_trees));
  }

  /// What a tree says, by node. Trees may do so at the same time, each in another block: the outcome is the
  /// same in any order.
  void add(std::uint32_t tree, std::span<const Vote> votes) {
    const std::size_t num_blocks = votes.size() / kBlock + 1;
    for (std::size_t i = 0; i < num_blocks; ++i) {
      const std::size_t block = (i + tree * num_blocks / 2) % num_blocks, first = block * kBlock;
      const std::lock_guard lock(locks_[block]);
      for (std::size_t node = first; node < std::min(first + kBlock, votes.size()); ++node)
        if (votes[node].exists()) add(node, tree, votes[node]);
    }
  }

  Tally tally(NodeId node) const {
    Tally tally(num_classes_);
    for (std::size_t i = 0; i < per_node_; ++i) {
      const std::uint32_t number = numbers_[node * per_node_ + i];
      if (number == 0) continue;
      if (counts_classes_)
        tally.add(static_cast<Label>(i), number);
      else
        tally.add(static_cast<Label>(number - 1));
    }
    return tally;
  }
  /// Class of the nearest vote; kNoLabel without one.
  Label nearest(NodeId node) const { return nearest_[node].exists() ? nearest_[node].label : kNoLabel; }
  std::size_t num_classes() const { return num_classes_; }
  std::array<std::span<std::byte>, 2> state() {
    return {std::as_writable_bytes(nearest_.span()), numbers_.bytes()};
  }

 private:
  static std::uint64_t counter_bytes(std::size_t num_classes, std::uint32_t num_trees) {
    return num_classes * SmallNumbers::bytes_each(num_trees);
  }
  static std::uint64_t ballot_bytes(std::size_t num_classes, std::uint32_t num_trees) {
    return num_trees * SmallNumbers::bytes_each(num_classes);
  }
  void add(std::size_t node, std::uint32_t tree, Vote vote) {
    if (counts_classes_)
      numbers_.count_up(node * per_node_ + vote.label);
    else
      numbers_.set(node * per_node_ + tree, vote.label + 1u);  // 0: the tree has not voted
    if (vote.is_nearer_than(nearest_[node])) nearest_[node] = vote;
  }

  static constexpr std::size_t kBlock = 1 << 12;  // nodes

  std::size_t num_classes_;
  bool counts_classes_;
  std::size_t per_node_;  // numbers: counters or ballots
  Buffer<Vote> nearest_;
  SmallNumbers numbers_;
  std::unique_ptr<std::mutex[]> locks_;  // by block of nodes
};

}  // namespace copse
