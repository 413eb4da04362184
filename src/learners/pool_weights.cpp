// SPDX-License-Identifier: Apache-2.0
#include "learners/pool_weights.hpp"

#include <algorithm>
#include <cmath>

#include "copse/support/parallel.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

constexpr double kMixed = 0.6, kLeastShare = 1e-3;
constexpr int kMostSteps = 500;
constexpr double kSmallStep = 1e-6;  // no unknown moves by more: digits that no answer shows

/// Softmax, in place.
void make_probabilities(std::span<double> exponents) {
  const double top = *std::max_element(exponents.begin(), exponents.end());
  double total = 0;
  for (double& p : exponents) total += p = exponential_of(p - top);
  for (double& p : exponents) p /= total;
}

/// Of rows of numbers and others, summed over their columns.
class Covariance {
 public:
  explicit Covariance(std::size_t size) : of_a_(size), of_b_(size) {}
  void add(std::span<const double> a, std::span<const double> b) {
    for (std::size_t c = 0; c < a.size(); ++c) {
      of_a_[c] += a[c];
      of_b_[c] += b[c];
      products_ += a[c] * b[c];
    }
    ++count_;
  }
  Covariance plus(const Covariance& other) const {
    Covariance sum = *this;
    for (std::size_t c = 0; c < of_a_.size(); ++c) {
      sum.of_a_[c] += other.of_a_[c];
      sum.of_b_[c] += other.of_b_[c];
    }
    sum.products_ += other.products_;
    sum.count_ += other.count_;
    return sum;
  }
  double value() const {
    double of_means = 0;
    for (std::size_t c = 0; c < of_a_.size(); ++c) of_means += of_a_[c] * of_b_[c];
    return count_ > 0 ? (products_ - of_means / count_) / count_ : 0;
  }

 private:
  std::vector<double> of_a_, of_b_;
  double products_ = 0, count_ = 0;
};

/// The penalised log loss, its gradient, and the box that the unknowns stay in. Unknowns: weights, then
/// biases if there are any.
class PoolLoss {
 public:
  PoolLoss(std::span<const double> features, std::span<const Label> labels, std::size_t num_classes,
           const PoolPrior& prior)
      : features_(features), labels_(labels), num_classes_(num_classes), prior_(prior) {}

  std::size_t num_members() const { return prior_.start.size(); }
  std::size_t size() const { return num_members() + (prior_.with_biases ? num_classes_ : 0); }

  PoolWeights unpacked(std::span<const double> x) const {
    PoolWeights pool{{x.begin(), x.begin() + static_cast<std::ptrdiff_t>(num_members())},
                     std::vector<double>(num_classes_)};
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(num_members()), x.end(), pool.biases.begin());
    return pool;
  }

  double value(std::span<const double> x, std::span<double> gradient) const {
    const PoolWeights pool = unpacked(x);
    const std::size_t members = num_members(), width = members * num_classes_;
    std::vector<double> p(num_classes_);
    double loss = add_penalty(x, gradient);
    for (std::size_t j = 0; j < labels_.size(); ++j) {
      const std::span<const double> row = features_.subspan(j * width, width);
      pool.probabilities(row, p);
      loss -= logarithm_of(std::max(p[labels_[j]], 1e-300));
      p[labels_[j]] -= 1;  // now the derivative by the exponents
      for (std::size_t m = 0; m < members; ++m)
        for (std::size_t c = 0; c < num_classes_; ++c) gradient[m] += p[c] * row[m * num_classes_ + c];
      if (prior_.with_biases)
        for (std::size_t c = 0; c < num_classes_; ++c) gradient[members + c] += p[c];
    }
    return loss;
  }

  /// The second derivative by each unknown at x: in units of its root all directions are about as steep.
  std::vector<double> curvature(std::span<const double> x) const {
    const PoolWeights pool = unpacked(x);
    const std::size_t members = num_members(), width = members * num_classes_;
    std::vector<double> p(num_classes_), result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) result[i] = 2 * prior_.rho * (i < members ? prior_.pull : 1);
    for (std::size_t j = 0; j < labels_.size(); ++j) {
      const std::span<const double> row = features_.subspan(j * width, width);
      pool.probabilities(row, p);
      for (std::size_t m = 0; m < members; ++m) {
        double mean = 0, square = 0;
        for (std::size_t c = 0; c < num_classes_; ++c) {
          const double feature = row[m * num_classes_ + c];
          mean += p[c] * feature;
          square += p[c] * feature * feature;
        }
        result[m] += square - mean * mean;
      }
      for (std::size_t c = 0; c < num_classes_ && prior_.with_biases; ++c)
        result[members + c] += p[c] * (1 - p[c]);
    }
    return result;
  }

  double clamped(std::size_t i, double x) const {
    return i < num_members() ? std::max(x, 0.0) : std::clamp(x, -kLargestBias, kLargestBias);
  }

 private:
  double add_penalty(std::span<const double> x, std::span<double> gradient) const {
    double loss = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool is_weight = i < num_members();
      const double scale = prior_.rho * (is_weight ? prior_.pull : 1),
                   off = x[i] - (is_weight ? prior_.start[i] : 0);
      loss += scale * off * off;
      gradient[i] = 2 * scale * off;
    }
    return loss;
  }

  std::span<const double> features_;
  std::span<const Label> labels_;
  std::size_t num_classes_;
  const PoolPrior& prior_;
};

