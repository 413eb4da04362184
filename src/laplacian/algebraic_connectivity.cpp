// SPDX-License-Identifier: Apache-2.0
#include "laplacian/algebraic_connectivity.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "copse/support/random.hpp"

namespace copse {
namespace {

/// A symmetric tridiagonal matrix with eigenvalues above 0, and its eigenvalues by bisection.
class Tridiagonal {
 public:
  /// One row and column more; `link` stands beside `diagonal` and is ignored in the first.
  void add(double diagonal, double link) {
    link = diagonal_.empty() ? 0 : std::fabs(link);
    // Gershgorin's disks: this one, and the one before, which is wider now.
    top_ = std::fmax(top_, diagonal + link);
    if (!diagonal_.empty()) top_ = std::fmax(top_, diagonal_.back() + std::sqrt(squares_.back()) + link);
    diagonal_.push_back(diagonal);
    squares_.push_back(link * link);
  }

  std::size_t size() const { return diagonal_.size(); }

  /// The `rank`-th smallest, from 1, to the relative `precision`.
  double smallest(std::size_t rank, double precision) const {
    double low = top_ * 1e-15, high = top_ * 1.01;
    while (high > low * (1 + precision)) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      if (middle <= low || middle >= high) break;
      (num_below(middle) >= rank ? high : low) = middle;
    }
    return high;
  }
  double largest(double precision = 1e-12) const { return smallest(size(), precision); }

 private:
  // Eigenvalues below `shift`: Sturm's count.
  std::size_t num_below(double shift) const {
    std::size_t below = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
      pivot = diagonal_[k] - shift - (k == 0 ? 0 : squares_[k] / pivot);
      if (pivot == 0) pivot = -1e-300;
      below += pivot < 0;
    }
    return below;
  }

  std::vector<double> diagonal_, squares_;
  double top_ = 0;
};

constexpr std::size_t kMaxSteps = 60;
constexpr double kTolerance = 1e-7;  // of the eigenvalue, between two steps

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void scale(std::vector<double>& x, double factor) {
  for (double& value : x) value *= factor;
}

// Of length 1, summing to 0.
std::vector<double> random_direction(NodeId num_nodes, std::uint64_t seed) {
  Stream stream(seed, Purpose::algebraic_connectivity, 0);
  std::vector<double> x(num_nodes);
  for (double& value : x) value = stream.uniform() - 0.5;
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / num_nodes;
  for (double& value : x) value -= mean;
  scale(x, 1 / std::sqrt(dot(x, x)));
  return x;
}

}  // namespace

// Lanczos with three vectors (Golub & Van Loan, Matrix Computations, section 10.1). Without orthogonalizing
// against all earlier ones copies of eigenvalues turn up; the largest is none the worse for it.
double algebraic_connectivity(const GraphView& graph, const SolveOptions& options,
                              const Execution& execution) {
  const NodeId n = graph.num_nodes();
  if (n < 2) return std::numeric_limits<double>::infinity();
  LaplacianSolver solver(graph, options.expecting(kManySolves), execution);
  std::vector<double> here = random_direction(n, execution.seed), before(n), next(n);
  Tridiagonal lanczos;
  double largest = 0, link = 0;
  for (std::size_t step = 0; step < std::min<std::size_t>(kMaxSteps, n - 1); ++step) {
    execution.throw_if_cancelled();
    solver.solve(here, next);
    const double along = dot(here, next);
    for (NodeId u = 0; u < n; ++u) next[u] -= along * here[u] + link * before[u];
    lanczos.add(along, link);
    const double found = lanczos.largest();
    const bool is_settled = found - largest <= kTolerance * found;
    largest = found;
    link = std::sqrt(dot(next, next));
    if (is_settled || link <= kTolerance * kTolerance * found) break;
    scale(next, 1 / link);
    before.swap(here);
    here.swap(next);
  }
  return 1 / largest;
}

}  // namespace copse
