// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/simd.hpp"

namespace copse {

namespace detail {

// Every key goes where the number of smaller ones says: comparisons without branches, since nothing predicts
// how those of random keys end, of one key with all others at once. Equal keys spoil the sum of the ranks:
// then nothing is changed. Reads whole registers, whatever lies behind the row.
template <std::size_t kRegisters, std::size_t register_bytes, class Key>
[[gnu::always_inline]] inline bool sort_by_ranks(Key* row, std::size_t size) {
  using Rank = std::make_signed_t<Key>;
  constexpr std::size_t kLanes = register_bytes / sizeof(Key);
  Register<Key, register_bytes> keys[kRegisters];
  Register<Rank, register_bytes> ranks[kRegisters] = {};
  for (std::size_t r = 0; r < kRegisters; ++r) load_lanes(row + r * kLanes, keys[r]);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t r = 0; r < kRegisters; ++r) ranks[r] -= row[i] < keys[r];  // -1 where that is so
  std::array<Key, kRegisters * kLanes> before;
  std::array<Rank, kRegisters * kLanes> places;
  for (std::size_t r = 0; r < kRegisters; ++r) {
    store_lanes(keys[r], before.data() + r * kLanes);
    store_lanes(ranks[r], places.data() + r * kLanes);
  }
  std::size_t sum_of_ranks = 0;
  for (std::size_t i = 0; i < size; ++i) {
    row[places[i]] = before[i];
    sum_of_ranks += static_cast<std::size_t>(places[i]);
  }
  if (sum_of_ranks == size * (size - 1) / 2) return true;
  std::copy_n(before.begin(), size, row);
  return false;
}

// Digit by digit of the neighbor, from the last one on. What lies below it in a key, a weight, is looked at
// only where neighbors are equal.
template <class Key>
void sort_by_digits(Key* row, std::size_t size, unsigned neighbor_bits, std::vector<Key>& spare) {
  constexpr unsigned kDigit = 8, kBelow = std::numeric_limits<Key>::digits - 32;
  spare.resize(std::max(spare.size(), size));
  Key *from = row, *to = spare.data();
  for (unsigned done = 0; done < neighbor_bits; done += kDigit, std::swap(from, to)) {
    const unsigned shift = kBelow + done;
    std::array<std::size_t, std::size_t{1} << kDigit> places{};
    for (std::size_t i = 0; i < size; ++i) ++places[(from[i] >> shift) % places.size()];
    std::size_t begin = 0;
    for (std::size_t& place : places) begin += std::exchange(place, begin);
    for (std::size_t i = 0; i < size; ++i) to[places[(from[i] >> shift) % places.size()]++] = from[i];
  }
  if (from != row) std::copy_n(from, size, row);
  if constexpr (kBelow != 0) {
    for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
      while (end < size && row[end] >> kBelow == row[begin] >> kBelow) ++end;
      if (end - begin > 1) std::sort(row + begin, row + end);
    }
  }
}

// Of rows that follow each other, `ends` says where each does. The longest go to `sort_long`.
template <class Key, class SortLong>
struct SortRows {
  static constexpr bool kWidest = true;
  const SortLong& sort_long;

  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(Key* keys, const std::uint64_t* ends, std::size_t num_rows) const {
    constexpr std::size_t kLanes = register_bytes / sizeof(Key);
    for (std::size_t begin = 0, row = 0; row < num_rows; begin = ends[row++]) {
      Key* const first = keys + begin;
      const std::size_t size = ends[row] - begin;
      if (size < 2) continue;
      if (size <= kLanes       ? sort_by_ranks<1, register_bytes>(first, size)
          : size <= 2 * kLanes ? sort_by_ranks<2, register_bytes>(first, size)
                               : size <= 4 * kLanes && sort_by_ranks<4, register_bytes>(first, size))
        continue;
      sort_long(std::span<Key>(first, size));
    }
  }
};

}  // namespace detail

/// Sorts the keys of rows; the neighbor, of `neighbor_bits` bits, is in the upper 32 of a key. Keeps its
/// memory for the next row.
template <class Key>
class RowSorter {
 public:
  /// So many keys more have to be there behind the last row; what they are does not matter.
  static constexpr std::size_t kBehind = 64;

  explicit RowSorter(unsigned neighbor_bits = 32) : neighbor_bits_(neighbor_bits) {}

  /// Rows that follow each other: `ends` says where each does.
  void sort(Key* keys, std::span<const std::uint64_t> ends) {
    const auto sort_long = [this](std::span<Key> row) { sort_one(row); };
    run_kernel(detail::SortRows<Key, decltype(sort_long)>{sort_long}, keys, ends.data(), ends.size());
  }

 private:
  // From here on counting is faster than comparing; up to here a second copy is not felt.
  static constexpr std::size_t kManyKeys = 64, kMostCopied = std::size_t{1} << 21;

  [[gnu::noinline]] void sort_one(std::span<Key> row) {
    if (std::is_sorted(row.begin(), row.end())) return;  // many lists are
    if (row.size() < kManyKeys || row.size() > kMostCopied)
      std::sort(row.begin(), row.end());
    else
      detail::sort_by_digits(row.data(), row.size(), neighbor_bits_, spare_);
  }

  unsigned neighbor_bits_;
  std::vector<Key> spare_;
};

}  // namespace copse
