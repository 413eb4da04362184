// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "copse/graph/types.hpp"
#include "trees/walk_path.hpp"

namespace copse {

/// Walks that have begun and not reached the tree, by numbers from 1 on. One that runs into the path of
/// another hangs on to it, and rests until the node where it does so is popped or joins the tree.
class HangingWalks {
 public:
  explicit HangingWalks(std::uint32_t most) : walks_(most + 1) {
    free_.reserve(most);
    for (std::uint32_t walk = most; walk >= 1; --walk) free_.push_back(walk);
  }

  bool can_begin() const { return !free_.empty(); }
  bool all_ended() const { return free_.size() + 1 == walks_.size(); }
  std::uint32_t begin(NodeId start) {
    const std::uint32_t walk = free_.back();
    free_.pop_back();
    here(walk) = start;
    return walk;
  }

  WalkPath& path(std::uint32_t walk) { return walks_[walk].path; }
  /// Where it stands: behind the last node of its path.
  NodeId& here(std::uint32_t walk) { return walks_[walk].here; }

  void hang(std::uint32_t walk, std::uint32_t on) {
    walks_[walk].parent = on;
    walks_[walk].next_sibling = std::exchange(walks_[on].first_child, walk);
  }
  std::uint32_t hangs_on(std::uint32_t walk) const { return walks_[walk].parent; }
  /// The one under way at the end of the chain.
  std::uint32_t root_of(std::uint32_t walk) const {
    while (walks_[walk].parent != 0) walk = walks_[walk].parent;
    return walk;
  }

  /// Those that hang on to `walk` at a node that it has lost go on.
  template <class HasNode>
  void wake_those_cut_off(std::uint32_t walk, const HasNode& has_node) {
    std::uint32_t child = std::exchange(walks_[walk].first_child, 0);
    while (child != 0) {
      const std::uint32_t sibling = walks_[child].next_sibling;
      if (has_node(here(child)))
        hang(child, walk);
      else
        wake(child);
      child = sibling;
    }
  }
  /// Its path has joined the tree: all that hang on to it go on, and will find that out.
  void end(std::uint32_t walk) {
    for (std::uint32_t child = walks_[walk].first_child; child != 0; child = walks_[child].next_sibling)
      wake(child);
    walks_[walk].first_child = 0;
    free_.push_back(walk);
  }

  bool has_woken() const { return !woken_.empty(); }
  std::uint32_t take_woken() {
    const std::uint32_t walk = woken_.back();
    woken_.pop_back();
    return walk;
  }

 private:
  struct Walk {
    WalkPath path;  // along the arrows
    NodeId here = 0;
    std::uint32_t parent = 0;  // the walk that it hangs on, at its node `here`; 0 for one that is under way
    std::uint32_t first_child = 0, next_sibling = 0;
  };

  void wake(std::uint32_t walk) {
    walks_[walk].parent = 0;
    woken_.push_back(walk);
  }

  std::vector<Walk> walks_;  // the one at 0 is none
  std::vector<std::uint32_t> free_, woken_;
};

}  // namespace copse