/// Beck & Teboulle 2009 (FISTA) in units of the curvature, started again whenever momentum points uphill.
class ProjectedGradients {
 public:
  ProjectedGradients(const PoolLoss& loss, std::vector<double> start)
      : loss_(loss), x_(std::move(start)), ahead_(x_), gradient_(x_.size()), curvature_(loss.curvature(x_)) {}

  std::vector<double> minimum() {
    for (int i = 0; i < kMostSteps; ++i)
      if (step() < kSmallStep) break;
    return x_;
  }

 private:
  /// Returns how far the unknown that moved most has moved.
  double step() {
    const double here = loss_.value(ahead_, gradient_);
    std::vector<double> next(x_.size());
    while (!descends(here, next)) length_ /= 2;
    double uphill = 0, moved = 0;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      uphill += curvature_[i] * (ahead_[i] - next[i]) * (next[i] - x_[i]);
      moved = std::max(moved, std::fabs(next[i] - x_[i]));
    }
    const double following = uphill > 0 ? 1 : (1 + std::sqrt(1 + 4 * momentum_ * momentum_)) / 2;
    const double share = uphill > 0 ? 0 : (momentum_ - 1) / following;
    for (std::size_t i = 0; i < x_.size(); ++i) ahead_[i] = next[i] + share * (next[i] - x_[i]);
    momentum_ = following;
    x_ = std::move(next);
    length_ *= 1.1;  // a step that was halved once too often recovers
    return moved;
  }

  /// Whether the step of the present length stays below its quadratic bound.
  bool descends(double here, std::vector<double>& next) const {
    double linear = 0, square = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = loss_.clamped(i, ahead_[i] - length_ / curvature_[i] * gradient_[i]);
      const double by = next[i] - ahead_[i];
      linear += gradient_[i] * by;
      square += curvature_[i] * by * by;
    }
    std::vector<double> unused(next.size());
    return loss_.value(next, unused) <= here + linear + square / (2 * length_) + 1e-12 * std::fabs(here) ||
           length_ < 1e-18;
  }

  const PoolLoss& loss_;
  std::vector<double> x_, ahead_, gradient_, curvature_;
  double length_ = 1, momentum_ = 1;
};

}  // namespace

void PoolWeights::probabilities(std::span<const double> features, std::span<double> result) const {
  const std::size_t classes = result.size();
  std::copy(biases.begin(), biases.end(), result.begin());
  for (std::size_t m = 0; m < weights.size(); ++m)
    for (std::size_t c = 0; c < classes; ++c) result[c] += weights[m] * features[m * classes + c];
  make_probabilities(result);
}

PoolWeights fit_pool(std::span<const double> features, std::span<const Label> labels, std::size_t num_classes,
                     const PoolPrior& prior) {
  const PoolLoss loss(features, labels, num_classes, prior);
  std::vector<double> start(prior.start);
  start.resize(loss.size());
  return loss.unpacked(ProjectedGradients(loss, std::move(start)).minimum());
}

void mix_with_neighbors(const GraphView& graph, std::size_t num_classes, Buffer<double>& probabilities,
                        const Execution& execution) {
  const auto row_of = [&](Buffer<double>& rows, NodeId node) {
    return rows.span().subspan(node * num_classes, num_classes);
  };
  const auto mean_of_neighbors = [&](NodeId node, std::span<double> mean) {
    std::ranges::fill(mean, 0.0);
    const double total = weighted_degree(graph, node);
    for (EdgeIndex arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc) {
      const std::span<const double> other = row_of(probabilities, graph.neighbors[arc]);
      for (std::size_t c = 0; c < num_classes; ++c) mean[c] += graph.weight(arc) / total * other[c];
    }
  };
  const auto covariance = deterministic_reduce(
      execution, graph.num_nodes(), Covariance(num_classes),
      [&](std::size_t begin, std::size_t end) {
        Covariance part(num_classes);
        std::vector<double> mean(num_classes);
        for (auto node = static_cast<NodeId>(begin); node < end; ++node) {
          const std::span<const double> own = row_of(probabilities, node);
          if (graph.degree(node) == 0 || std::ranges::all_of(own, [](double p) { return p == 0; })) continue;
          mean_of_neighbors(node, mean);
          part.add(own, mean);
        }
        return part;
      },
      [](Covariance all, const Covariance& part) { return all.plus(part); });
  if (!(covariance.value() > 0)) return;
  const auto for_each_row = [&](const auto& body) {
    parallel_blocks(execution, graph.num_nodes(), std::size_t{1} << 12,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (auto node = static_cast<NodeId>(begin); node < end; ++node)
                        if (graph.degree(node) > 0) body(node, row_of(probabilities, node));
                    });
  };
  for_each_row([](NodeId, std::span<double> row) {
    for (double& p : row) p = logarithm_of(p + kLeastShare);
  });
  Buffer<double> mixed(probabilities.size());
  for_each_row([&](NodeId node, std::span<const double> own) {
    const std::span<double> result = row_of(mixed, node);
    mean_of_neighbors(node, result);
    for (std::size_t c = 0; c < num_classes; ++c) result[c] = kMixed * (result[c] + own[c]);
    make_probabilities(result);
  });
  for_each_row(
      [&](NodeId node, std::span<double> row) { std::ranges::copy(row_of(mixed, node), row.begin()); });
}

}  // namespace copse
