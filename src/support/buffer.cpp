// SPDX-License-Identifier: Apache-2.0
#include "copse/support/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace copse::detail {
namespace {

/// From this size on memory comes from the kernel and goes back to it at once. Below, the C library's
/// allocator is cheaper: it hands on what was freed, where pages fresh from the kernel have to be cleared.
constexpr std::size_t kMapFrom = std::size_t{1} << 21;

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// What is to become of the whole pages in this memory.
void advise(void* data, std::size_t bytes, int advice) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = whole_pages(begin), past = whole_pages(begin + bytes + 1) - whole_pages(1);
  if (past > first) madvise(static_cast<char*>(data) + (first - begin), past - first, advice);
}

/// Zeroed; on huge pages where the kernel has them.
void* map_pages(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  // Room to begin at a huge page's boundary: the kernel gives huge pages only where a whole one fits.
  const std::size_t slack = kHugePage;
  void* mapped = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = whole_pages(aligned + bytes);
  char* const first = static_cast<char*>(mapped);
  if (aligned > address) munmap(mapped, aligned - address);
  if (address + bytes + slack > end) munmap(first + (end - address), address + bytes + slack - end);
  void* pointer = first + (aligned - address);
  ask_for_huge_pages(pointer, end - aligned);
  return pointer;
}

}  // namespace

void give_back_pages(void* data, std::size_t bytes) { advise(data, bytes, MADV_DONTNEED); }
/// Advice only: without huge pages all works, more slowly.
void ask_for_huge_pages(void* data, std::size_t bytes) {
  if (bytes >= kMapFrom) advise(data, bytes, MADV_HUGEPAGE);
}

Pages::Pages(std::size_t bytes, Contents contents) : bytes_(bytes) {
  if (bytes == 0) return;
  if (bytes >= kMapFrom) {
    data_ = map_pages(bytes);
    return;
  }
  data_ = contents == Contents::anything ? std::malloc(bytes) : std::calloc(1, bytes);
  if (data_ == nullptr) throw std::bad_alloc();
}

Pages::~Pages() {
  if (bytes_ < kMapFrom)
    std::free(data_);
  else
    munmap(data_, bytes_);
}

void Pages::shrink(std::size_t bytes) noexcept {
  const std::size_t from = std::max(whole_pages(bytes), kMapFrom), end = whole_pages(bytes_);
  if (from >= end) return;
  munmap(static_cast<char*>(data_) + from, end - from);
  bytes_ = from;
}

}  // namespace copse::detail
