// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copse/graph/build.hpp"
#include "graph/edge_buckets.hpp"

namespace copse {

/// A list of edges cut into slices of work. What is done with a slice may depend on the cut, what comes out
/// in the end may not.
class ListedEdges {
 public:
  struct Slice {
    std::size_t chunk, begin, end;
  };

  /// UsageError if columns differ in length or only some edges have weights.
  ListedEdges(std::vector<EdgeChunk> chunks, const std::string& where);

  std::uint64_t size() const { return size_; }
  bool has_weights() const { return has_weights_; }
  std::size_t num_slices() const { return slices_.size(); }

  EdgeColumns columns(std::size_t s) const {
    const Slice slice = slices_[s];
    const EdgeChunk& chunk = chunks_[slice.chunk];
    return {chunk.u.data() + slice.begin, chunk.v.data() + slice.begin,
            has_weights_ ? chunk.weight.data() + slice.begin : nullptr, slice.end - slice.begin};
  }

  /// The slice is not needed any more. A chunk goes with the last of its slices; thread-safe.
  void free_slice(std::size_t s);

 private:
  std::vector<EdgeChunk> chunks_;
  std::vector<Slice> slices_;
  std::vector<std::uint32_t> slices_left_;  // of each chunk
  std::uint64_t size_ = 0;
  bool has_weights_ = false;
};

}  // namespace copse
