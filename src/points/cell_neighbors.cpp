// SPDX-License-Identifier: Apache-2.0
//
// Rows are laid out cell after cell, in place. Cells meet in pairs, as the blocks of the exact search do:
// every product serves both of its rows, and meetings that share no cell run side by side. When cells a and b
// meet, the points of each are put in the order of their distance from the plane between them; some rows of a
// then meet only as many of b as can have a gap within the radius. What is proposed that way is checked one
// by one, and ranked like the candidates of the exact search: the answer is a function of the plan, and
// nothing about products and blocks shows in it.

#include <algorithm>
#include <limits>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "points/cells.hpp"
#include "points/exact_neighbors.hpp"
#include "points/products.hpp"

namespace copse {
namespace {

constexpr std::size_t kTileRows = 256;  // of a product
constexpr std::size_t kLeastRows = 32;  // of a product, where there are as many
constexpr std::size_t kTileColumns = 1024;
constexpr std::uint32_t kSteps = 32;  // of the distance from a plane
constexpr std::size_t kMostGroups = 64;
constexpr std::size_t kPointsPerGroup = 2048;
constexpr std::size_t kPointsPerOffsets = 256;

// Points cell after cell; `position` counts in that order.
struct CellLayout {
  std::vector<NearestCell> nearest;  // by point
  std::vector<std::size_t> starts;   // of the cells, in positions
  std::vector<NodeId> points;        // by position

  CellLayout(const DenseKeys& keys, const CellCenters& centers, const Execution& execution)
      : nearest(nearest_cells(centers, keys.row(0), keys.num_points(), execution)),
        starts(centers.count() + 1),
        points(keys.num_points()) {
    for (const NearestCell& own : nearest) ++starts[own.cell + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (NodeId point = 0; point < points.size(); ++point) points[next[nearest[point].cell]++] = point;
  }
  RowRange cell(CellId c) const { return {starts[c], starts[c + 1]}; }
};

// First cells of groups of consecutive cells, a few thousand points each, and the number of cells; how many
// groups depends on the number of points alone.
std::vector<CellId> group_cells(const CellLayout& layout) {
  const std::size_t num_points = layout.points.size(), num_cells = layout.starts.size() - 1;
  const std::size_t wanted = std::clamp<std::size_t>(num_points / kPointsPerGroup, 1, kMostGroups);
  std::vector<CellId> starts{0};
  for (CellId cell = 1; cell < num_cells; ++cell)
    if (layout.starts[cell] * wanted >= starts.size() * num_points) starts.push_back(cell);
  starts.push_back(static_cast<CellId>(num_cells));
  return starts;
}

// Offsets from planes (cells.hpp): of the points of one group, to the cells of another.
struct PlaneOffsets {
  std::size_t first_position = 0, num_positions = 0;
  CellId first_cell = 0;
  std::vector<float> values;

  // Those of consecutive positions follow each other.
  const float* of(std::size_t position, CellId cell) const {
    return values.data() + (cell - first_cell) * num_positions + (position - first_position);
  }
};

// A point that may be near enough to a plane.
struct NearPoint {
  float offset;
  std::uint32_t position, step;
};

// Rows of a product, gathered.
struct GatheredRows {
  std::vector<float> rows, norms, thresholds;
};

class CellSearch {
 public:
  // The rows of `keys` are in the order of the layout.
  CellSearch(const DenseKeys& keys, const CellLayout& layout, const CellPlan& plan, Candidates& candidates,
             const Execution& execution)
      : keys_(keys),
        layout_(layout),
        plan_(plan),
        candidates_(candidates),
        execution_(execution),
        groups_(group_cells(layout)) {}

  void run() {
    parallel_for(execution_.threads, plan_.centers.count(), [&](std::size_t c) {
      const RowRange cell = layout_.cell(static_cast<CellId>(c));
      offer_pairs(keys_, cell, cell, layout_.points, candidates_, execution_);
    });
    round_robin(groups_.size() - 1, execution_, [&](std::size_t a, std::size_t b) { meet(a, b); });
  }

 private:
  struct Scratch {
    PlaneOffsets offsets_a, offsets_b;
    std::vector<NearPoint> near_a, near_b, found;
    GatheredRows rows, columns;
    std::vector<float> tile;
    std::vector<std::uint32_t> hits;
  };

  void meet(std::size_t group_a, std::size_t group_b) {
    Scratch scratch;
    scratch.hits.resize(kTileColumns);
    find_offsets(group_a, group_b, scratch.offsets_a);
    find_offsets(group_b, group_a, scratch.offsets_b);
    for (CellId a = groups_[group_a]; a < groups_[group_a + 1]; ++a)
      for (CellId b = std::max(a + 1, groups_[group_b]); b < groups_[group_b + 1]; ++b)
        meet_cells(a, b, scratch);
  }

