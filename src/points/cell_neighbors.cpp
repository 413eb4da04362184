// SPDX-License-Identifier: Apache-2.0
//
// Rows are laid out cell after cell, in place. Cells meet in pairs, as the blocks of the exact search do:
// every product serves both of its rows, and meetings that share no cell run side by side. When cells a and b
// meet, the points of each are put in the order of their distance from the plane between them, coarsely; a
// piece of the rows of a then meets only as many of b as can have a gap within the radius. What is proposed
// that way is checked one by one, and ranked like the candidates of the exact search: the answer is a
// function of the plan, and nothing about products and blocks shows in it.

#include "points/cell_neighbors.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "points/block_product.hpp"
#include "points/exact_neighbors.hpp"
#include "points/rank_candidates.hpp"
#include "points/round_robin.hpp"
#include "points/scan_keys.hpp"

namespace copse {
namespace {

constexpr std::size_t kTileRows = 256;  // of a product
constexpr std::size_t kTileColumns = 1024;
constexpr std::size_t kLeastRows = 32;  // of a product, where there are as many
constexpr std::size_t kMostGroups = 64;
constexpr std::size_t kPointsPerGroup = 2048;
constexpr unsigned kSteps = 32;  // of the distance from a plane

// Points cell after cell; `position` counts in that order.
struct CellLayout {
  std::vector<CellId> cell_of;      // by point
  std::vector<float> key_to_own;    // by point: to the centre of its cell
  std::vector<std::size_t> starts;  // of the cells, in positions
  std::vector<NodeId> points;       // by position
  Buffer<float> norms;              // by position

  CellLayout(const DenseKeys& keys, const CellCenters& centers, const Execution& execution)
      : cell_of(keys.num_points()), key_to_own(keys.num_points()), points(keys.num_points()) {
    assign(keys, centers, execution);
    starts.assign(centers.count() + 1, 0);
    for (const CellId cell : cell_of) ++starts[cell + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    for (NodeId point = 0; point < keys.num_points(); ++point) points[next[cell_of[point]]++] = point;
    norms = Buffer<float>(keys.num_points());
    for (std::size_t position = 0; position < points.size(); ++position)
      norms[position] = keys.norms()[points[position]];
  }

 private:
  void assign(const DenseKeys& keys, const CellCenters& centers, const Execution& execution) {
    const CellId num_cells = centers.count();
    parallel_blocks(
        execution, points.size(), kPointsToCenters, [&](std::size_t begin, std::size_t end, std::size_t) {
          std::vector<float> to_cells((end - begin) * num_cells);
          centers.keys(keys.row(static_cast<NodeId>(begin)), end - begin, 0, num_cells, to_cells.data());
          for (std::size_t i = begin; i < end; ++i) {
            const NearestCell nearest = nearest_cell(to_cells.data() + (i - begin) * num_cells, num_cells);
            cell_of[i] = nearest.cell;
            key_to_own[i] = nearest.key;
          }
        });
  }
};

// Consecutive cells, a few thousand points each; how many depends on the number of points alone.
struct CellGroups {
  std::vector<CellId> starts{0};
  explicit CellGroups(const CellLayout& layout) {
    const std::size_t num_points = layout.points.size(), num_cells = layout.starts.size() - 1;
    const std::size_t wanted = std::clamp<std::size_t>(num_points / kPointsPerGroup, 1, kMostGroups);
    for (CellId cell = 1; cell < num_cells; ++cell)
      if (layout.starts[cell] * wanted >= starts.size() * num_points) starts.push_back(cell);
    starts.push_back(static_cast<CellId>(num_cells));
  }
  std::size_t count() const { return starts.size() - 1; }
};

// Offsets from planes: of the points of one group, to the cells of another.
struct PlaneOffsets {
  std::size_t first_position = 0, num_positions = 0;
  CellId first_cell = 0;
  std::vector<float> values;

  // Those of consecutive positions follow each other.
  const float* of(std::size_t position, CellId cell) const {
    return values.data() + (cell - first_cell) * num_positions + (position - first_position);
  }
};

// The points of a cell that may be near enough to a plane, nearest first by steps.
struct NearPlane {
  std::vector<std::uint32_t> places;  // in the cell; room to work in
  std::vector<std::size_t> positions;
  std::vector<float> offsets;
  std::size_t ends[kSteps + 1] = {};  // of the steps: those below ends[s] are at step s or nearer

