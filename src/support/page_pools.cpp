// SPDX-License-Identifier: Apache-2.0
#include "copse/support/page_pools.hpp"

#include <iterator>
#include <new>
#include <utility>

#include "support/kept_pages.hpp"

namespace copse {
namespace detail {

KeptPages::~KeptPages() {
  for (const auto& [begin, bytes] : free_) unmap_pages(begin, bytes);
}

KeptPages::Block KeptPages::take(std::size_t bytes) {
  const std::size_t wanted = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    if (at->second < wanted) continue;
    auto range = free_.extract(at);  // and put back shorter: nothing is allocated that could fail
    char* begin = range.key();
    range.key() += wanted;
    range.mapped() -= wanted;
    if (range.mapped() > 0) free_.insert(std::move(range));
    return {begin, false};
  }
  return {map_pages(wanted), true};
}

void KeptPages::give(void* pointer, std::size_t bytes) noexcept {
  auto* begin = static_cast<char*>(pointer);
  std::size_t size = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  auto behind = free_.lower_bound(begin);
  if (behind != free_.end() && behind->first == begin + size) {
    size += behind->second;
    behind = free_.erase(behind);
  }
  if (behind != free_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  try {
    free_.emplace(begin, size);
  } catch (const std::bad_alloc&) {
    unmap_pages(begin, size);
  }
}

std::shared_ptr<KeptPages>& KeptPages::current() {
  thread_local std::shared_ptr<KeptPages> pool;
  return pool;
}

}  // namespace detail

PagePools::Use::Use(PagePools& pools) : pools_(pools), before_(detail::KeptPages::current()) {
  {
    const std::lock_guard lock(pools.mutex_);
    if (!pools.idle_.empty()) {
      mine_ = std::move(pools.idle_.back());
      pools.idle_.pop_back();
    }
  }
  if (mine_ == nullptr) mine_ = std::make_shared<detail::KeptPages>();
  detail::KeptPages::current() = mine_;
}

PagePools::Use::~Use() {
  detail::KeptPages::current() = std::move(before_);
  const std::lock_guard lock(pools_.mutex_);
  pools_.idle_.push_back(std::move(mine_));
}

}  // namespace copse
