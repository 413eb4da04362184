// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

/// Random signs of an edge: a pure function of (seed, edge, projection). The ends fill half the counter, so
/// the purpose goes into the key, through Philox itself.
class EdgeSigns {
 public:
  explicit EdgeSigns(std::uint64_t seed) {
    const auto mixed = philox4x32({0, static_cast<std::uint32_t>(Purpose::resistance_projection) << 16, 0, 0},
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {mixed[0], mixed[1]};
  }
  /// Bit c is the sign of projection 32 group + c.
  std::uint32_t bits(NodeId u, NodeId v, std::uint32_t group) const {
    return philox4x32({std::min(u, v), std::max(u, v), group, 0}, key_)[0];
  }

 private:
  std::array<std::uint32_t, 2> key_;
};

constexpr std::size_t kColumns = 8;  // a block of right-hand sides; divides 32

/// Columns [first, first + count) of B' W^(1/2) q, node by node.
void project(const GraphView& graph, const EdgeSigns& signs, std::size_t first, std::size_t count,
             std::span<double> b, const Execution& execution) {
  parallel_blocks(execution, graph.num_nodes(), 4096, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto u = static_cast<NodeId>(i);
      double* row = &b[i * count];
      std::fill_n(row, count, 0.0);
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId v = graph.neighbors[arc];
        const double out = std::sqrt(static_cast<double>(graph.weight(arc))) * (u < v ? 1 : -1);
        const std::uint32_t bits = signs.bits(u, v, static_cast<std::uint32_t>(first / 32)) >> first % 32;
        for (std::size_t c = 0; c < count; ++c) row[c] += (bits >> c & 1) != 0 ? out : -out;
      }
    }
  });
}

/// ln(2 questions / (1 - confidence)).
double log_of_failure(double confidence, std::uint64_t questions) {
  return negative_log((1 - confidence) / (2 * static_cast<double>(std::max<std::uint64_t>(1, questions))));
}

}  // namespace

ResistanceSketch::ResistanceSketch(const GraphView& graph, int num_projections, const SolveOptions& options,
                                   const Execution& execution)
    : k_(static_cast<std::size_t>(std::max(0, num_projections))) {
  if (num_projections < 1)
    throw UsageError("num_projections", "it is below 1", "a hundred or so give a relative error of a half");
  const std::size_t n = graph.num_nodes();
  component_ = connected_components(graph, execution).of_node;
  points_ = Buffer<float>(n * k_);
  report_.converged = true;
  LaplacianSolver solver(graph, options.expecting(k_), execution);
  const EdgeSigns signs(execution.seed);
  const double scale = 1 / std::sqrt(static_cast<double>(k_));
  constexpr double kMost = std::numeric_limits<float>::max();  // beyond only where a solve has failed
  for (std::size_t first = 0; first < k_; first += kColumns) {
    execution.throw_if_cancelled();
    execution.report("projections", first, k_);
    const std::size_t count = std::min(kColumns, k_ - first);
    Buffer<double> x(n * count);
    project(graph, signs, first, count, x.span(), execution);
    report_ = merge(report_, solver.solve(x.span(), x.span(), count));
    for (std::size_t u = 0; u < n; ++u)
      for (std::size_t c = 0; c < count; ++c)
        points_[u * k_ + first + c] = static_cast<float>(std::clamp(x[u * count + c] * scale, -kMost, kMost));
  }
}

double ResistanceSketch::resistance(NodeId u, NodeId v) const {
  if (component_[u] != component_[v]) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::size_t c = 0; c < k_; ++c) {
    const double difference = double{points_[u * k_ + c]} - double{points_[v * k_ + c]};
    sum += difference * difference;
  }
  return sum;
}

double ResistanceSketch::diagonal(NodeId u) const {
  double sum = 0;
  for (std::size_t c = 0; c < k_; ++c) sum += double{points_[u * k_ + c]} * double{points_[u * k_ + c]};
  return sum;
}

double ResistanceSketch::relative_error(int num_projections, double confidence, std::uint64_t questions) {
  const double wanted = log_of_failure(confidence, questions) / num_projections;
  if (wanted > 1.0 / 12) return std::numeric_limits<double>::infinity();  // the bound ends at an error of 1
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double e = (low + high) / 2;
    (e * e / 4 - e * e * e / 6 < wanted ? low : high) = e;
  }
  return high;
}

int ResistanceSketch::projections_for(double relative_error, double confidence, std::uint64_t questions) {
  if (!(relative_error > 0 && relative_error <= 1))
    throw UsageError("error", "a projection's relative error lies between 0 and 1", "0.3 is usual");
  if (!(confidence > 0 && confidence < 1))
    throw UsageError("confidence", "it is not between 0 and 1", "0.95 is usual");
  const double e = relative_error;
  const double k = log_of_failure(confidence, questions) / (e * e / 4 - e * e * e / 6);
  if (k > 1e6)
    throw UsageError("error", "an error of " + std::to_string(e) + " would take more than a million solves",
                     "ask for a larger one, or for exact values");
  return static_cast<int>(std::ceil(k));
}

std::uint64_t ResistanceSketch::bytes(std::uint64_t num_nodes, int num_projections) {
  return num_nodes * (sizeof(NodeId) + sizeof(float) * static_cast<std::uint64_t>(num_projections));
}

}  // namespace copse
