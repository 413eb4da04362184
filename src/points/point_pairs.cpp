// SPDX-License-Identifier: Apache-2.0
#include "points/point_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "points/scan_rows.hpp"

namespace copse {
namespace {

constexpr std::size_t kListsPerBlock = 1024;

bool has(std::span<const NodeId> ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

// A pair in which both have each other is taken from the lower one; any other from the one that has it.
PairList nearest_pairs(const Neighbors& neighbors, Symmetrize symmetrize, int threads) {
  PairList list((neighbors.num_points + kListsPerBlock - 1) / kListsPerBlock);
  parallel_blocks(threads, neighbors.num_points, kListsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    for (std::size_t i = begin; i < end; ++i) {
                      const auto ids = neighbors.of(i);
                      const auto row = static_cast<NodeId>(i);
                      for (std::size_t p = 0; p < ids.size(); ++p) {
                        const bool is_mutual = has(neighbors.of(ids[p]), row);
                        const bool is_taken = is_mutual ? row < ids[p] : symmetrize == Symmetrize::either;
                        if (is_taken) list[block].add(row, ids[p], neighbors.discrepancies_of(i)[p]);
                      }
                    }
                  });
  return list;
}

PairList pairs_within(const PairDiscrepancy& exact, const KeySource& keys, double radius,
                      std::uint64_t max_bytes, const Execution& execution) {
  const double farthest = radius * radius;
  std::vector<NodeId> rows(keys.num_points());
  std::iota(rows.begin(), rows.end(), NodeId{0});
  std::vector<float> thresholds(rows.size());
  for (const NodeId row : rows) thresholds[row] = just_above(keys.reach(row, farthest * keys.scale()));
  PairList list((rows.size() + keys.rows_at_once() - 1) / keys.rows_at_once());
  std::atomic<std::uint64_t> num_pairs{0};
  scan_rows(keys, rows, execution, thresholds.data(), ScanColumns::above_the_row,
            [&](std::size_t row, NodeId other, float) {
              if (other <= row) return;
              const double discrepancy = exact.of(static_cast<NodeId>(row), other);
              if (!(discrepancy <= farthest)) return;
              list[row / keys.rows_at_once()].add(static_cast<NodeId>(row), other, discrepancy);
              if (max_bytes != 0 && ++num_pairs > max_bytes / kBytesPerEdge)
                throw UsageError{"radius",
                                 "more than " + with_commas(max_bytes / kBytesPerEdge) +
                                     " pairs are within it, and their graph would not fit into " +
                                     with_commas(max_bytes) + " bytes",
                                 "give a smaller radius, or use the k nearest neighbours"};
            });
  return list;
}

PairList all_pairs(const PairDiscrepancy& exact, const Execution& execution) {
  const std::size_t num_points = exact.points().num_points;
  std::vector<NodeId> rows(num_points);
  std::iota(rows.begin(), rows.end(), NodeId{0});
  PairList list(num_points);
  std::atomic<std::uint64_t> done{0};
  parallel_for(execution.threads, num_points, [&](std::size_t i) {
    execution.throw_if_cancelled();
    const auto others = std::span<const NodeId>(rows).subspan(i + 1);
    PairChunk& chunk = list[i];
    chunk.u.assign(others.size(), static_cast<NodeId>(i));
    chunk.v.assign(others.begin(), others.end());
    chunk.value.resize(others.size());
    exact.of(static_cast<NodeId>(i), others, chunk.value.data());
    execution.report("pairs", done += others.size(), num_points * (num_points - 1) / 2);
  });
  return list;
}

}  // namespace copse
