// SPDX-License-Identifier: Apache-2.0
//
// Boruvka's algorithm on the components: in a round each of them, but the largest, finds the shortest pair
// that leaves it. Such a pair belongs to the minimum spanning tree (the cut property; pairs are in a strict
// order), so that all of a round are taken. The largest is never searched from, and a point whose nearest
// stranger is still one is not searched again: with one large component and some small ones the cost is that
// of the small ones against all points.

#include <algorithm>
#include <numeric>
#include <optional>

#include "points/point_pairs.hpp"
#include "points/scan_rows.hpp"

namespace copse {
namespace {

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

PairChunk joining_pairs(const PairDiscrepancy& exact, const KeySource& keys, const PairList& pairs,
                        const Execution& execution) {
  return Joiner(exact, keys, pairs, execution).run();
}

}  // namespace copse
