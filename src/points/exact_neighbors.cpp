// SPDX-License-Identifier: Apache-2.0
//
// Three steps. (1) Every row keeps the candidates with the smallest single-precision keys. (2) These are
// ranked in double; if the k-th of them is out of reach (discrepancy.hpp) of every key that was not kept, the
// row is done. (3) The few other rows, those with many points at nearly the k-th distance, are scanned again,
// and whatever is within reach of their k-th is ranked in double. The answer is that of comparing all pairs
// in double, so that nothing about the products shows in it.
//
// A key serves both of its rows: blocks of rows meet each other once, as in a round-robin tournament, which
// halves the products.

#include "points/exact_neighbors.hpp"

#include <algorithm>
#include <limits>

#include "copse/support/parallel.hpp"
#include "points/products.hpp"

namespace copse {
namespace {

constexpr std::size_t kRowsPerRanking = 64;

// A candidate and its exact discrepancy, nearest first, ties by the lower row.
struct RankedPoint {
  double discrepancy;
  NodeId id;
  bool operator<(const RankedPoint& other) const {
    return discrepancy != other.discrepancy ? discrepancy < other.discrepancy : id < other.id;
  }
};

// The k best of a row, nearest first, in the arrays of the result.
struct BestPoints {
  std::span<NodeId> ids;
  std::span<double> discrepancies;

  BestPoints(Neighbors& result, std::size_t place)
      : ids(result.ids.span().subspan(place * result.k, result.k)),
        discrepancies(result.discrepancies.span().subspan(place * result.k, result.k)) {}
  RankedPoint operator[](std::size_t i) const { return {discrepancies[i], ids[i]}; }
  RankedPoint last() const { return (*this)[ids.size() - 1]; }
  bool has(NodeId id) const { return std::find(ids.begin(), ids.end(), id) != ids.end(); }
  void set(std::size_t i, const RankedPoint& point) {
    discrepancies[i] = point.discrepancy;
    ids[i] = point.id;
  }
  // point < last(): the last one leaves.
  void insert(const RankedPoint& point) {
    std::size_t place = ids.size() - 1;
    for (; place > 0 && point < (*this)[place - 1]; --place) set(place, (*this)[place - 1]);
    set(place, point);
  }
};

// At least as many ids as there is room for.
void rank(const PairDiscrepancy& exact, std::vector<NodeId> ids, NodeId row, BestPoints best) {
  std::sort(ids.begin(), ids.end());  // neighbours in memory are read one after the other
  std::vector<double> discrepancies(ids.size());
  exact.of(row, ids, discrepancies.data());
  std::vector<RankedPoint> ranked(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ranked[i] = {discrepancies[i], ids[i]};
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < best.ids.size(); ++i) best.set(i, ranked[i]);
}

// Whether no doubt is left.
bool rank_surely(const PairDiscrepancy& exact, const KeySource& keys, std::vector<NodeId> ids,
                 float threshold, NodeId row, BestPoints best) {
  rank(exact, std::move(ids), row, best);
  // What was not kept has a key of at least the threshold.
  return threshold == std::numeric_limits<float>::infinity() ||
         threshold > keys.reach(row, best.last().discrepancy * keys.scale());
}

// The smallest keys of each row (`slot`): one heap of fixed size per row, largest on top.
class Candidates {
 public:
  Candidates(std::size_t num_slots, std::size_t size);

  float threshold(std::size_t slot) const { return thresholds_[slot]; }
  const float* thresholds() const { return thresholds_.data(); }
  // Takes the place of the largest if it is smaller.
  void offer(std::size_t slot, float key, NodeId id) {
    if (key < thresholds_[slot]) push(slot, key, id);
  }
  std::vector<NodeId> of(std::size_t slot) const;

 private:
  void push(std::size_t slot, float key, NodeId id);

