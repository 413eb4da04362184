// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>

#include "copse/graph/types.hpp"

namespace copse {

/// The nodes that a walk has come by, in pieces of a size: a thousand walks whose lengths come and go would
/// leave an allocator's memory in shreds, and the pieces that one of them frees are the ones that the next
/// takes, while they are in the cache.
class WalkPath {
  struct Piece {
    static constexpr std::uint32_t kSize = 30;
    Piece* before;  // the one that it goes on from; of a free one, the next free one
    std::array<NodeId, kSize> nodes;
  };
  static_assert(sizeof(Piece) == 128);

 public:
  /// Where the paths of one thread get their pieces from.
  class Pieces {
   public:
    Pieces() = default;
    Pieces(const Pieces&) = delete;
    Pieces& operator=(const Pieces&) = delete;

   private:
    friend class WalkPath;
    Piece* take() {
      if (free_ == nullptr) return &all_.emplace_back();
      return std::exchange(free_, free_->before);
    }
    void give(Piece* piece) { piece->before = std::exchange(free_, piece); }

    std::deque<Piece> all_;
    Piece* free_ = nullptr;
  };

  bool empty() const { return last_ == nullptr; }
  NodeId back() const { return last_->nodes[in_last_ - 1]; }

  /// The node `steps` in front of the last one, fewer than a piece holds; kNoNode if the path is shorter.
  NodeId before_back(std::uint32_t steps) const {
    if (in_last_ > steps) return last_->nodes[in_last_ - 1 - steps];
    return last_->before == nullptr ? kNoNode : last_->before->nodes[Piece::kSize + in_last_ - 1 - steps];
  }

  void push_back(NodeId node, Pieces& pieces) {
    if (last_ == nullptr || in_last_ == Piece::kSize) {
      Piece* piece = pieces.take();
      piece->before = std::exchange(last_, piece);
      in_last_ = 0;
    }
    last_->nodes[in_last_++] = node;
  }

  NodeId pop_back(Pieces& pieces) {
    const NodeId node = last_->nodes[--in_last_];
    if (in_last_ == 0) {
      Piece* piece = std::exchange(last_, last_->before);
      pieces.give(piece);
      in_last_ = Piece::kSize;
    }
    return node;
  }

 private:
  Piece* last_ = nullptr;  // its memory is that of the pieces
  std::uint32_t in_last_ = 0;
};

}  // namespace copse
