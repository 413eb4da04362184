// SPDX-License-Identifier: Apache-2.0
#include "points/point_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

constexpr std::size_t kListsPerBlock = 1024;

bool has(std::span<const NodeId> ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

class Sets {
 public:
  explicit Sets(std::size_t size) : parents_(size), sizes_(size, 1) {
    std::iota(parents_.begin(), parents_.end(), NodeId{0});
  }
  NodeId root(NodeId a) {
    while (parents_[a] != a) a = parents_[a] = parents_[parents_[a]];
    return a;
  }
  bool join(NodeId a, NodeId b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    if (sizes_[a] < sizes_[b] || (sizes_[a] == sizes_[b] && b < a)) std::swap(a, b);
    parents_[b] = a;
    sizes_[a] += sizes_[b];
    return true;
  }
  NodeId size(NodeId root) const { return sizes_[root]; }

 private:
  std::vector<NodeId> parents_, sizes_;
};

struct Pair {
  double discrepancy;
  NodeId low, high;
  bool operator<(const Pair& other) const {
    if (discrepancy != other.discrepancy) return discrepancy < other.discrepancy;
    return low != other.low ? low < other.low : high < other.high;
  }
};

// Boruvka's algorithm on the components: in a round each of them, but the largest, finds the shortest pair
// that leaves it. Such a pair belongs to the minimum spanning tree (the cut property; pairs are in a strict
// order), so that all of a round are taken. The largest is never searched from, and a point whose nearest
// stranger is still one is not searched again: with one large component and some small ones the cost is that
// of the small ones against all points.
class Joiner {
 public:
  Joiner(const PairDiscrepancy& exact, const KeySource& keys, const PairList& pairs,
         const Execution& execution)
      : exact_(exact),
        keys_(keys),
        execution_(execution),
        sets_(keys.num_points()),
        roots_(keys.num_points()),
        nearest_(keys.num_points(), kNoNode),
        distances_(keys.num_points()) {
    for (const PairChunk& chunk : pairs)
      for (std::size_t i = 0; i < chunk.u.size(); ++i) sets_.join(chunk.u[i], chunk.v[i]);
  }

  PairChunk run() {
    PairChunk result;
    while (find_roots() > 1) {
      search();
      for (const auto& pair : shortest_of_components())
        if (pair && sets_.join(pair->low, pair->high)) result.add(pair->low, pair->high, pair->discrepancy);
    }
    return result;
  }

 private:
  std::size_t find_roots() {
    std::size_t count = 0;
    largest_ = kNoNode;
    for (NodeId i = 0; i < roots_.size(); ++i) {
      roots_[i] = sets_.root(i);
      if (roots_[i] != i) continue;
      ++count;
      if (largest_ == kNoNode || sets_.size(i) > sets_.size(largest_)) largest_ = i;
    }
    return count;
  }

  void search() {
    std::vector<NodeId> rows;
    for (NodeId i = 0; i < roots_.size(); ++i)
      if (roots_[i] != largest_ && (nearest_[i] == kNoNode || roots_[nearest_[i]] == roots_[i])) {
        nearest_[i] = kNoNode;
        rows.push_back(i);
      }
    std::vector<float> thresholds(rows.size(), std::numeric_limits<float>::infinity());
    scan_rows(keys_, rows, execution_, thresholds.data(), ScanColumns::all,
              [&](std::size_t slot, NodeId other, float key) {
                const NodeId row = rows[slot];
                if (roots_[other] == roots_[row] || key >= thresholds[slot]) return;
                const double discrepancy = exact_.of(row, other);
                // Points come in ascending order: of equal ones the first stays.
                if (nearest_[row] != kNoNode && discrepancy >= distances_[row]) return;
                nearest_[row] = other;
                distances_[row] = discrepancy;
                thresholds[slot] = just_above(keys_.reach(row, discrepancy * keys_.scale()));
              });
  }

  std::vector<std::optional<Pair>> shortest_of_components() const {
    std::vector<std::optional<Pair>> shortest(roots_.size());
    for (NodeId i = 0; i < roots_.size(); ++i) {
      if (roots_[i] == largest_) continue;
      const Pair pair{distances_[i], std::min(i, nearest_[i]), std::max(i, nearest_[i])};
      auto& best = shortest[roots_[i]];
      if (!best || pair < *best) best = pair;
    }
    return shortest;
  }

  const PairDiscrepancy& exact_;
  const KeySource& keys_;
  const Execution& execution_;
  Sets sets_;
  std::vector<NodeId> roots_;
  NodeId largest_ = kNoNode;
  std::vector<NodeId> nearest_;  // stranger of each point, kNoNode if not known
  std::vector<double> distances_;
};

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
  const std::vector<NodeId> rows = run_of_rows(0, keys.num_points());
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
  const std::vector<NodeId> rows = run_of_rows(0, static_cast<NodeId>(num_points));
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

PairChunk joining_pairs(const PairDiscrepancy& exact, const KeySource& keys, const PairList& pairs,
                        const Execution& execution) {
  return Joiner(exact, keys, pairs, execution).run();
}

}  // namespace copse