  std::size_t size_;
  Buffer<float> keys_;
  Buffer<NodeId> ids_;
  Buffer<float> thresholds_;
};

Candidates::Candidates(std::size_t num_slots, std::size_t size)
    : size_(size), keys_(num_slots * size), ids_(num_slots * size), thresholds_(num_slots) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::fill(keys_.begin(), keys_.end(), kInfinity);
  std::fill(ids_.begin(), ids_.end(), kNoNode);
  std::fill(thresholds_.begin(), thresholds_.end(), kInfinity);
}

void Candidates::push(std::size_t slot, float key, NodeId id) {
  float* keys = keys_.data() + slot * size_;
  NodeId* ids = ids_.data() + slot * size_;
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size_; child = 2 * hole + 1) {
    child += child + 1 < size_ && keys[child + 1] > keys[child];
    if (keys[child] <= key) break;
    keys[hole] = keys[child];
    ids[hole] = ids[child];
    hole = child;
  }
  keys[hole] = key;
  ids[hole] = id;
  thresholds_[slot] = keys[0];
}

std::vector<NodeId> Candidates::of(std::size_t slot) const {
  std::vector<NodeId> ids(ids_.begin() + slot * size_, ids_.begin() + (slot + 1) * size_);
  std::erase(ids, kNoNode);
  return ids;
}

// Consecutive rows of the keys.
struct RowRange {
  std::size_t begin, end;
};

// Offers every pair of a row of `a` and a row of `b` to the candidates of both; ids[i] is the point of row i.
// The ranges are the same, each pair then counts once, or `a` is in front of `b`.
void offer_pairs(const DenseKeys& keys, RowRange a, RowRange b, std::span<const NodeId> ids,
                 Candidates& candidates, const Execution& execution) {
  const std::size_t height = keys.rows_at_once(), width = keys.columns_at_once();
  const auto tile = std::make_unique_for_overwrite<float[]>(height * width);
  const auto hits = std::make_unique_for_overwrite<std::uint32_t[]>(width);
  for (std::size_t begin = a.begin; begin < a.end; begin += height) {
    const std::size_t end = std::min(begin + height, a.end);
    for (std::size_t first = std::max(b.begin, begin); first < b.end; first += width) {
      execution.throw_if_cancelled();
      const std::size_t last = std::min(first + width, b.end), count = last - first;
      minus_two_products(keys.row(begin), end - begin, keys.row(first), count, keys.stride(), tile.get(),
                         count);
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t from =
            std::max(first, i + 1);  // of one range with itself: pairs above the diagonal
        if (from >= last) continue;
        const KeyRow row{tile.get() + (i - begin) * count + (from - first), keys.norms().data() + from,
                         keys.norms()[i], candidates.threshold(i), candidates.thresholds() + from};
        const std::size_t found = scan_keys(row, last - from, hits.get());
        for (std::size_t h = 0; h < found; ++h) {
          const std::size_t j = from + hits[h];
          candidates.offer(i, row.key(hits[h]), ids[j]);
          candidates.offer(j, row.key(hits[h]), ids[i]);
        }
      }
    }
  }
}

// meet(i, i) for every i in [0, count), then meet(i, j) for every pair i < j, each once, in rounds by the
// circle method: one stays, the others move round; with an odd number one sits out. Meetings that run at the
// same time share nobody, so that both sides may be written to without locks; the rounds are the same for any
// number of threads.
void round_robin(std::uint64_t count, const Execution& execution,
                 const std::function<void(std::uint64_t, std::uint64_t)>& meet) {
  parallel_for(execution.threads, count, [&](std::size_t i) { meet(i, i); });
  const std::uint64_t seats = count + count % 2, moving = seats - 1;
  for (std::uint64_t round = 0; seats > 1 && round < moving; ++round) {
    execution.report("neighbours", round, moving);
    parallel_for(execution.threads, seats / 2, [&](std::size_t pair) {
      const std::uint64_t a = (round + pair) % moving;
      const std::uint64_t b = pair == 0 ? moving : (round + moving - pair) % moving;
      if (a < count && b < count) meet(std::min(a, b), std::max(a, b));
    });
  }
}

// All pairs of points, block of rows against block of rows. How many blocks depends on the number of points
// alone.
void play_tournament(const DenseKeys& keys, std::span<const NodeId> rows, const Execution& execution,
                     Candidates& candidates) {
  const std::uint64_t size = std::clamp<std::uint64_t>(rows.size() / 32, 128, 1024);
  const auto block = [&](std::uint64_t b) {
    return RowRange{b * size, std::min<std::size_t>((b + 1) * size, rows.size())};
  };
  round_robin((rows.size() + size - 1) / size, execution, [&](std::uint64_t a, std::uint64_t b) {
    offer_pairs(keys, block(a), block(b), rows, candidates, execution);
  });
}