  std::size_t size() const { return positions.size(); }
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
        stride_(plan.centers.stride),
        groups_(layout) {}

  void run() {
    parallel_for(execution_.threads, plan_.centers.count(),
                 [&](std::size_t cell) { meet_itself(static_cast<CellId>(cell)); });
    round_robin(groups_.count(), execution_, [&](std::size_t a, std::size_t b) { meet(a, b); });
  }

 private:
  struct Scratch {
    PlaneOffsets offsets_a, offsets_b;
    NearPlane near_a, near_b;
    GatheredRows gathered_a, gathered_b;
    std::vector<float> tile;
    std::vector<std::uint32_t> hits;
  };

  const float* row(std::size_t position) const { return keys_.row(static_cast<NodeId>(position)); }

  // All pairs of a cell.
  void meet_itself(CellId cell) {
    const std::size_t last = layout_.starts[cell + 1];
    std::vector<float> tile;
    std::vector<std::uint32_t> hits(kTileColumns);
    for (std::size_t begin = layout_.starts[cell]; begin < last; begin += kTileRows) {
      const std::size_t end = std::min(begin + kTileRows, last);
      for (std::size_t first = begin; first < last; first += kTileColumns) {
        execution_.throw_if_cancelled();
        const std::size_t width = std::min(kTileColumns, last - first);
        tile.resize((end - begin) * width);
        minus_two_products(row(begin), end - begin, row(first), width, stride_, tile.data(), width);
        for (std::size_t r = begin; r < end; ++r) {
          const std::size_t from = std::max(first, r + 1);
          if (from >= first + width) continue;
          const KeyRow keys{tile.data() + (r - begin) * width + (from - first), layout_.norms.data() + from,
                            layout_.norms[r], candidates_.threshold(r), candidates_.thresholds() + from};
          const std::size_t found = scan_keys(keys, first + width - from, hits.data());
          for (std::size_t h = 0; h < found; ++h) offer(r, from + hits[h], keys.key(hits[h]));
        }
      }
    }
  }

  void offer(std::size_t a, std::size_t b, float key) {
    if (key < candidates_.threshold(a)) candidates_.push(a, key, layout_.points[b]);
    if (key < candidates_.threshold(b)) candidates_.push(b, key, layout_.points[a]);
  }

  void meet(std::size_t group_a, std::size_t group_b) {
    Scratch scratch;
    scratch.hits.resize(kTileColumns);
    find_offsets(group_a, group_b, scratch.offsets_a);
    if (group_a != group_b) find_offsets(group_b, group_a, scratch.offsets_b);
    const PlaneOffsets& offsets_b = group_a == group_b ? scratch.offsets_a : scratch.offsets_b;
    for (CellId a = groups_.starts[group_a]; a < groups_.starts[group_a + 1]; ++a)
      for (CellId b = std::max(a + 1, groups_.starts[group_b]); b < groups_.starts[group_b + 1]; ++b)
        meet_cells(a, b, offsets_b, scratch);
  }

  void find_offsets(std::size_t group, std::size_t other, PlaneOffsets& out) const {
    execution_.throw_if_cancelled();
    const CellId first = groups_.starts[other], last = groups_.starts[other + 1];
    const std::size_t num_cells = last - first, end = layout_.starts[groups_.starts[group + 1]];
    out.first_cell = first;
    out.first_position = layout_.starts[groups_.starts[group]];
    out.num_positions = end - out.first_position;
    out.values.resize(out.num_positions * num_cells);
    std::vector<float> keys(kPointsToCenters * num_cells);
    for (std::size_t begin = out.first_position; begin < end; begin += kPointsToCenters) {
      const std::size_t count = std::min(kPointsToCenters, end - begin);
      plan_.centers.keys(row(begin), count, first, last, keys.data());
      for (std::size_t c = 0; c < num_cells; ++c) {
        float* to = out.values.data() + c * out.num_positions + (begin - out.first_position);
        for (std::size_t i = 0; i < count; ++i)
          to[i] = plane_offset(keys[i * num_cells + c], layout_.key_to_own[layout_.points[begin + i]]);
      }
    }
  }

