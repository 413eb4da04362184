// SPDX-License-Identifier: Apache-2.0
#include "points/cells.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "points/products.hpp"

namespace copse {
namespace {

constexpr int kRounds = 4;
constexpr std::size_t kPointsToCenters = 64;  // whose keys to all cells are found at once
constexpr std::size_t kSampledPerCell = 32;   // points: enough for means; other numbers were not tried
constexpr std::size_t kProbes = 1000;         // 500,000 pairs: the share is known to a few percent

// Rows in ascending order, one at random from each of `count` equal parts of all: files are often sorted by
// class.
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

std::vector<float> gather_rows(const DenseKeys& keys, std::span<const NodeId> rows) {
  std::vector<float> gathered;
  gathered.reserve(rows.size() * keys.stride());
  for (const NodeId row : rows) gathered.insert(gathered.end(), keys.row(row), keys.row(row) + keys.stride());
  return gathered;
}

double squared_distance(const float* a, const float* b, std::size_t size) {
  double sum = 0;
  for (std::size_t t = 0; t < size; ++t) sum += (double{a[t]} - b[t]) * (double{a[t]} - b[t]);
  return sum;
}

class Lloyd {
 public:
  Lloyd(const DenseKeys& keys, CellId num_cells, const Execution& execution)
      : execution_(execution), stride_(keys.stride()) {
    const std::uint64_t num_points = keys.num_points();
    const std::uint64_t count = std::min<std::uint64_t>(num_points, num_cells * kSampledPerCell);
    points_ = gather_rows(keys, spread_rows(num_points, count, execution.seed, 0));
    centers_.stride = stride_;
    for (const NodeId i : spread_rows(count, std::min<std::uint64_t>(num_cells, count), execution.seed, 1))
      centers_.rows.insert(centers_.rows.end(), point(i), point(i) + stride_);
    set_norms();
  }

  CellCenters run() {
    for (int round = 0; round < kRounds; ++round) {
      execution_.throw_if_cancelled();
      execution_.report("cells", static_cast<std::uint64_t>(round), kRounds);
      move_to_means(nearest_cells(centers_, points_.data(), points_.size() / stride_, execution_));
    }
    set_widths();
    return std::move(centers_);
  }

 private:
  const float* point(std::size_t i) const { return points_.data() + i * stride_; }

  void set_norms() {
    centers_.norms.resize(centers_.rows.size() / stride_);
    const std::vector<float> origin(stride_);
    for (CellId c = 0; c < centers_.count(); ++c)
      centers_.norms[c] = static_cast<float>(squared_distance(centers_.row(c), origin.data(), stride_));
  }

  void set_widths() {
    const CellId count = centers_.count();
    centers_.widths.resize(std::size_t{count} * count);
    parallel_for(execution_.threads, count, [&](std::size_t a) {
      for (CellId b = 0; b < count; ++b)
        centers_.widths[a * count + b] =
            2 * std::sqrt(squared_distance(centers_.row(static_cast<CellId>(a)), centers_.row(b), stride_));
    });
  }

  // Each cell's sum is made by one thread, in the order of the points. Cells without points are dropped.
  void move_to_means(const std::vector<NearestCell>& nearest) {
    std::vector<std::vector<std::size_t>> members(centers_.count());
    for (std::size_t i = 0; i < nearest.size(); ++i) members[nearest[i].cell].push_back(i);
    std::erase_if(members, [](const auto& list) { return list.empty(); });
    centers_.rows.resize(members.size() * stride_);
    parallel_for(execution_.threads, members.size(), [&](std::size_t cell) {
      std::vector<double> sum(stride_);
      for (const std::size_t i : members[cell])
        for (std::size_t t = 0; t < stride_; ++t) sum[t] += double{point(i)[t]};
      for (std::size_t t = 0; t < stride_; ++t)
        centers_.rows[cell * stride_ + t] =
            static_cast<float>(sum[t] / static_cast<double>(members[cell].size()));
    });
    set_norms();
  }

  const Execution& execution_;
  std::size_t stride_;
  std::vector<float> points_;
  CellCenters centers_;
};

// Some points with their keys to all cells.
class Probes {
 public:
  Probes(const DenseKeys& keys, const CellCenters& centers, std::span<const NodeId> rows,
         const Execution& execution)
      : num_cells_(centers.count()), keys_(rows.size() * num_cells_) {
    const std::vector<float> points = gather_rows(keys, rows);
    nearest_ = nearest_cells(centers, points.data(), rows.size(), execution);
    centers.keys(points.data(), rows.size(), 0, num_cells_, keys_.data());
  }
  CellId cell(std::size_t i) const { return nearest_[i].cell; }
  float offset(std::size_t i, CellId other) const { return keys_[i * num_cells_ + other] - nearest_[i].key; }

