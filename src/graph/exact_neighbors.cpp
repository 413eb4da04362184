// SPDX-License-Identifier: Apache-2.0
//
// Three steps. (1) Every row keeps the candidates with the smallest single-precision keys. (2) These are
// ranked in double; if the k-th of them is out of reach (key_source.hpp) of every key that was not kept, the
// row is done. (3) The few other rows, those with many points at nearly the k-th distance, are scanned again,
// and whatever is within reach of their k-th is ranked in double. The answer is that of comparing all pairs
// in double, so that nothing about the products (library, processor, order) shows in it.
//
// A key serves both of its rows: blocks of rows meet each other once, as in a round-robin tournament, which
// halves the products. The meetings of a round share no block, so that they run side by side without locks.

#include "graph/exact_neighbors.hpp"

#include <algorithm>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "graph/block_product.hpp"
#include "graph/scan_keys.hpp"
#include "graph/scan_rows.hpp"

namespace copse {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kRowsPerRanking = 64;

// The smallest keys of each row: a heap of fixed size a row, largest on top.
class Candidates {
 public:
  Candidates(std::size_t num_rows, std::size_t size)
      : size_(size), keys_(num_rows * size), ids_(num_rows * size), thresholds_(num_rows) {
    std::fill(keys_.begin(), keys_.end(), kInfinity);
    std::fill(ids_.begin(), ids_.end(), kNoNode);
    std::fill(thresholds_.begin(), thresholds_.end(), kInfinity);
  }

  float threshold(std::size_t row) const { return thresholds_[row]; }
  const float* thresholds() const { return thresholds_.data(); }

  // key < threshold(row): takes the place of the largest.
  void push(std::size_t row, float key, NodeId id) {
    float* keys = keys_.data() + row * size_;
    NodeId* ids = ids_.data() + row * size_;
    std::size_t hole = 0;
    for (;;) {
      std::size_t child = 2 * hole + 1;
      if (child >= size_) break;
      child += child + 1 < size_ && keys[child + 1] > keys[child];
      if (keys[child] <= key) break;
      keys[hole] = keys[child];
      ids[hole] = ids[child];
      hole = child;
    }
    keys[hole] = key;
    ids[hole] = id;
    thresholds_[row] = keys[0];
  }

  // Those of a row that are there.
  void list(std::size_t row, std::vector<NodeId>& out) const {
    out.clear();
    for (std::size_t i = row * size_; i < (row + 1) * size_; ++i)
      if (ids_[i] != kNoNode) out.push_back(ids_[i]);
  }

 private:
  std::size_t size_;
  Buffer<float> keys_;
  Buffer<NodeId> ids_;
  Buffer<float> thresholds_;
};

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
    parallel_for(execution_.threads, blocks_.count, [&](std::size_t block) { meet(block, block); });
    // The circle method: one block stays, the others move round; with an odd number one sits out.
    const std::uint64_t seats = blocks_.count + blocks_.count % 2, moving = seats - 1;
    for (std::uint64_t round = 0; seats > 1 && round < moving; ++round) {
      execution_.report("neighbours", round, moving);
      parallel_for(execution_.threads, seats / 2, [&](std::size_t pair) {
        const std::uint64_t a = (round + pair) % moving;
        const std::uint64_t b = pair == 0 ? moving : (round + moving - pair) % moving;
        if (a < blocks_.count && b < blocks_.count) meet(std::min(a, b), std::max(a, b));
      });
    }
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

// Step 2. Fills the rows of `result` and returns the slots that are in doubt.
std::vector<std::size_t> rank(const PairDiscrepancy& exact, const KeySource& keys,
                              const Candidates& candidates, std::span<const NodeId> rows, int threads,
                              Neighbors& result) {
  std::vector<char> in_doubt(rows.size());
  parallel_blocks(
      threads, rows.size(), kRowsPerRanking, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<NodeId> ids;
        std::vector<double> discrepancies;
        std::vector<RankedPoint> ranked;
        for (std::size_t slot = begin; slot < end; ++slot) {
          candidates.list(slot, ids);
          std::sort(ids.begin(), ids.end());  // neighbours in memory are read one after the other
          discrepancies.resize(ids.size());
          exact.of(rows[slot], ids, discrepancies.data());
          ranked.clear();
          for (std::size_t i = 0; i < ids.size(); ++i) ranked.push_back({discrepancies[i], ids[i]});
          std::sort(ranked.begin(), ranked.end());
          for (std::size_t i = 0; i < result.k; ++i) {
            result.ids[slot * result.k + i] = ranked[i].id;
            result.discrepancies[slot * result.k + i] = ranked[i].discrepancy;
          }
          // What was not kept has a key of at least the threshold.
          in_doubt[slot] = candidates.threshold(slot) <=
                           keys.reach(rows[slot], ranked[result.k - 1].discrepancy * keys.scale());
        }
      });
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < rows.size(); ++slot)
    if (in_doubt[slot] != 0 && candidates.threshold(slot) != kInfinity) slots.push_back(slot);
  return slots;
}

