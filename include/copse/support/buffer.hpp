// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace copse {

namespace detail {
void* allocate_pages(std::size_t bytes);  // zeroed; huge pages where they pay
void free_pages(void* pointer, std::size_t bytes) noexcept;
void release_tail(void* pointer, std::size_t old_bytes, std::size_t new_bytes) noexcept;
}  // namespace detail

/// A large array of plain values straight from the kernel: zeroed without a pass over it, on huge pages
/// where that pays (a random read in 4 KiB pages costs a TLB miss on top of the cache miss), given back
/// to the system at once when freed or shrunk. Move-only; fixed size but for shrink().
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : data_(static_cast<T*>(detail::allocate_pages(size * sizeof(T)))), size_(size), allocated_(size) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Buffer() { detail::free_pages(data_, allocated_ * sizeof(T)); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

  /// Keeps the first `size` values and gives the memory behind them back.
  void shrink(std::size_t size) {
    detail::release_tail(data_, size_ * sizeof(T), size * sizeof(T));
    size_ = size;
  }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(allocated_, other.allocated_);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, allocated_ = 0;
};

}  // namespace copse