void scan_candidates(const KeySource& keys, std::span<const NodeId> rows, const Execution& execution,
                     Candidates& candidates) {
  scan_rows(keys, rows, execution, candidates.thresholds(), ScanColumns::all,
            [&](std::size_t slot, NodeId other, float key) {
              if (other != rows[slot]) candidates.offer(slot, key, other);
            });
}

// Settles rows in doubt: whatever is within reach of the k-th so far is ranked in double. result's place
// places[i] belongs to rows[i].
void search_again(const PairDiscrepancy& exact, const KeySource& keys, std::span<const NodeId> rows,
                  std::span<const NodeId> places, const Execution& execution, Neighbors& result) {
  if (rows.empty()) return;
  const auto reach_of = [&](std::size_t i) {
    const double farthest = BestPoints(result, places[i]).last().discrepancy;
    return just_above(keys.reach(rows[i], farthest * keys.scale()));
  };
  std::vector<float> reach(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) reach[i] = reach_of(i);
  scan_rows(keys, rows, execution, reach.data(), ScanColumns::all, [&](std::size_t i, NodeId other, float) {
    if (other == rows[i]) return;
    BestPoints best(result, places[i]);
    // No distance is below 0: among many copies of a point only lower rows can take a place.
    if (best.last().discrepancy == 0 && exact.metric() != Metric::inner && other >= best.last().id) return;
    const RankedPoint point{exact.of(rows[i], other), other};
    if (!(point < best.last()) || best.has(other)) return;
    best.insert(point);
    reach[i] = reach_of(i);
  });
}

// Returns how many rows needed a second look.
std::uint64_t rank_all(const PairDiscrepancy& exact, const KeySource& keys, const Candidates& candidates,
                       std::span<const NodeId> rows, const Execution& execution, Neighbors& result) {
  std::vector<char> is_sure(rows.size());
  parallel_blocks(
      execution, rows.size(), kRowsPerRanking, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t slot = begin; slot < end; ++slot)
          is_sure[slot] = rank_surely(exact, keys, candidates.of(slot), candidates.threshold(slot),
                                      rows[slot], BestPoints(result, slot));
      });
  std::vector<NodeId> again, places;
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    if (is_sure[slot] != 0) continue;
    again.push_back(rows[slot]);
    places.push_back(static_cast<NodeId>(slot));
  }
  search_again(exact, keys, again, places, execution, result);
  return again.size();
}

Neighbors empty_neighbors(std::uint64_t num_points, std::uint32_t k) {
  return {num_points, k, Buffer<NodeId>(num_points * k), Buffer<double>(num_points * k)};
}

}  // namespace

Neighbors rank_points(const PairDiscrepancy& exact, std::span<const NodeId> order, std::uint32_t k,
                      const std::function<std::vector<NodeId>(NodeId)>& candidates,
                      const Execution& execution) {
  Neighbors result = empty_neighbors(order.size(), k);
  parallel_blocks(execution, order.size(), kRowsPerRanking,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (const NodeId point : order.subspan(begin, end - begin))
                      rank(exact, candidates(point), point, BestPoints(result, point));
                  });
  return result;
}

Neighbors exact_neighbors(const PairDiscrepancy& exact, const KeySource& keys, std::uint32_t k,
                          const Execution& execution, std::uint64_t& num_searched_again) {
  Neighbors result = empty_neighbors(keys.num_points(), k);
  Candidates candidates(keys.num_points(), num_candidates(k));
  const std::vector<NodeId> rows = run_of_rows(0, keys.num_points());
  if (const auto* dense = dynamic_cast<const DenseKeys*>(&keys))
    play_tournament(*dense, rows, execution, candidates);
  else
    scan_candidates(keys, rows, execution, candidates);
  num_searched_again = rank_all(exact, keys, candidates, rows, execution, result);
  return result;
}

Neighbors exact_neighbors_of(const PairDiscrepancy& exact, const KeySource& keys,
                             std::span<const NodeId> rows, std::uint32_t k, const Execution& execution) {
  Neighbors result = empty_neighbors(rows.size(), k);
  Candidates candidates(rows.size(), num_candidates(k));
  scan_candidates(keys, rows, execution, candidates);
  rank_all(exact, keys, candidates, rows, execution, result);
  return result;
}

}  // namespace copse
