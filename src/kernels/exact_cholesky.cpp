// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_cholesky.hpp"

#include <Eigen/SparseCholesky>
#include <cmath>
#include <limits>
#include <vector>

namespace copse {

namespace {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

class ExactCholesky final : public Preconditioner {
 public:
  explicit ExactCholesky(const LaplacianSystem& system) : node_of_(unknowns(system)) {
    num_nodes_ = system.num_nodes();
    factor_.compute(lower_triangle(system));
    entries_ = factor_.info() == Eigen::Success
                   ? static_cast<std::uint64_t>(factor_.matrixL().nestedExpression().nonZeros())
                   : 0;
  }

  /// False as well for a factor with infinite or undefined pivots.
  bool is_sound() const {
    if (factor_.info() != Eigen::Success) return false;
    const auto pivots = factor_.vectorD();
    for (Eigen::Index i = 0; i < pivots.size(); ++i) {
      if (!(pivots[i] > 0) || !std::isfinite(pivots[i])) return false;
    }
    return true;
  }

  ColumnValues apply(double* z, int width) const override {
    ColumnValues dot{};
    const auto w = static_cast<std::size_t>(width);
    Eigen::VectorXd column(static_cast<Eigen::Index>(node_of_.size()));
    for (std::size_t c = 0; c < w; ++c) {
      for (std::size_t i = 0; i < node_of_.size(); ++i)
        column[static_cast<Eigen::Index>(i)] = z[node_of_[i] * w + c];
      for (std::size_t u = 0; u < num_nodes_; ++u) z[u * w + c] = 0;
      if (node_of_.empty()) continue;
      const Eigen::VectorXd solved = factor_.solve(column);
      dot[c] = solved.dot(column);
      for (std::size_t i = 0; i < node_of_.size(); ++i)
        z[node_of_[i] * w + c] = solved[static_cast<Eigen::Index>(i)];
    }
    return dot;
  }

  std::uint64_t entries() const override { return entries_; }

 private:
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
    std::vector<Eigen::Triplet<double, int>> entries;
    for (std::size_t i = 0; i < node_of_.size(); ++i) {
      const NodeId u = node_of_[i];
      const int own = static_cast<int>(i);
      entries.emplace_back(own, own, 1 / system.inverse_degree[u]);
      for (EdgeIndex arc = system.graph.offsets[u]; arc < system.graph.offsets[u + 1]; ++arc) {
        const int other = number[system.graph.neighbors[arc]];
        if (other > own) entries.emplace_back(other, own, -static_cast<double>(system.graph.weight(arc)));
      }
    }
    const auto size = static_cast<Eigen::Index>(node_of_.size());
    SparseMatrix matrix(size, size);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }

  std::vector<NodeId> node_of_;
  std::size_t num_nodes_ = 0;
  Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower> factor_;
  std::uint64_t entries_ = 0;
};

}  // namespace

std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  if (system.num_nodes() >= kMost || system.num_arcs >= kMost) return nullptr;
  auto factor = std::make_unique<ExactCholesky>(system);
  if (!factor->is_sound()) return nullptr;
  return factor;
}

}  // namespace copse
