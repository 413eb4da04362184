// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// What differences of credits need.
__extension__ typedef __int128 SignedWide;
template <class Integer>
using SignedOf = std::conditional_t<sizeof(Integer) == 8, std::int64_t, SignedWide>;

/// How much the branches that meet at a node of a tree are for each class. The smallest cut that gives the
/// node class c weighs (sum over the branches) - credit(c), so the class of most credit is that of the
/// minimum cut. Only classes with credit are listed, by ascending class: nothing grows with the number of
/// classes.
template <class Integer>
class Credits {
 public:
  struct Entry {
    Label label;
    Integer amount;
    bool operator==(const Entry&) const = default;
  };

  Credits() = default;
  Credits(Label label, Integer amount) : entries_{{label, amount}} {}
  bool empty() const { return entries_.empty(); }
  bool operator==(const Credits&) const = default;

  /// What arrives behind an edge of this weight (or a path of which it is the smallest): to disagree costs
  /// no more than cutting it. min-sum messages of a Potts model (Felzenszwalb & Huttenlocher 2006) in
  /// terms of credit; along a path they compose to that of the smallest weight.
  Credits behind(Integer weight) const {
    Integer most = 0;
    for (const Entry& entry : entries_) most = std::max(most, entry.amount);
    const Integer limit = std::min(weight, most);
    Credits result;
    for (const Entry& entry : entries_) {
      if (most - entry.amount < limit)
        result.entries_.push_back({entry.label, limit - (most - entry.amount)});
    }
    return result;
  }

  void add(const Credits& other) {
    merge(other, [](Integer a, Integer b) { return a + b; });
  }
  /// `other` must have been added before.
  void subtract(const Credits& other) {
    merge(other, [](Integer a, Integer b) { return a - b; });
    std::erase_if(entries_, [](const Entry& entry) { return entry.amount == 0; });
  }

  /// By how much a class leads all others, or is behind the best of them.
  SignedOf<Integer> lead(Label label) const {
    Integer own = 0, other = 0;
    for (const Entry& entry : entries_) {
      Integer& most = entry.label == label ? own : other;
      most = std::max(most, entry.amount);
    }
    return static_cast<SignedOf<Integer>>(own - other);
  }

  /// The classes of most credit: one, unless cuts tie.
  std::vector<Label> best() const {
    std::vector<Label> labels;
    Integer most = 0;
    for (const Entry& entry : entries_) {
      if (entry.amount < most) continue;
      if (entry.amount > most) labels.clear();
      most = entry.amount;
      labels.push_back(entry.label);
    }
    return labels;
  }

 private:
  template <class Combine>
  void merge(const Credits& other, Combine&& combine) {
    if (other.entries_.empty()) return;
    std::vector<Entry> merged;
    merged.reserve(entries_.size() + other.entries_.size());
    auto mine = entries_.begin();
    for (const Entry& theirs : other.entries_) {
      while (mine != entries_.end() && mine->label < theirs.label) merged.push_back(*mine++);
      const bool shared = mine != entries_.end() && mine->label == theirs.label;
      merged.push_back({theirs.label, combine(shared ? mine->amount : Integer{0}, theirs.amount)});
      if (shared) ++mine;
    }
    merged.insert(merged.end(), mine, entries_.end());
    entries_.swap(merged);
  }

  std::vector<Entry> entries_;
};

/// What a class leads by in a message, as far as that is sure whatever comes from above. Credits add up and
/// are clipped behind a weight w, and so are leads, at least: x -> clamp(x + lead, -w, w). Composed, from
/// below upwards, such steps are x -> clamp(x + shift, low, high).
template <class Integer>
class SureLead {
 public:
  using Signed = SignedOf<Integer>;

  SureLead(Label label, Signed lead, Integer weight)
      : label_(label), weight_(static_cast<Signed>(weight)), shift_(lead), low_(-weight_), high_(weight_) {}
  /// One more step, above the others.
  void extend(Signed lead, Integer weight) {
    const auto w = static_cast<Signed>(weight);
    const Signed low = std::clamp(shift_ - w, low_, high_);
    high_ = std::clamp(shift_ + w, low_, high_);
    low_ = low;
    shift_ += lead;
  }
  Label label() const { return label_; }
  /// Then the message is all for this class.
  bool is_certain() const { return low_ == weight_; }
  bool may_become_certain() const { return high_ == weight_; }

 private:
  Label label_;
  Signed weight_, shift_, low_, high_;
};

/// Which of two meeting places as near decides: differs from tree to tree, so that they do not err alike.
class TieOrder {
 public:
  TieOrder(std::uint64_t seed, std::uint64_t tree) : salt_(Stream(seed, Purpose::cut_ties, tree).next64()) {}
  bool first(NodeId a, NodeId b) const { return key(a) < key(b); }

 private:
  std::uint64_t key(NodeId node) const {  // a bijection of the salted node: no two are equal
    std::uint64_t x = salt_ ^ node;
    x *= 0x9E3779B97F4A7C15;
    x ^= x >> 32;
    return x * 0xD6E8FEB86659FD93;
  }
  std::uint64_t salt_;
};

}  // namespace copse
