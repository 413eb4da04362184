// SPDX-License-Identifier: Apache-2.0
#include "copse/support/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace copse::detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMapFrom = std::size_t{1} << 18;  // below this the C library's allocator is cheaper

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

void* allocate_pages(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes < kMapFrom) {
    if (void* pointer = std::calloc(1, bytes)) return pointer;
    throw std::bad_alloc();
  }
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

void free_pages(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  if (bytes < kMapFrom) {
    std::free(pointer);
  } else {
    munmap(pointer, bytes);
  }
}

void release_tail(void* pointer, std::size_t old_bytes, std::size_t new_bytes) noexcept {
  const std::size_t from = (new_bytes + page_size() - 1) / page_size() * page_size();
  // Freed as a whole later: the tail stays mapped, but takes no memory.
  if (old_bytes >= kMapFrom && from < old_bytes)
    madvise(static_cast<char*>(pointer) + from, old_bytes - from, MADV_DONTNEED);
}

}  // namespace copse::detail