  float least_offset(CellId cell, const float* offsets) const {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < cell_size(cell); ++i) least = std::min(least, offsets[i]);
    return least;
  }
  std::size_t cell_size(CellId cell) const { return layout_.starts[cell + 1] - layout_.starts[cell]; }

  // A counting sort by steps of limit / kSteps, of the points for which least + offset is within the limit.
  // Rounding may move a point to the next step; no pair within the limit is lost by it, see meet_columns.
  void list_near_plane(CellId cell, const float* offsets, float least, double limit, NearPlane& near) const {
    const float farthest = static_cast<float>(limit - double{least}) * (1 + 0x1p-20F);
    const float steps = limit > 0 ? static_cast<float>(kSteps / limit) : 0;
    const std::size_t size = cell_size(cell), begin = layout_.starts[cell];
    near.places.resize(size);
    std::size_t found = 0;
    for (std::size_t i = 0; i < size; ++i) {
      near.places[found] = static_cast<std::uint32_t>(i);
      found += offsets[i] <= farthest;
    }
    std::fill(std::begin(near.ends), std::end(near.ends), 0);
    const auto step_of = [&](float offset) {
      return std::min(kSteps - 1, static_cast<unsigned>(std::min(offset * steps, 255.0F)));
    };
    for (std::size_t f = 0; f < found; ++f) ++near.ends[step_of(offsets[near.places[f]]) + 1];
    for (unsigned step = 0; step < kSteps; ++step) near.ends[step + 1] += near.ends[step];
    near.positions.resize(found);
    near.offsets.resize(found);
    // Each start moves to its end, which is the start of the next step.
    for (std::size_t f = 0; f < found; ++f) {
      const float offset = offsets[near.places[f]];
      const std::size_t to = near.ends[step_of(offset)]++;
      near.positions[to] = begin + near.places[f];
      near.offsets[to] = offset;
    }
  }

  void gather(const NearPlane& near, std::size_t begin, std::size_t end, GatheredRows& out) const {
    out.rows.resize((end - begin) * stride_);
    out.norms.resize(end - begin);
    out.thresholds.resize(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t position = near.positions[i];
      std::copy_n(row(position), stride_, out.rows.data() + (i - begin) * stride_);
      out.norms[i - begin] = layout_.norms[position];
      out.thresholds[i - begin] = candidates_.threshold(position);
    }
  }

  void meet_cells(CellId a, CellId b, const PlaneOffsets& offsets_b, Scratch& scratch) {
    const double limit = plan_.radius * plan_.centers.width(a, b);
    const float* from_a = scratch.offsets_a.of(layout_.starts[a], b);
    const float* from_b = offsets_b.of(layout_.starts[b], a);
    const float least_a = least_offset(a, from_a), least_b = least_offset(b, from_b);
    if (!is_near_plane(least_a, least_b, limit)) return;
    NearPlane &near_a = scratch.near_a, &near_b = scratch.near_b;
    list_near_plane(a, from_a, least_b, limit, near_a);
    list_near_plane(b, from_b, least_a, limit, near_b);
    for (std::size_t first = 0; first < near_b.size(); first += kTileColumns) {
      execution_.throw_if_cancelled();
      const std::size_t last = std::min(first + kTileColumns, near_b.size());
      gather(near_b, first, last, scratch.gathered_b);
      meet_columns(first, last, limit, scratch);
    }
  }

  // All of near_a with those of near_b from first to last that their steps leave.
  void meet_columns(std::size_t first, std::size_t last, double limit, Scratch& scratch) {
    const NearPlane &near_a = scratch.near_a, &near_b = scratch.near_b;
    unsigned step = 0;  // of the first row of the piece
    for (std::size_t begin = 0; begin < near_a.size();) {
      while (near_a.ends[step] <= begin) ++step;
      // Steps that add up to more than kSteps are apart by more than the limit.
      const std::size_t columns = std::min(near_b.ends[std::min(kSteps - step, kSteps - 1)], last);
      if (columns <= first) return;
      unsigned last_step = step;
      while (last_step + 1 < kSteps && near_a.ends[last_step] - begin < kLeastRows) ++last_step;
      const std::size_t end = std::min(near_a.ends[last_step], begin + kTileRows);
      gather(near_a, begin, end, scratch.gathered_a);
      meet_rows(begin, end, first, columns, limit, scratch);
      begin = end;
    }
  }