// Step 3. A sorted list of the k best so far a row, better with every point within reach of its last.
void search_again(const PairDiscrepancy& exact, const KeySource& keys, std::span<const NodeId> rows,
                  std::span<const std::size_t> slots, const Execution& execution, Neighbors& result) {
  const std::size_t k = result.k;
  std::vector<NodeId> again;
  for (const std::size_t slot : slots) again.push_back(rows[slot]);
  std::vector<float> reach(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i)
    reach[i] = just_above(keys.reach(again[i], result.discrepancies[slots[i] * k + k - 1] * keys.scale()));
  scan_rows(keys, again, execution, reach.data(), ScanColumns::all, [&](std::size_t i, NodeId other, float) {
    const NodeId row = again[i];
    NodeId* ids = result.ids.data() + slots[i] * k;
    double* discrepancies = result.discrepancies.data() + slots[i] * k;
    if (other == row) return;
    const RankedPoint last{discrepancies[k - 1], ids[k - 1]};
    // No distance is below 0: among many copies of a point only lower rows can take a place.
    if (last.discrepancy == 0 && exact.metric() != Metric::inner && other >= last.id) return;
    const RankedPoint point{exact.of(row, other), other};
    if (!(point < last)) return;
    std::size_t place = k - 1;
    for (std::size_t p = 0; p < k; ++p)
      if (ids[p] == other) return;
    for (; place > 0 && point < RankedPoint{discrepancies[place - 1], ids[place - 1]}; --place) {
      discrepancies[place] = discrepancies[place - 1];
      ids[place] = ids[place - 1];
    }
    discrepancies[place] = point.discrepancy;
    ids[place] = other;
    reach[i] = just_above(keys.reach(row, discrepancies[k - 1] * keys.scale()));
  });
}

Neighbors empty_neighbors(std::uint64_t num_points, std::uint32_t k) {
  return {num_points, k, Buffer<NodeId>(num_points * k), Buffer<double>(num_points * k)};
}

std::uint64_t finish(const PairDiscrepancy& exact, const KeySource& keys, const Candidates& candidates,
                     std::span<const NodeId> rows, const Execution& execution, Neighbors& result) {
  const std::vector<std::size_t> slots = rank(exact, keys, candidates, rows, execution.threads, result);
  if (!slots.empty()) search_again(exact, keys, rows, slots, execution, result);
  return slots.size();
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
  const OneBlasThread one_thread;
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
  const OneBlasThread one_thread;
  Neighbors result = empty_neighbors(rows.size(), k);
  Candidates candidates(rows.size(), num_candidates(k));
  scan_candidates(keys, rows, execution, candidates);
  finish(exact, keys, candidates, rows, execution, result);
  return result;
}

}  // namespace copse
