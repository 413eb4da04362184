// SPDX-License-Identifier: Apache-2.0
#include "points/cell_centers.hpp"

#include <algorithm>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "points/scan_keys.hpp"

namespace copse {
namespace {

constexpr int kRounds = 4;

class Lloyd {
 public:
  Lloyd(const DenseKeys& keys, CellId num_cells, const Execution& execution)
      : execution_(execution), stride_(keys.stride()) {
    const std::uint64_t num_points = keys.num_points();
    const std::uint64_t count = std::min<std::uint64_t>(num_points, num_cells * kSampledPerCell);
    const std::vector<NodeId> sample = spread_rows(num_points, count, execution.seed, 0);
    points_ = Buffer<float>(count * stride_);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(keys.row(sample[i]), stride_, points_.data() + i * stride_);
    nearest_.resize(count);
    centers_.stride = stride_;
    const CellId first_cells = static_cast<CellId>(std::min<std::uint64_t>(num_cells, count));
    for (const NodeId i : spread_rows(count, first_cells, execution.seed, 1))
      centers_.rows.insert(centers_.rows.end(), point(i), point(i) + stride_);
    set_norms();
  }

  CellCenters run() {
    for (int round = 0; round < kRounds; ++round) {
      execution_.throw_if_cancelled();
      execution_.report("cells", static_cast<std::uint64_t>(round), kRounds);
      assign();
      move_to_means(round + 1 < kRounds);
    }
    return std::move(centers_);
  }

 private:
  const float* point(std::size_t i) const { return points_.data() + i * stride_; }

  void set_norms() {
    centers_.norms.resize(centers_.rows.size() / stride_);
    for (CellId c = 0; c < centers_.count(); ++c)
      centers_.norms[c] = -minus_product(centers_.row(c), centers_.row(c), stride_);
  }

  void assign() {
    const CellId num_cells = centers_.count();
    parallel_blocks(execution_, nearest_.size(), kPointsToCenters,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      std::vector<float> keys((end - begin) * num_cells);
                      centers_.keys(point(begin), end - begin, 0, num_cells, keys.data());
                      for (std::size_t i = begin; i < end; ++i)
                        nearest_[i] = nearest_cell(keys.data() + (i - begin) * num_cells, num_cells);
                    });
  }

  // The points of each cell, cell after cell.
  void list_members() {
    starts_.assign(centers_.count() + 1, 0);
    for (const NearestCell& nearest : nearest_) ++starts_[nearest.cell + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    members_.resize(nearest_.size());
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < nearest_.size(); ++i) members_[next[nearest_[i].cell]++] = i;
  }

  // One cell's sum is one thread's, in the order of the points.
  void move_to_means(bool refill) {
    list_members();
    parallel_for(execution_.threads, centers_.count(), [&](std::size_t cell) {
      const std::size_t begin = starts_[cell], end = starts_[cell + 1];
      if (begin == end) return;
      std::vector<double> sum(stride_);
      for (std::size_t m = begin; m < end; ++m)
        for (std::size_t t = 0; t < stride_; ++t) sum[t] += double{point(members_[m])[t]};
      for (std::size_t t = 0; t < stride_; ++t)
        centers_.rows[cell * stride_ + t] = static_cast<float>(sum[t] / static_cast<double>(end - begin));
    });
    if (refill)
      refill_empty();
    else
      drop_empty();
    set_norms();
  }

  bool is_empty(CellId cell) const { return starts_[cell] == starts_[cell + 1]; }

  // An empty cell begins anew at the point that is farthest from its centre.
  void refill_empty() {
    std::vector<CellId> empty;
    for (CellId cell = 0; cell < centers_.count(); ++cell)
      if (is_empty(cell)) empty.push_back(cell);
    if (empty.empty()) return;
    std::vector<float> distances(nearest_.size());
    for (std::size_t i = 0; i < distances.size(); ++i)
      distances[i] = nearest_[i].key - minus_product(point(i), point(i), stride_);
    std::vector<std::size_t> farthest(nearest_.size());
    std::iota(farthest.begin(), farthest.end(), std::size_t{0});
    std::partial_sort(farthest.begin(), farthest.begin() + static_cast<std::ptrdiff_t>(empty.size()),
                      farthest.end(), [&](std::size_t a, std::size_t b) {
                        return distances[a] != distances[b] ? distances[a] > distances[b] : a < b;
                      });
    for (std::size_t e = 0; e < empty.size(); ++e)
      std::copy_n(point(farthest[e]), stride_, centers_.rows.data() + std::size_t{empty[e]} * stride_);
  }

  void drop_empty() {
    std::size_t kept = 0;
    for (CellId cell = 0; cell < centers_.count(); ++cell)
      if (!is_empty(cell)) std::copy_n(centers_.row(cell), stride_, centers_.rows.data() + stride_ * kept++);
    centers_.rows.resize(kept * stride_);
  }

  const Execution& execution_;
  std::size_t stride_;
  Buffer<float> points_;
  CellCenters centers_;
  std::vector<NearestCell> nearest_;
  std::vector<std::size_t> starts_, members_;
};

}  // namespace

void CellCenters::keys(const float* points, std::size_t num_points, CellId first, CellId last,
                       float* out) const {
  const std::size_t num_cells = last - first;
  ordered_products(points, num_points, row(first), num_cells, stride, out, num_cells);
  for (std::size_t i = 0; i < num_points; ++i)
    for (std::size_t c = 0; c < num_cells; ++c)
      out[i * num_cells + c] = norms[first + c] - 2 * out[i * num_cells + c];
}

double CellCenters::width(CellId a, CellId b) const {
  return 2 * std::sqrt(double{squared_distance(row(a), row(b), stride)});
}

NearestCell nearest_cell(const float* keys, CellId num_cells) {
  NearestCell nearest{0, keys[0]};
  for (CellId cell = 1; cell < num_cells; ++cell)
    if (keys[cell] < nearest.key) nearest = {cell, keys[cell]};
  return nearest;
}

CellCenters find_centers(const DenseKeys& keys, CellId num_cells, const Execution& execution) {
  return Lloyd(keys, std::max<CellId>(num_cells, 1), execution).run();
}

std::vector<NodeId> spread_rows(std::uint64_t num_points, std::uint64_t count, std::uint64_t seed,
                                std::uint64_t index) {
  Stream stream(seed, Purpose::neighbor_cells, index);
  std::vector<NodeId> rows(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = num_points * i / count, end = num_points * (i + 1) / count;
    rows[i] = static_cast<NodeId>(begin + stream.below(end - begin));
  }
  return rows;
}

}  // namespace copse
