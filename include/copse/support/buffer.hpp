// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace copse {

namespace detail {

enum class Contents { zeros, anything };

/// A block of memory, straight from the kernel if it is large.
class Pages {
 public:
  Pages() = default;
  Pages(std::size_t bytes, Contents contents);
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    Pages taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Pages();

  void* data() const { return data_; }
  /// Gives the memory behind the first `bytes` back.
  void shrink(std::size_t bytes) noexcept;
  void swap(Pages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Of another array: the whole pages in this memory, which is of no use now, go back to the kernel until they
/// are written again.
void give_back_pages(void* data, std::size_t bytes);
/// Of another array, before it is written.
void ask_for_huge_pages(void* data, std::size_t bytes);

}  // namespace detail

/// A large array of plain values straight from the kernel: zeroed without a pass over it, on huge pages
/// where that pays (a random read in 4 KiB pages costs a TLB miss on top of the cache miss), given back
/// to the system at once when freed or shrunk. Move-only; fixed size but for shrink().
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : Buffer(size, detail::Contents::zeros) {}
  /// With any values: for arrays that will be written before they are read. Saves a pass over small ones.
  static Buffer for_overwrite(std::size_t size) { return Buffer(size, detail::Contents::anything); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }

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
    pages_.shrink(size * sizeof(T));
    size_ = size;
  }
  void swap(Buffer& other) noexcept {
    pages_.swap(other.pages_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  Buffer(std::size_t size, detail::Contents contents)
      : pages_(size * sizeof(T), contents), data_(static_cast<T*>(pages_.data())), size_(size) {}

  detail::Pages pages_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace copse
