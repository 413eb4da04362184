// SPDX-License-Identifier: Apache-2.0
#include "graph/block_pool.hpp"

#include <sys/mman.h>

#include "graph/release_pages.hpp"

namespace copse {
namespace {

constexpr std::size_t kSlabBytes = std::size_t{4} << 20;
constexpr std::size_t kMostWarm = (std::size_t{1} << 20) / BlockPool::kBlockBytes;

// All pages of a slab by one call: they will be written to soon, and a fault each costs as much again as
// clearing them. Advice only, for kernels that know it (Linux 5.14).
void fetch_pages([[maybe_unused]] std::byte* slab) {
#ifdef MADV_POPULATE_WRITE
  madvise(slab, kSlabBytes, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

void* BlockPool::take() {
  if (warm_.empty() && released_.empty()) {
    // Large enough for Buffer to begin it at a multiple of 2 MiB. Small pages: blocks are released one by
    // one.
    Buffer<std::byte>& slab = slabs_.emplace_back(kSlabBytes);
    madvise(slab.data(), kSlabBytes, MADV_NOHUGEPAGE);
    if (slabs_.size() > 1) fetch_pages(slab.data());  // the first may be all that is needed
    for (std::size_t at = kSlabBytes; at != 0;) released_.push_back(slab.data() + (at -= kBlockBytes));
  }
  std::vector<void*>& from = warm_.empty() ? released_ : warm_;
  void* const block = from.back();
  from.pop_back();
  return block;
}

void BlockPool::give(void* block) {
  if (warm_.size() < kMostWarm) {
    warm_.push_back(block);
  } else {
    release_pages(block, kBlockBytes);
    released_.push_back(block);
  }
}

}  // namespace copse