  void find_offsets(std::size_t group, std::size_t other, PlaneOffsets& out) const {
    execution_.throw_if_cancelled();
    const CellId first = groups_[other], last = groups_[other + 1];
    const std::size_t num_cells = last - first, end = layout_.starts[groups_[group + 1]];
    out.first_cell = first;
    out.first_position = layout_.starts[groups_[group]];
    out.num_positions = end - out.first_position;
    out.values.resize(out.num_positions * num_cells);
    std::vector<float> keys(kPointsPerOffsets * num_cells);
    for (std::size_t begin = out.first_position; begin < end; begin += kPointsPerOffsets) {
      const std::size_t count = std::min(kPointsPerOffsets, end - begin);
      plan_.centers.keys(keys_.row(begin), count, first, last, keys.data());
      for (std::size_t c = 0; c < num_cells; ++c) {
        float* to = out.values.data() + c * out.num_positions + (begin - out.first_position);
        for (std::size_t i = 0; i < count; ++i)
          to[i] = keys[i * num_cells + c] - layout_.nearest[layout_.points[begin + i]].key;
      }
    }
  }

  // The points of a cell for which least + offset is within the limit, nearest to the plane first, by steps
  // of limit / kSteps: a counting sort, as a proper one took a fifth of the time on points of few columns.
  static void list_near_plane(RowRange cell, const float* offsets, float least, double limit,
                              std::vector<NearPoint>& found, std::vector<NearPoint>& near) {
    const float steps = limit > 0 ? static_cast<float>(kSteps / limit) : 0;
    std::size_t starts[kSteps + 1] = {};
    found.clear();
    for (std::size_t i = 0; i < cell.end - cell.begin; ++i) {
      if (!is_near_plane(offsets[i], least, limit)) continue;
      const auto step = static_cast<std::uint32_t>(std::min(offsets[i] * steps, kSteps - 1.0F));
      found.push_back({offsets[i], static_cast<std::uint32_t>(cell.begin + i), step});
      ++starts[step + 1];
    }
    std::partial_sum(std::begin(starts), std::end(starts), std::begin(starts));
    near.resize(found.size());
    for (const NearPoint& point : found) near[starts[point.step]++] = point;
  }

  void gather(std::span<const NearPoint> near, GatheredRows& out) const {
    out.rows.resize(near.size() * keys_.stride());
    out.norms.resize(near.size());
    out.thresholds.resize(near.size());
    for (std::size_t i = 0; i < near.size(); ++i) {
      std::copy_n(keys_.row(near[i].position), keys_.stride(), out.rows.data() + i * keys_.stride());
      out.norms[i] = keys_.norms()[near[i].position];
      out.thresholds[i] = candidates_.threshold(near[i].position);
    }
  }

  void meet_cells(CellId a, CellId b, Scratch& scratch) {
    const RowRange cell_a = layout_.cell(a), cell_b = layout_.cell(b);
    if (cell_a.begin == cell_a.end || cell_b.begin == cell_b.end) return;
    const double limit = plan_.radius * plan_.centers.width(a, b);
    const float* offsets_a = scratch.offsets_a.of(cell_a.begin, b);
    const float* offsets_b = scratch.offsets_b.of(cell_b.begin, a);
    const float least_a = *std::min_element(offsets_a, offsets_a + (cell_a.end - cell_a.begin));
    const float least_b = *std::min_element(offsets_b, offsets_b + (cell_b.end - cell_b.begin));
    if (!is_near_plane(least_a, least_b, limit)) return;
    list_near_plane(cell_a, offsets_a, least_b, limit, scratch.found, scratch.near_a);
    list_near_plane(cell_b, offsets_b, least_a, limit, scratch.found, scratch.near_b);
    const std::span<const NearPoint> all(scratch.near_b);
    for (std::size_t first = 0; first < all.size(); first += kTileColumns) {
      execution_.throw_if_cancelled();
      meet_columns(all.subspan(first, std::min(kTileColumns, all.size() - first)), limit, scratch);
    }
  }

