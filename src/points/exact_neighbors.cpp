// SPDX-License-Identifier: Apache-2.0
//
// Three steps. (1) Every row keeps the candidates with the smallest single-precision keys. (2) These are
// ranked in double; if the k-th of them is out of reach (key_source.hpp) of every key that was not kept, the
// row is done. (3) The few other rows, those with many points at nearly the k-th distance, are scanned again,
// and whatever is within reach of their k-th is ranked in double. The answer is that of comparing all pairs
// in double, so that nothing about the products (library, processor, order) shows in it.
//
// A key serves both of its rows: blocks of rows meet each other once, as in a round-robin tournament, which
// halves the products.

#include "points/exact_neighbors.hpp"

#include <algorithm>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "points/candidates.hpp"
#include "points/rank_candidates.hpp"
#include "points/round_robin.hpp"
#include "points/scan_keys.hpp"
#include "points/scan_rows.hpp"

namespace copse {
namespace {

std::vector<NodeId> run_of_rows(NodeId begin, NodeId end) {
  std::vector<NodeId> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

// Blocks of rows; how many depends on the number of points alone.
struct Blocks {
  std::uint64_t num_points, size, count;
  explicit Blocks(std::uint64_t points)
      : num_points(points),
        size(std::clamp<std::uint64_t>(points / 32, 128, 1024)),
        count((points + size - 1) / size) {}
  NodeId begin(std::uint64_t block) const { return static_cast<NodeId>(block * size); }
  NodeId end(std::uint64_t block) const {
    return static_cast<NodeId>(std::min(num_points, (block + 1) * size));
  }
};

class Tournament {
 public:
  Tournament(const KeySource& keys, Candidates& candidates, const Execution& execution)
      : keys_(keys), candidates_(candidates), execution_(execution), blocks_(keys.num_points()) {}

  void play() {
    round_robin(blocks_.count, execution_, [&](std::uint64_t a, std::uint64_t b) { meet(a, b); });
  }

 private:
  void meet(std::uint64_t a, std::uint64_t b) {
    execution_.throw_if_cancelled();
    const NodeId first = blocks_.begin(b), last = blocks_.end(b);
    const std::size_t width = last - first, height = keys_.rows_at_once();
    const auto tile = std::make_unique_for_overwrite<float[]>(height * width);
    const auto hits = std::make_unique_for_overwrite<std::uint32_t[]>(width);
    for (NodeId begin = blocks_.begin(a); begin < blocks_.end(a);) {
      const auto end = static_cast<NodeId>(std::min<std::uint64_t>(begin + height, blocks_.end(a)));
      keys_.products(run_of_rows(begin, end), first, last, tile.get());
      for (NodeId row = begin; row < end; ++row) {
        const KeyRow keys{tile.get() + (row - begin) * width, keys_.norms().data() + first,
                          keys_.norms()[row], candidates_.threshold(row),
                          a == b ? nullptr : candidates_.thresholds() + first};
        const std::size_t found = scan_keys(keys, width, hits.get());
        for (std::size_t h = 0; h < found; ++h) {
          const NodeId other = first + hits[h];
          const float key = keys.key(hits[h]);
          if (key < candidates_.threshold(row) && other != row) candidates_.push(row, key, other);
          if (a != b && key < candidates_.threshold(other)) candidates_.push(other, key, row);
        }
      }
      begin = end;
    }
  }

  const KeySource& keys_;
  Candidates& candidates_;
  const Execution& execution_;
  Blocks blocks_;
};

Neighbors empty_neighbors(std::uint64_t num_points, std::uint32_t k) {
  return {num_points, k, Buffer<NodeId>(num_points * k), Buffer<double>(num_points * k)};
}

std::uint64_t finish(const PairDiscrepancy& exact, const KeySource& keys, const Candidates& candidates,
                     std::span<const NodeId> rows, const Execution& execution, Neighbors& result) {
  const std::vector<NodeId> slots = run_of_rows(0, static_cast<NodeId>(rows.size()));
  const RankedRows left = rank_candidates(exact, keys, candidates, rows, slots, execution, result);
  std::vector<NodeId> again, places;
  for (const std::size_t slot : left.in_doubt) {
    again.push_back(rows[slot]);
    places.push_back(static_cast<NodeId>(slot));
  }
  search_again(exact, keys, again, places, {}, execution, result);
  return again.size();
}

void scan_candidates(const KeySource& keys, std::span<const NodeId> rows, const Execution& execution,
                     Candidates& candidates) {
  scan_rows(keys, rows, execution, candidates.thresholds(), ScanColumns::all,
            [&](std::size_t slot, NodeId other, float key) {
              if (key < candidates.threshold(slot) && other != rows[slot]) candidates.push(slot, key, other);
            });
}

}  // namespace

Neighbors exact_neighbors(const PairDiscrepancy& exact, const KeySource& keys, std::uint32_t k,
                          const Execution& execution, std::uint64_t& num_searched_again) {
  Neighbors result = empty_neighbors(keys.num_points(), k);
  Candidates candidates(keys.num_points(), num_candidates(k));
  const std::vector<NodeId> rows = run_of_rows(0, keys.num_points());
  if (exact.points().is_sparse())
    scan_candidates(keys, rows, execution, candidates);
  else
    Tournament(keys, candidates, execution).play();
  num_searched_again = finish(exact, keys, candidates, rows, execution, result);
  return result;
}

Neighbors exact_neighbors_of(const PairDiscrepancy& exact, const KeySource& keys,
                             std::span<const NodeId> rows, std::uint32_t k, const Execution& execution) {
  Neighbors result = empty_neighbors(rows.size(), k);
  Candidates candidates(rows.size(), num_candidates(k));
  scan_candidates(keys, rows, execution, candidates);
  finish(exact, keys, candidates, rows, execution, result);
  return result;
}

}  // namespace copse
