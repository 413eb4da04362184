// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// Candidates a row: k and some more, so that single precision rarely leaves a doubt about the k-th.
inline std::size_t num_candidates(std::uint32_t k) { return k + (k / 8 > 8 ? k / 8 : 8); }

/// The smallest keys of each row: a heap of fixed size a row, largest on top.
class Candidates {
 public:
  Candidates(std::size_t num_rows, std::size_t size)
      : size_(size), keys_(num_rows * size), ids_(num_rows * size), thresholds_(num_rows) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::fill(keys_.begin(), keys_.end(), kInfinity);
    std::fill(ids_.begin(), ids_.end(), kNoNode);
    std::fill(thresholds_.begin(), thresholds_.end(), kInfinity);
  }

  float threshold(std::size_t row) const { return thresholds_[row]; }
  const float* thresholds() const { return thresholds_.data(); }

  /// key < threshold(row): takes the place of the largest.
  void push(std::size_t row, float key, NodeId id) {
    float* keys = keys_.data() + row * size_;
    NodeId* ids = ids_.data() + row * size_;
    std::size_t hole = 0;
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= size_) break;
      child += child + 1 < size_ && keys[child + 1] > keys[child];
      if (keys[child] <= key) break;
      keys[hole] = keys[child];
      ids[hole] = ids[child];
      hole = child;
    }
    keys[hole] = key;
    ids[hole] = id;
    thresholds_[row] = keys[0];
  }

  /// Those of a row that are there.
  void list(std::size_t row, std::vector<NodeId>& out) const {
    out.clear();
    for (std::size_t i = row * size_; i < (row + 1) * size_; ++i)
      if (ids_[i] != kNoNode) out.push_back(ids_[i]);
  }

 private:
  std::size_t size_;
  Buffer<float> keys_;
  Buffer<NodeId> ids_;
  Buffer<float> thresholds_;
};

}  // namespace copse