 private:
  CellId num_cells_;
  std::vector<float> keys_;
  std::vector<NearestCell> nearest_;
};

// Between each of `rows` and each of its true neighbours; 0 within a cell.
std::vector<double> gaps_to_neighbors(const DenseKeys& keys, const CellCenters& centers,
                                      std::span<const NodeId> rows, const Neighbors& truth,
                                      const Execution& execution) {
  const Probes probes(keys, centers, rows, execution);
  std::vector<double> gaps(rows.size() * truth.k);
  parallel_blocks(execution, rows.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
    const Probes others(keys, centers, truth.of(i), {});
    const CellId own = probes.cell(i);
    for (std::size_t p = 0; p < truth.k; ++p) {
      const CellId other = others.cell(p);
      if (other == own) continue;
      const double offsets = double{probes.offset(i, other)} + double{others.offset(p, own)};
      gaps[i * truth.k + p] = offsets / centers.width(own, other);
    }
  });
  return gaps;
}

// The recall of a radius on the sample, less its standard error: neighbours that are missed come in rows, so
// that the rows, not the neighbours, are what was drawn at random.
double sure_recall(const std::vector<double>& gaps, std::size_t k, double radius) {
  const std::size_t num_rows = gaps.size() / k;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < num_rows; ++i) {
    std::size_t found = 0;
    for (std::size_t p = i * k; p < (i + 1) * k; ++p) found += gaps[p] <= radius;
    const double share = static_cast<double>(found) / static_cast<double>(k);
    sum += share;
    squares += share * share;
  }
  const auto count = static_cast<double>(num_rows);
  const double mean = sum / count;
  return mean - std::sqrt(std::max(0.0, squares / count - mean * mean) / count);
}

// The smallest gap that is enough of a radius; the largest one always is.
double smallest_radius(const std::vector<double>& gaps, std::size_t k, double recall) {
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  return *std::partition_point(sorted.begin(), sorted.end() - 1,
                               [&](double radius) { return sure_recall(gaps, k, radius) < recall; });
}

double share_of_pairs(const DenseKeys& keys, const CellPlan& plan, const Execution& execution) {
  const std::uint64_t count = std::min<std::uint64_t>(kProbes, keys.num_points());
  if (count < 2) return 1;
  const std::vector<NodeId> rows = spread_rows(keys.num_points(), count, execution.seed, 2);
  const Probes probes(keys, plan.centers, rows, execution);
  std::uint64_t compared = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const CellId a = probes.cell(i), b = probes.cell(j);
      compared += a == b || is_near_plane(probes.offset(i, b), probes.offset(j, a),
                                          plan.radius * plan.centers.width(a, b));
    }
  }
  return static_cast<double>(compared) / (static_cast<double>(count * (count - 1)) / 2);
}

}  // namespace

void CellCenters::keys(const float* points, std::size_t num_points, CellId first, CellId last,
                       float* out) const {
  const std::size_t num_cells = last - first;
  minus_two_products(points, num_points, row(first), num_cells, stride, out, num_cells);
  for (std::size_t i = 0; i < num_points; ++i)
    for (std::size_t c = 0; c < num_cells; ++c) out[i * num_cells + c] += norms[first + c];
}

std::vector<NearestCell> nearest_cells(const CellCenters& centers, const float* points,
                                       std::size_t num_points, const Execution& execution) {
  const CellId num_cells = centers.count();
  std::vector<NearestCell> nearest(num_points);
  parallel_blocks(execution, num_points, kPointsToCenters,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    std::vector<float> keys((end - begin) * num_cells);
                    centers.keys(points + begin * centers.stride, end - begin, 0, num_cells, keys.data());
                    for (std::size_t i = begin; i < end; ++i) {
                      const float* const own = keys.data() + (i - begin) * num_cells;
                      const float* const least = std::min_element(own, own + num_cells);
                      nearest[i] = {static_cast<CellId>(least - own), *least};
                    }
                  });
  return nearest;
}

CellCenters find_centers(const DenseKeys& keys, CellId num_cells, const Execution& execution) {
  return Lloyd(keys, std::max<CellId>(num_cells, 1), execution).run();
}

// More cells leave fewer pairs and cost more in centres. On MNIST and on 200,000 random points half as many
// took as long, within the noise of one run each; on MNIST twice as many took longer.
CellId number_of_cells(std::uint64_t num_points) {
  return static_cast<CellId>(std::sqrt(static_cast<double>(num_points)));
}

std::uint64_t cell_bytes(std::uint64_t num_points, std::uint64_t num_columns, int threads) {
  const std::uint64_t row = DenseKeys::stride_of(num_columns) * sizeof(float);
  const std::uint64_t layout = num_points * (sizeof(NearestCell) + sizeof(NodeId) + sizeof(double));
  const std::uint64_t centers = number_of_cells(num_points) * (1 + kSampledPerCell) * row;
  const std::uint64_t gathered = 2048 * row;  // of a product, at most
  return layout + centers + static_cast<std::uint64_t>(threads) * gathered;
}

CellPlan plan_cells(const DenseKeys& keys, CellCenters centers, std::span<const NodeId> rows,
                    const Neighbors& truth, double recall, const Execution& execution) {
  CellPlan plan;
  plan.centers = std::move(centers);
  plan.radius =
      smallest_radius(gaps_to_neighbors(keys, plan.centers, rows, truth, execution), truth.k, recall);
  plan.share = share_of_pairs(keys, plan, execution);
  return plan;
}

}  // namespace copse
