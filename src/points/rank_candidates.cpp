// SPDX-License-Identifier: Apache-2.0
#include "points/rank_candidates.hpp"

#include <algorithm>

#include "copse/support/parallel.hpp"
#include "points/scan_rows.hpp"

namespace copse {
namespace {

constexpr std::size_t kRowsPerRanking = 64;

enum class Ranking : char { done, in_doubt, too_short };

// The k best of a row, nearest first, in the arrays of the result.
struct BestPoints {
  std::span<NodeId> ids;
  std::span<double> discrepancies;

  RankedPoint last() const { return {discrepancies.back(), ids.back()}; }
  bool has(NodeId id) const { return std::find(ids.begin(), ids.end(), id) != ids.end(); }
  // point < last(): the last one leaves.
  void insert(const RankedPoint& point) {
    std::size_t place = ids.size() - 1;
    for (; place > 0 && point < RankedPoint{discrepancies[place - 1], ids[place - 1]}; --place) {
      discrepancies[place] = discrepancies[place - 1];
      ids[place] = ids[place - 1];
    }
    discrepancies[place] = point.discrepancy;
    ids[place] = point.id;
  }
};

BestPoints best_points(Neighbors& result, std::size_t place) {
  return {result.ids.span().subspan(place * result.k, result.k),
          result.discrepancies.span().subspan(place * result.k, result.k)};
}

}  // namespace

RankedRows rank_candidates(const PairDiscrepancy& exact, const KeySource& keys, const Candidates& candidates,
                           std::span<const NodeId> rows, std::span<const NodeId> places,
                           const Execution& execution, Neighbors& result) {
  std::vector<Ranking> outcome(rows.size(), Ranking::done);
  parallel_blocks(execution, rows.size(), kRowsPerRanking,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    std::vector<NodeId> ids;
                    std::vector<double> discrepancies;
                    std::vector<RankedPoint> ranked;
                    for (std::size_t slot = begin; slot < end; ++slot) {
                      candidates.list(slot, ids);
                      if (ids.size() < result.k) {
                        outcome[slot] = Ranking::too_short;
                        continue;
                      }
                      std::sort(ids.begin(), ids.end());  // neighbours in memory are read one after the other
                      discrepancies.resize(ids.size());
                      exact.of(rows[slot], ids, discrepancies.data());
                      ranked.clear();
                      for (std::size_t i = 0; i < ids.size(); ++i)
                        ranked.push_back({discrepancies[i], ids[i]});
                      std::sort(ranked.begin(), ranked.end());
                      const BestPoints best = best_points(result, places[slot]);
                      for (std::size_t i = 0; i < result.k; ++i) {
                        best.ids[i] = ranked[i].id;
                        best.discrepancies[i] = ranked[i].discrepancy;
                      }
                      // What was not kept has a key of at least the threshold.
                      const float threshold = candidates.threshold(slot);
                      if (threshold != std::numeric_limits<float>::infinity() &&
                          threshold <= keys.reach(rows[slot], best.last().discrepancy * keys.scale()))
                        outcome[slot] = Ranking::in_doubt;
                    }
                  });
  RankedRows left;
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    if (outcome[slot] == Ranking::in_doubt) left.in_doubt.push_back(slot);
    if (outcome[slot] == Ranking::too_short) left.too_short.push_back(slot);
  }
  return left;
}

void search_again(const PairDiscrepancy& exact, const KeySource& keys, std::span<const NodeId> rows,
                  std::span<const NodeId> places, const std::function<bool(NodeId, NodeId)>& is_candidate,
                  const Execution& execution, Neighbors& result) {
  if (rows.empty()) return;
  const auto reach_of = [&](std::size_t i) {
    const double farthest = best_points(result, places[i]).last().discrepancy;
    return just_above(keys.reach(rows[i], farthest * keys.scale()));
  };
  std::vector<float> reach(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) reach[i] = reach_of(i);
  scan_rows(keys, rows, execution, reach.data(), ScanColumns::all, [&](std::size_t i, NodeId other, float) {
    if (other == rows[i]) return;
    BestPoints best = best_points(result, places[i]);
    // No distance is below 0: among many copies of a point only lower rows can take a place.
    if (best.last().discrepancy == 0 && exact.metric() != Metric::inner && other >= best.last().id) return;
    const RankedPoint point{exact.of(rows[i], other), other};
    if (!(point < best.last()) || best.has(other)) return;
    if (is_candidate && !is_candidate(rows[i], other)) return;
    best.insert(point);
    reach[i] = reach_of(i);
  });
}

void copy_rows(const Neighbors& from, std::span<const NodeId> rows, Neighbors& to) {
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    const std::size_t place = std::size_t{rows[slot]} * to.k;
    std::copy_n(from.of(slot).begin(), to.k, to.ids.begin() + place);
    std::copy_n(from.discrepancies_of(slot).begin(), to.k, to.discrepancies.begin() + place);
  }
}

}  // namespace copse
