// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// Nodes by degree, the least first, first in first out among equals: a sweep in the order of the nodes
/// stays one, which caches like. Degrees from 32 on are told apart only to a quarter of an octave.
///
/// A node that moves down is listed anew and its old listing goes stale; one that moves up is moved when
/// its turn comes. Every node has one listing that counts, so that no list is ever searched.
class DegreeQueue {
 public:
  explicit DegreeQueue(NodeId num_nodes) : listed_(num_nodes, kNowhere) {}

  /// `degree` has changed, or the node is new.
  void update(NodeId node, std::uint32_t degree) {
    const std::uint8_t bucket = bucket_of(degree);
    if (bucket >= listed_[node]) return;
    list(node, bucket);
  }

  /// The next node, or kNoNode; degree_of(node) is asked for what it has become.
  template <class DegreeOf>
  NodeId pop(DegreeOf&& degree_of) {
    for (;;) {
      while (lowest_ < kBuckets && heads_[lowest_] == buckets_[lowest_].size()) {
        buckets_[lowest_].clear();
        heads_[lowest_++] = 0;
      }
      if (lowest_ == kBuckets) return kNoNode;
      const NodeId node = buckets_[lowest_][heads_[lowest_]++];
      if (listed_[node] != lowest_) continue;
      const std::uint8_t bucket = bucket_of(degree_of(node));
      listed_[node] = kNowhere;
      if (bucket <= lowest_) return node;
      list(node, bucket);
    }
  }

 private:
  static constexpr std::uint32_t kSingle = 32;
  static constexpr std::size_t kBuckets = kSingle + 4 * 27;
  static constexpr std::uint8_t kNowhere = 255;

  static std::uint8_t bucket_of(std::uint32_t degree) {
    if (degree < kSingle) return static_cast<std::uint8_t>(degree);
    const int octave = std::bit_width(degree) - 1;
    return static_cast<std::uint8_t>(kSingle + 4 * static_cast<std::uint32_t>(octave - 5) +
                                     (degree >> (octave - 2) & 3));
  }
  void list(NodeId node, std::uint8_t bucket) {
    listed_[node] = bucket;
    buckets_[bucket].push_back(node);
    lowest_ = std::min<std::size_t>(lowest_, bucket);
  }

  std::array<std::vector<NodeId>, kBuckets> buckets_;
  std::array<std::size_t, kBuckets> heads_{};
  std::vector<std::uint8_t> listed_;  // bucket of the listing that counts
  std::size_t lowest_ = kBuckets;
};

}  // namespace copse
