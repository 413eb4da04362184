// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_cholesky.hpp"

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "copse/support/buffer.hpp"
#include "kernels/column_block.hpp"

namespace copse {

namespace {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// Eigen knows how many entries a factor will have before it computes them, but does not tell; nor does it
/// show the factor as it lies.
class Factor : public Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower> {
 public:
  std::uint64_t num_entries() const { return static_cast<std::uint64_t>(m_matrix.nonZeros()); }
  bool is_factored() const { return m_factorizationIsOk; }
  const SparseMatrix& lower() const { return m_matrix; }  // without its diagonal of ones
};

class ExactCholesky final : public Preconditioner {
 public:
  ExactCholesky(const LaplacianSystem& system, std::uint64_t max_entries)
      : node_of_(unknowns(system)), num_nodes_(system.num_nodes()) {
    const SparseMatrix matrix = lower_triangle(system);
    factor_.analyzePattern(matrix);
    entries_ = factor_.num_entries();
    if (entries_ <= max_entries) factor_.factorize(matrix);
  }

  /// False as well for a factor with infinite or undefined pivots, or none.
  bool is_sound() const {
    if (!factor_.is_factored() || factor_.info() != Eigen::Success) return false;
    const auto pivots = factor_.vectorD();
    for (Eigen::Index i = 0; i < pivots.size(); ++i) {
      if (!(pivots[i] > 0) || !std::isfinite(pivots[i])) return false;
    }
    return true;
  }

  ColumnValues apply(double* z, int width) const override {
    ColumnValues dot{};
    with_width(width, [&](auto w) { dot = solve<w()>(z); });
    return dot;
  }

  std::uint64_t entries() const override { return entries_; }

 private:
  /// All columns in one sweep forward and one back; Eigen would make two for each.
  template <int width>
  ColumnValues solve(double* z) const {
    const SparseMatrix& lower = factor_.lower();
    const auto& place = factor_.permutationP().indices();
    const auto size = static_cast<Eigen::Index>(node_of_.size());
    Buffer<double> values(node_of_.size() * width);
    for (Eigen::Index i = 0; i < size; ++i)
      std::copy_n(z + std::size_t{node_of_[static_cast<std::size_t>(i)]} * width, width,
                  &values[at<width>(place[i])]);
    ColumnValues dot{};
    const auto pivots = factor_.vectorD();
    for (Eigen::Index j = 0; j < size; ++j) {
      double* own = &values[at<width>(j)];
      for (SparseMatrix::InnerIterator entry(lower, j); entry; ++entry) {
        double* other = &values[at<width>(entry.row())];
        for (int c = 0; c < width; ++c) other[c] -= entry.value() * own[c];
      }
      for (int c = 0; c < width; ++c) {
        const double value = own[c] / pivots[j];
        dot[static_cast<std::size_t>(c)] += value * own[c];
        own[c] = value;
      }
    }
    for (Eigen::Index j = size; j-- > 0;) {
      double* own = &values[at<width>(j)];
      for (SparseMatrix::InnerIterator entry(lower, j); entry; ++entry) {
        const double* other = &values[at<width>(entry.row())];
        for (int c = 0; c < width; ++c) own[c] -= entry.value() * other[c];
      }
    }
    std::fill_n(z, num_nodes_ * width, 0.0);
    for (Eigen::Index i = 0; i < size; ++i)
      std::copy_n(&values[at<width>(place[i])], width,
                  z + std::size_t{node_of_[static_cast<std::size_t>(i)]} * width);
    return dot;
  }
  template <int width>
  static std::size_t at(Eigen::Index row) {
    return static_cast<std::size_t>(row) * width;
  }

  /// Every free node but the first of each singular component.
  static std::vector<NodeId> unknowns(const LaplacianSystem& system) {
    std::vector<NodeId> nodes;
    std::vector<char> has_ground(system.sizes.size());
    for (NodeId u = 0; u < system.num_nodes(); ++u) {
      if (system.is_fixed(u)) continue;
      const NodeId component = system.singular[u];
      if (component != kNoNode && !has_ground[component])
        has_ground[component] = 1;
      else
        nodes.push_back(u);
    }
    return nodes;
  }

  SparseMatrix lower_triangle(const LaplacianSystem& system) const {
    std::vector<int> number(system.num_nodes(), -1);
    for (std::size_t i = 0; i < node_of_.size(); ++i) number[node_of_[i]] = static_cast<int>(i);
    const auto size = static_cast<Eigen::Index>(node_of_.size());
    SparseMatrix matrix(size, size);
    matrix.reserve(static_cast<Eigen::Index>(system.num_arcs / 2) + size);
    std::vector<std::pair<int, double>> below;  // the diagonal
    for (std::size_t i = 0; i < node_of_.size(); ++i) {
      const NodeId u = node_of_[i];
      const int own = static_cast<int>(i);
      below.clear();
      for (EdgeIndex arc = system.graph.offsets[u]; arc < system.graph.offsets[u + 1]; ++arc) {
        const int other = number[system.graph.neighbors[arc]];
        if (other > own) below.emplace_back(other, -static_cast<double>(system.graph.weight(arc)));
      }
      // Rows of a graph are sorted, those of a reordered system are not.
      if (!std::is_sorted(below.begin(), below.end())) std::sort(below.begin(), below.end());
      matrix.startVec(own);
      matrix.insertBack(own, own) = 1 / system.inverse_degree[u];
      for (const auto& [other, value] : below) matrix.insertBack(other, own) = value;
    }
    matrix.finalize();
    return matrix;
  }

  std::vector<NodeId> node_of_;
  std::size_t num_nodes_;
  Factor factor_;
  std::uint64_t entries_ = 0;
};

}  // namespace

std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system, std::uint64_t max_entries) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (system.num_nodes() >= kMost || system.num_arcs >= kMost) return nullptr;
  auto factor = std::make_unique<ExactCholesky>(system, max_entries);
  if (!factor->is_sound()) return nullptr;
  return factor;
}

}  // namespace copse
