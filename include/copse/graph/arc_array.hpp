// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "copse/graph/types.hpp"

namespace copse {

/// A value an arc in someone else's array, read as Narrow whether it is stored as that or as Wide: SciPy's
/// int64 indices and float64 data are used where they lie, 10^8 of them without a copy. Reading one is the
/// conversion that a copy would have made, so that results have the same bits. A branch a value that always
/// goes the same way; loops that notice take narrow() or visit().
template <class Narrow, class Wide>
class ArcArray {
  static_assert(sizeof(Wide) == 2 * sizeof(Narrow));

 public:
  class Iterator;
  using value_type = Narrow;

  ArcArray() = default;
  /// Whatever a span can be made of: arrays that are as the library makes them.
  template <class Values>
  requires(!std::same_as<Values, ArcArray> && std::convertible_to<const Values&, std::span<const Narrow>>)
      ArcArray(const Values& values) {  // NOLINT: a view of plain arrays is made without saying so
    const std::span<const Narrow> span = values;
    data_ = span.data();
    size_ = span.size();
  }
  explicit ArcArray(std::span<const Wide> values)
      : data_(values.data()), size_(values.size()), is_wide_(true) {}

  std::size_t size() const { return size_; }
  std::size_t size_bytes() const { return size_ << log_bytes(); }
  bool empty() const { return size_ == 0; }
  bool is_wide() const { return is_wide_; }

  Narrow operator[](std::size_t i) const { return value(data_, is_wide_, i); }
  /// As it is stored, for whoever checks it: what does not fit into a Narrow can be seen only here.
  Wide stored(std::size_t i) const { return is_wide_ ? wide()[i] : static_cast<Wide>(narrow()[i]); }
  /// For prefetching.
  const void* address(std::size_t i) const { return static_cast<const char*>(data_) + (i << log_bytes()); }

  Iterator begin() const { return {data_, is_wide_, 0}; }
  Iterator end() const { return {data_, is_wide_, static_cast<std::ptrdiff_t>(size_)}; }
  ArcArray subspan(std::size_t offset, std::size_t count) const {
    return {static_cast<const char*>(data_) + (offset << log_bytes()), count, is_wide_};
  }
  ArcArray first(std::size_t count) const { return {data_, count, is_wide_}; }

  std::span<const Narrow> narrow() const {
    assert(!is_wide_);
    return {static_cast<const Narrow*>(data_), size_};
  }
  std::span<const Wide> wide() const {
    assert(is_wide_);
    return {static_cast<const Wide*>(data_), size_};
  }
  /// Calls body with a span of the values as they are stored: twice compiled, for short loops that are hot.
  template <class Body>
  decltype(auto) visit(Body&& body) const {
    return is_wide_ ? body(wide()) : body(narrow());
  }

 private:
  ArcArray(const void* data, std::size_t size, bool is_wide) : data_(data), size_(size), is_wide_(is_wide) {}

  static Narrow value(const void* data, bool is_wide, std::size_t i) {
    if (is_wide) [[unlikely]]
      return static_cast<Narrow>(static_cast<const Wide*>(data)[i]);
    return static_cast<const Narrow*>(data)[i];
  }
  unsigned log_bytes() const {
    static_assert(sizeof(Narrow) == 4);
    return is_wide_ ? 3 : 2;
  }

  const void* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_wide_ = false;
};

/// Counts places; what it points at is a value, not a reference.
template <class Narrow, class Wide>
class ArcArray<Narrow, Wide>::Iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Narrow;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Narrow;

  Iterator() = default;
  Iterator(const void* data, bool is_wide, std::ptrdiff_t place)
      : data_(data), place_(place), is_wide_(is_wide) {}

  Narrow operator*() const { return ArcArray::value(data_, is_wide_, static_cast<std::size_t>(place_)); }
  Narrow operator[](std::ptrdiff_t steps) const { return *(*this + steps); }
  Iterator& operator+=(std::ptrdiff_t steps) {
    place_ += steps;
    return *this;
  }
  Iterator& operator-=(std::ptrdiff_t steps) { return *this += -steps; }
  Iterator& operator++() { return *this += 1; }
  Iterator& operator--() { return *this -= 1; }
  Iterator operator++(int) {
    const Iterator before = *this;
    ++*this;
    return before;
  }
  Iterator operator--(int) {
    const Iterator before = *this;
    --*this;
    return before;
  }
  friend Iterator operator+(Iterator it, std::ptrdiff_t steps) { return it += steps; }
  friend Iterator operator+(std::ptrdiff_t steps, Iterator it) { return it += steps; }
  friend Iterator operator-(Iterator it, std::ptrdiff_t steps) { return it -= steps; }
  friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) { return a.place_ - b.place_; }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.place_ == b.place_; }
  friend std::strong_ordering operator<=>(const Iterator& a, const Iterator& b) {
    return a.place_ <=> b.place_;
  }

 private:
  const void* data_ = nullptr;
  std::ptrdiff_t place_ = 0;
  bool is_wide_ = false;
};

using NeighborArray = ArcArray<NodeId, std::int64_t>;
using WeightArray = ArcArray<Weight, double>;

}  // namespace copse
