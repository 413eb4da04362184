// SPDX-License-Identifier: Apache-2.0
#include "graph/listed_edges.hpp"

#include <algorithm>
#include <atomic>

#include "copse/support/error.hpp"
#include "graph/release_pages.hpp"

namespace copse {
namespace {

constexpr std::size_t kEdgesPerSlice = std::size_t{1} << 18;

}  // namespace

ListedEdges::ListedEdges(std::vector<EdgeChunk> chunks, const std::string& where)
    : chunks_(std::move(chunks)), slices_left_(chunks_.size()) {
  bool has_plain = false;
  for (std::size_t c = 0; c < chunks_.size(); ++c) {
    const EdgeChunk& chunk = chunks_[c];
    const std::size_t count = chunk.u.size();
    if (count == 0) continue;
    (chunk.weight.empty() ? has_plain : has_weights_) = true;
    if (chunk.v.size() != count || (!chunk.weight.empty() && chunk.weight.size() != count))
      throw UsageError{where, "a chunk of edges has columns of different lengths",
                       "give one entry an edge in each"};
    size_ += count;
    for (std::size_t begin = 0; begin < count; begin += kEdgesPerSlice, ++slices_left_[c])
      slices_.push_back({c, begin, std::min(begin + kEdgesPerSlice, count)});
  }
  if (has_plain && has_weights_)
    throw UsageError{where, "some edges have weights and some have none",
                     "give all or none of them a weight"};
}

void ListedEdges::free_slice(std::size_t s) {
  const std::size_t chunk = slices_[s].chunk;
  const std::atomic_ref<std::uint32_t> left(slices_left_[chunk]);
  if (left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  EdgeChunk gone = std::move(chunks_[chunk]);
  const auto release = [](auto& column) { release_pages(column.data(), column.size() * sizeof(column[0])); };
  release(gone.u);
  release(gone.v);
  release(gone.weight);
}

}  // namespace copse