  void meet_rows(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, double limit,
                 Scratch& scratch) {
    const NearPlane &near_a = scratch.near_a, &near_b = scratch.near_b;
    const GatheredRows& rows = scratch.gathered_a;
    GatheredRows& columns = scratch.gathered_b;
    const std::size_t width = last - first;
    scratch.tile.resize((end - begin) * width);
    minus_two_products(rows.rows.data(), end - begin, columns.rows.data(), width, stride_,
                       scratch.tile.data(), width);
    for (std::size_t r = 0; r < end - begin; ++r) {
      const std::size_t position = near_a.positions[begin + r];
      const KeyRow keys{scratch.tile.data() + r * width, columns.norms.data(), rows.norms[r],
                        candidates_.threshold(position), columns.thresholds.data()};
      const std::size_t found = scan_keys(keys, width, scratch.hits.data());
      for (std::size_t h = 0; h < found; ++h) {
        const std::size_t c = scratch.hits[h];
        if (!is_near_plane(near_a.offsets[begin + r], near_b.offsets[first + c], limit)) continue;
        offer(position, near_b.positions[first + c], keys.key(c));
        columns.thresholds[c] = candidates_.threshold(near_b.positions[first + c]);
      }
    }
  }

  const DenseKeys& keys_;
  const CellLayout& layout_;
  const CellPlan& plan_;
  Candidates& candidates_;
  const Execution& execution_;
  std::size_t stride_;
  CellGroups groups_;
};

// Whether two points are compared, by themselves.
bool is_compared(const DenseKeys& keys, const CellPlan& plan, const CellLayout& layout, NodeId x, NodeId y) {
  const CellId a = layout.cell_of[x], b = layout.cell_of[y];
  if (a == b) return true;
  float key_x = 0, key_y = 0;
  plan.centers.keys(keys.row(x), 1, b, b + 1, &key_x);
  plan.centers.keys(keys.row(y), 1, a, a + 1, &key_y);
  return is_near_plane(plane_offset(key_x, layout.key_to_own[x]), plane_offset(key_y, layout.key_to_own[y]),
                       plan.radius * plan.centers.width(a, b));
}

}  // namespace

Neighbors cell_neighbors(const PairDiscrepancy& exact, DenseKeys& keys, const CellPlan& plan, std::uint32_t k,
                         const Execution& execution, std::uint64_t& num_searched_again) {
  const std::uint64_t num_points = keys.num_points();
  const CellLayout layout(keys, plan.centers, execution);
  Candidates candidates(num_points, num_candidates(k));
  {
    const RowsInOrder in_order(keys, layout.points);
    CellSearch(keys, layout, plan, candidates, execution).run();
  }

  Neighbors result{num_points, k, Buffer<NodeId>(num_points * k), Buffer<double>(num_points * k)};
  const RankedRows left =
      rank_candidates(exact, keys, candidates, layout.points, layout.points, execution, result);
  const auto points_of = [&](const std::vector<std::size_t>& positions) {
    std::vector<NodeId> points;
    points.reserve(positions.size());
    for (const std::size_t position : positions) points.push_back(layout.points[position]);
    std::sort(points.begin(), points.end());
    return points;
  };
  const std::vector<NodeId> in_doubt = points_of(left.in_doubt), too_short = points_of(left.too_short);
  search_again(
      exact, keys, in_doubt, in_doubt,
      [&](NodeId x, NodeId y) { return is_compared(keys, plan, layout, x, y); }, execution, result);
  if (!too_short.empty())
    copy_rows(exact_neighbors_of(exact, keys, too_short, k, execution), too_short, result);
  num_searched_again = too_short.size();
  return result;
}

}  // namespace copse
