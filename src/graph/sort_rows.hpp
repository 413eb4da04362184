// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace copse {

namespace detail {

// Every key goes where the number of smaller ones says: comparisons without branches, since nothing predicts
// how those of random keys end. Equal keys spoil the sum of the ranks: then nothing is changed. Places behind
// the row hold the largest key, which is smaller than none.
template <std::size_t kLanes, class Key>
bool sort_by_ranks(Key* row, std::size_t size) {
  std::array<Key, kLanes> keys;
  for (std::size_t i = 0; i < kLanes; ++i) keys[i] = i < size ? row[i] : std::numeric_limits<Key>::max();
  std::array<Key, kLanes> sorted;
  Key sum_of_ranks = 0;
  for (std::size_t i = 0; i < size; ++i) {
    Key rank = 0;
    for (std::size_t j = 0; j < kLanes; ++j) rank += keys[j] < keys[i] ? 1 : 0;
    sorted[rank] = keys[i];
    sum_of_ranks += rank;
  }
  if (sum_of_ranks != size * (size - 1) / 2) return false;
  std::copy_n(sorted.begin(), size, row);
  return true;
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

}  // namespace detail

/// Sorts the keys of rows; the neighbor, of `neighbor_bits` bits, is in the upper 32 of a key. Keeps its
/// memory for the next row.
template <class Key>
class RowSorter {
 public:
  explicit RowSorter(unsigned neighbor_bits = 32) : neighbor_bits_(neighbor_bits) {}

  void sort(std::span<Key> row) {
    const std::size_t size = row.size();
    if (size < 2) return;
    if (size <= 4) {
      if (detail::sort_by_ranks<4>(row.data(), size)) return;
    } else if (size <= 8) {
      if (detail::sort_by_ranks<8>(row.data(), size)) return;
    } else if (size <= 16) {
      if (detail::sort_by_ranks<16>(row.data(), size)) return;
    }
    if (std::is_sorted(row.begin(), row.end())) return;  // many lists are
    if (size < kManyKeys || size > kMostCopied) {
      std::sort(row.begin(), row.end());
    } else {
      detail::sort_by_digits(row.data(), size, neighbor_bits_, spare_);
    }
  }

 private:
  // From here on counting is faster than comparing; up to here a second copy is not felt.
  static constexpr std::size_t kManyKeys = 64, kMostCopied = std::size_t{1} << 21;

  unsigned neighbor_bits_;
  std::vector<Key> spare_;
};

}  // namespace copse