  // All of near_a with those of `columns` that they can be compared with.
  void meet_columns(std::span<const NearPoint> columns, double limit, Scratch& scratch) {
    gather(columns, scratch.columns);
    const std::span<const NearPoint> all(scratch.near_a);
    for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
      // Steps that add up to more than kSteps are apart by more than the limit, also where rounding moved a
      // point to the next step.
      const auto last = std::partition_point(columns.begin(), columns.end(), [&](const NearPoint& column) {
        return all[begin].step + column.step <= kSteps;
      });
      if (last == columns.begin()) return;
      end = std::min(begin + kLeastRows, all.size());
      while (end < std::min(begin + kTileRows, all.size()) && all[end].step == all[end - 1].step) ++end;
      meet_rows(all.subspan(begin, end - begin), {columns.begin(), last}, limit, scratch);
    }
  }

  void meet_rows(std::span<const NearPoint> rows, std::span<const NearPoint> columns, double limit,
                 Scratch& scratch) {
    gather(rows, scratch.rows);
    scratch.tile.resize(rows.size() * columns.size());
    minus_two_products(scratch.rows.rows.data(), rows.size(), scratch.columns.rows.data(), columns.size(),
                       keys_.stride(), scratch.tile.data(), columns.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::size_t x = rows[r].position;
      const KeyRow keys{scratch.tile.data() + r * columns.size(), scratch.columns.norms.data(),
                        scratch.rows.norms[r], candidates_.threshold(x), scratch.columns.thresholds.data()};
      const std::size_t found = scan_keys(keys, columns.size(), scratch.hits.data());
      for (std::size_t h = 0; h < found; ++h) {
        const std::size_t c = scratch.hits[h], y = columns[c].position;
        if (!is_near_plane(rows[r].offset, columns[c].offset, limit)) continue;
        candidates_.offer(x, keys.key(c), layout_.points[y]);
        candidates_.offer(y, keys.key(c), layout_.points[x]);
        scratch.columns.thresholds[c] = candidates_.threshold(y);
      }
    }
  }

  const DenseKeys& keys_;
  const CellLayout& layout_;
  const CellPlan& plan_;
  Candidates& candidates_;
  const Execution& execution_;
  std::vector<CellId> groups_;
};

// Whether two points are compared, by themselves.
bool is_compared(const DenseKeys& keys, const CellPlan& plan, const CellLayout& layout, NodeId x, NodeId y) {
  const NearestCell a = layout.nearest[x], b = layout.nearest[y];
  if (a.cell == b.cell) return true;
  float key_x = 0, key_y = 0;
  plan.centers.keys(keys.row(x), 1, b.cell, b.cell + 1, &key_x);
  plan.centers.keys(keys.row(y), 1, a.cell, a.cell + 1, &key_y);
  return is_near_plane(key_x - a.key, key_y - b.key, plan.radius * plan.centers.width(a.cell, b.cell));
}

std::vector<NodeId> points_at(const CellLayout& layout, const std::vector<std::size_t>& positions) {
  std::vector<NodeId> points;
  points.reserve(positions.size());
  for (const std::size_t position : positions) points.push_back(layout.points[position]);
  std::sort(points.begin(), points.end());
  return points;
}

}  // namespace

Neighbors cell_neighbors(const PairDiscrepancy& exact, DenseKeys& keys, const CellPlan& plan, std::uint32_t k,
                         const Execution& execution, std::uint64_t& num_searched_again) {
  const NodeId num_points = keys.num_points();
  const CellLayout layout(keys, plan.centers, execution);
  Candidates candidates(num_points, num_candidates(k));
  keys.arrange(layout.points, execution.threads);
  CellSearch(keys, layout, plan, candidates, execution).run();
  keys.arrange(run_of_rows(0, num_points), execution.threads);

  Neighbors result{num_points, k, Buffer<NodeId>(std::size_t{num_points} * k),
                   Buffer<double>(std::size_t{num_points} * k)};
  const RankedRows left =
      rank_candidates(exact, keys, candidates, layout.points, layout.points, execution, result);
  const std::vector<NodeId> in_doubt = points_at(layout, left.in_doubt);
  search_again(
      exact, keys, in_doubt, in_doubt,
      [&](NodeId x, NodeId y) { return is_compared(keys, plan, layout, x, y); }, execution, result);

  const std::vector<NodeId> too_short = points_at(layout, left.too_short);
  const Neighbors searched = exact_neighbors_of(exact, keys, too_short, k, execution);
  for (std::size_t slot = 0; slot < too_short.size(); ++slot) {
    const std::size_t place = std::size_t{too_short[slot]} * k;
    std::copy_n(searched.of(slot).begin(), k, result.ids.begin() + place);
    std::copy_n(searched.discrepancies_of(slot).begin(), k, result.discrepancies.begin() + place);
  }
  num_searched_again = too_short.size();
  return result;
}

}  // namespace copse
