// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "points/key_source.hpp"
#include "points/scan_keys.hpp"

namespace copse {

enum class ScanColumns { all, above_the_row };

/// visit(slot, point, key) for every pair of rows[slot] and a point whose key is below thresholds[slot],
/// points in ascending order; with `above_the_row` at least those with a higher number than the row. A slot
/// is always visited by one thread, which may lower its threshold meanwhile; keys may then still be those of
/// the old one.
template <class Visit>
void scan_rows(const KeySource& keys, std::span<const NodeId> rows, const Execution& execution,
               const float* thresholds, ScanColumns columns, const Visit& visit) {
  const std::size_t height = keys.rows_at_once(), num_points = keys.num_points();
  const std::size_t width = std::min(keys.columns_at_once(), num_points);
  std::atomic<std::uint64_t> done{0};
  parallel_blocks(execution.threads, rows.size(), height,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    execution.throw_if_cancelled();
                    const auto tile = std::make_unique_for_overwrite<float[]>((end - begin) * width);
                    const auto hits = std::make_unique_for_overwrite<std::uint32_t[]>(width);
                    std::size_t first = columns == ScanColumns::all ? 0 : rows[begin] / width * width;
                    for (; first < num_points; first += width) {
                      const std::size_t count = std::min(width, num_points - first);
                      keys.products(rows.subspan(begin, end - begin), static_cast<NodeId>(first),
                                    static_cast<NodeId>(first + count), tile.get());
                      for (std::size_t slot = begin; slot < end; ++slot) {
                        const KeyRow row{tile.get() + (slot - begin) * count, keys.norms().data() + first,
                                         keys.norms()[rows[slot]], thresholds[slot]};
                        const std::size_t found = scan_keys(row, count, hits.get());
                        for (std::size_t h = 0; h < found; ++h)
                          visit(slot, static_cast<NodeId>(first + hits[h]), row.key(hits[h]));
                      }
                    }
                    execution.report("neighbours", done += end - begin, rows.size());
                  });
}

/// The threshold for "at most `bound`": scanning compares by "below".
inline float just_above(float bound) { return std::nextafter(bound, std::numeric_limits<float>::infinity()); }

}  // namespace copse
