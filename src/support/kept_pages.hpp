// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace copse::detail {

/// From this size on memory comes from the kernel; below, the C library's allocator is cheaper.
constexpr std::size_t kMapFrom = std::size_t{1} << 18;

std::size_t page_size();
std::size_t whole_pages(std::size_t bytes);
/// Zeroed; on huge pages where they pay.
void* map_pages(std::size_t bytes);
void unmap_pages(void* pointer, std::size_t bytes) noexcept;

/// Freed memory, by address, and neighbours joined. The first place where a block fits is taken: tasks of the
/// same kind then lay out their blocks alike, and what was split is whole again when all are freed.
class KeptPages {
 public:
  ~KeptPages();

  struct Block {
    void* data;
    bool is_fresh;  // and so zeroed
  };
  Block take(std::size_t bytes);
  void give(void* pointer, std::size_t bytes) noexcept;

  /// The pool of this thread, if it uses one.
  static std::shared_ptr<KeptPages>& current();

 private:
  std::mutex mutex_;
  std::map<char*, std::size_t> free_;  // bytes, by where they begin
};

}  // namespace copse::detail
