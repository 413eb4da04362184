// SPDX-License-Identifier: Apache-2.0
#include "copse/support/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/kept_pages.hpp"

namespace copse::detail {

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

void* map_pages(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  // Room to begin at a huge page's boundary: the kernel gives huge pages only where a whole one fits.
  const std::size_t slack = bytes >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (slack == 0) return mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (aligned + bytes + page_size() - 1) / page_size() * page_size();
  char* const first = static_cast<char*>(mapped);
  if (aligned > address) munmap(mapped, aligned - address);
  if (address + bytes + slack > end) munmap(first + (end - address), address + bytes + slack - end);
  void* pointer = first + (aligned - address);
  madvise(pointer, bytes, MADV_HUGEPAGE);  // advice only: without huge pages all works, more slowly
  return pointer;
}

void unmap_pages(void* pointer, std::size_t bytes) noexcept { munmap(pointer, bytes); }

Pages::Pages(std::size_t bytes, Contents contents) : bytes_(bytes) {
  if (bytes == 0) return;
  if (bytes < kMapFrom) {
    data_ = contents == Contents::anything ? std::malloc(bytes) : std::calloc(1, bytes);
    if (data_ == nullptr) throw std::bad_alloc();
  } else if (KeptPages::current() != nullptr) {
    pool_ = KeptPages::current();
    const auto block = pool_->take(bytes);
    data_ = block.data;
    if (contents == Contents::zeros && !block.is_fresh) std::memset(data_, 0, bytes);
  } else {
    data_ = map_pages(bytes);
  }
}

Pages::~Pages() {
  if (data_ == nullptr) return;
  if (bytes_ < kMapFrom) {
    std::free(data_);
  } else if (pool_ != nullptr) {
    pool_->give(data_, bytes_);
  } else {
    unmap_pages(data_, bytes_);
  }
}

void Pages::shrink(std::size_t bytes) noexcept {
  const auto rounded = [&](std::size_t size) {
    return pool_ != nullptr ? KeptPages::whole_lines(size) : whole_pages(size);
  };
  const std::size_t from = std::max(rounded(bytes), kMapFrom), end = rounded(bytes_);
  if (from >= end) return;
  char* tail = static_cast<char*>(data_) + from;
  if (pool_ != nullptr)
    pool_->give(tail, end - from);
  else
    unmap_pages(tail, end - from);
  bytes_ = from;
}

}  // namespace copse::detail
