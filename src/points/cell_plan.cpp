// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "copse/support/parallel.hpp"
#include "points/cell_neighbors.hpp"

namespace copse {
namespace {

constexpr std::size_t kProbes = 1000;  // 500,000 pairs: the share is known to a few percent

// Some points with their keys to all cells.
class Probes {
 public:
  Probes(const DenseKeys& keys, const CellCenters& centers, std::span<const NodeId> rows,
         const Execution& execution)
      : num_cells_(centers.count()), keys_(rows.size() * num_cells_), nearest_(rows.size()) {
    parallel_blocks(execution, rows.size(), 1, [&](std::size_t i, std::size_t, std::size_t) {
      centers.keys(keys.row(rows[i]), 1, 0, num_cells_, keys_.data() + i * num_cells_);
      nearest_[i] = nearest_cell(keys_.data() + i * num_cells_, num_cells_);
    });
  }
  CellId cell(std::size_t i) const { return nearest_[i].cell; }
  float offset(std::size_t i, CellId other) const {
    return plane_offset(keys_[i * num_cells_ + other], nearest_[i].key);
  }

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
    std::vector<float> to_cells(centers.count());
    const CellId own = probes.cell(i);
    for (std::size_t p = 0; p < truth.k; ++p) {
      centers.keys(keys.row(truth.of(i)[p]), 1, 0, centers.count(), to_cells.data());
      const NearestCell other = nearest_cell(to_cells.data(), centers.count());
      if (other.cell == own) continue;
      const double offsets =
          double{probes.offset(i, other.cell)} + double{plane_offset(to_cells[own], other.key)};
      gaps[i * truth.k + p] = offsets / centers.width(own, other.cell);
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
  const std::vector<NodeId> rows = spread_rows(keys.num_points(), count, execution.seed, 2);
  const Probes probes(keys, plan.centers, rows, execution);
  std::vector<std::uint64_t> compared(count);
  parallel_blocks(execution, count, kPointsToCenters, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const CellId a = probes.cell(i), b = probes.cell(j);
        compared[i] += a == b || is_near_plane(probes.offset(i, b), probes.offset(j, a),
                                               plan.radius * plan.centers.width(a, b));
      }
    }
  });
  std::uint64_t sum = 0;
  for (const std::uint64_t part : compared) sum += part;
  return count < 2 ? 1 : static_cast<double>(sum) / (static_cast<double>(count * (count - 1)) / 2);
}

}  // namespace

// More cells leave fewer pairs and cost more in centres. On MNIST and on 200,000 random points half as many
// took as long, within the noise of one run each; on MNIST twice as many took longer.
CellId number_of_cells(std::uint64_t num_points) {
  return static_cast<CellId>(std::sqrt(static_cast<double>(num_points)));
}

std::uint64_t cell_bytes(std::uint64_t num_points, std::uint64_t num_columns, int threads) {
  const std::uint64_t row = DenseKeys::stride_of(num_columns) * sizeof(float);
  const std::uint64_t layout = num_points * (3 * sizeof(NodeId) + 2 * sizeof(float) + 1);
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
