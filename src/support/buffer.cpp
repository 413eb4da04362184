// SPDX-License-Identifier: Apache-2.0
#include "copse/support/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace copse::detail {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMapFrom = std::size_t{1} << 18;  // below this the C library's allocator is cheaper

}  // namespace

void* allocate_pages(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes < kMapFrom) {
    if (void* pointer = std::calloc(1, bytes)) return pointer;
    throw std::bad_alloc();
  }
  void* pointer = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pointer == MAP_FAILED) throw std::bad_alloc();
  // Advice only: without huge pages everything works, more slowly.
  if (bytes >= 4 * kHugePage) madvise(pointer, bytes, MADV_HUGEPAGE);
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
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t from = (new_bytes + page - 1) / page * page;
  // Freed as a whole later: the tail stays mapped, but takes no memory.
  if (old_bytes >= kMapFrom && from < old_bytes)
    madvise(static_cast<char*>(pointer) + from, old_bytes - from, MADV_DONTNEED);
}

}  // namespace copse::detail
