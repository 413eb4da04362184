// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// An entry of a row on its way there. The order of entries is total, weights included, so that it does not
/// matter in which order they arrived.
struct PlainArc {
  NodeId row, neighbor;
  std::uint64_t key() const { return neighbor; }
};
struct WeightedArc {
  NodeId row, neighbor;
  Weight weight;
  // Bits of positive floats sort like their values.
  std::uint64_t key() const { return std::uint64_t{neighbor} << 32 | std::bit_cast<std::uint32_t>(weight); }
};

template <class Arc>
bool comes_before(const Arc& a, const Arc& b) {
  return a.row != b.row ? a.row < b.row : a.key() < b.key();
}

/// Sorts the arcs of a narrow range of rows, by row, neighbor and weight. Keeps its memory for the next call.
template <class Arc>
class ArcSorter {
 public:
  void sort(std::span<Arc> arcs, NodeId first_row, std::size_t num_rows) {
    if (std::is_sorted(arcs.begin(), arcs.end(), comes_before<Arc>)) return;  // many lists are
    if (arcs.size() > kMostCopied) return std::sort(arcs.begin(), arcs.end(), comes_before<Arc>);
    group_by_row(arcs, first_row, num_rows);
    const Arc* from = grouped_.data();
    Arc* to = arcs.data();
    for (std::size_t row = 0; row < num_rows; ++row) {
      const Arc* const end = grouped_.data() + ends_[row];
      if (end - from > kInsertion) {
        const auto size = end - from;
        std::copy(from, end, to);
        std::sort(to, to + size, [](const Arc& a, const Arc& b) { return a.key() < b.key(); });
        to += size;
        from = end;
      } else {
        for (Arc* const row_begin = to; from < end; ++from, ++to) insert(row_begin, to, *from);
      }
    }
  }

 private:
  static constexpr std::ptrdiff_t kInsertion = 32;
  // A range with this many arcs has rows of hubs; a copy of it would be felt.
  static constexpr std::size_t kMostCopied = std::size_t{1} << 21;

  static void insert(Arc* begin, Arc* place, Arc arc) {
    for (; place > begin && arc.key() < place[-1].key(); --place) *place = place[-1];
    *place = arc;
  }

  // ends_[row] is where the row ends in grouped_.
  void group_by_row(std::span<const Arc> arcs, NodeId first_row, std::size_t num_rows) {
    grouped_.resize(std::max(grouped_.size(), arcs.size()));
    ends_.assign(num_rows, 0);
    for (const Arc& arc : arcs) ++ends_[arc.row - first_row];
    std::uint32_t begin = 0;
    for (std::uint32_t& count : ends_) begin += std::exchange(count, begin);
    for (const Arc& arc : arcs) grouped_[ends_[arc.row - first_row]++] = arc;
  }

  std::vector<Arc> grouped_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace copse
