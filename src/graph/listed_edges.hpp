// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copse/graph/build.hpp"

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

  /// body(u, v, weight) for the edges of a slice in order; weight 1 where there are none. Stops if it
  /// returns false.
  template <bool kHasWeights, class Body>
  void visit(std::size_t s, Body&& body) const {
    const Slice slice = slices_[s];
    const EdgeChunk& chunk = chunks_[slice.chunk];
    const NodeId *u = chunk.u.data(), *v = chunk.v.data();
    const Weight* weight = chunk.weight.data();
    for (std::size_t i = slice.begin; i < slice.end; ++i)
      if (!body(u[i], v[i], kHasWeights ? weight[i] : Weight{1})) return;
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
