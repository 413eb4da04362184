// SPDX-License-Identifier: Apache-2.0
#include "copse/support/page_pools.hpp"

#include <cstdint>
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
  const std::size_t wanted = whole_lines(bytes);
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
  release();  // too small for this one: else what was freed and what is new would add up
  const std::size_t mapped = whole_pages(wanted + 4 * kLine);  // room for the lines of its parts
  auto* begin = static_cast<char*>(map_pages(mapped));
  put(begin + wanted, mapped - wanted);
  return {begin, true};
}

void KeptPages::give(void* pointer, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  put(static_cast<char*>(pointer), whole_lines(bytes));
}

void KeptPages::release() noexcept {
  for (auto at = free_.begin(); at != free_.end();) {
    char *const begin = at->first, *const end = begin + at->second;
    const std::size_t in_first_page = reinterpret_cast<std::uintptr_t>(begin) % page_size();
    const std::size_t in_front = in_first_page == 0 ? 0 : page_size() - in_first_page;
    const std::size_t pages =
        at->second <= in_front ? 0 : (at->second - in_front) / page_size() * page_size();
    if (pages == 0) {
      ++at;
      continue;
    }
    unmap_pages(begin + in_front, pages);
    at->second = in_front;
    at = in_front == 0 ? free_.erase(at) : std::next(at);
    if (char* behind = begin + in_front + pages; behind != end)
      put(behind, static_cast<std::size_t>(end - behind));
  }
}

void KeptPages::put(char* begin, std::size_t size) noexcept {
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
  } catch (const std::bad_alloc&) {  // lost to the pool: to say so would take memory, too
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
