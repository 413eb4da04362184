// SPDX-License-Identifier: Apache-2.0
// The pool beside dense matrices: kernels by inversion, regression by normal equations, weights by the
// formula.

#include "copse/learners/online_pool.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <map>
#include <random>

#include "copse/graph/build.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "copse/learners/fit_order.hpp"
#include "copse/learners/registry.hpp"
#include "learners/pushed_kernel.hpp"
#include "oracle/graphs.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Told {
  NodeId node;
  Label label;
};

std::vector<Told> shuffled_labels(NodeId num_nodes, double share, std::uint64_t seed) {
  std::vector<Told> told;
  const auto labels = some_labels(num_nodes, 3, share, seed);
  for (NodeId u = 0; u < num_nodes; ++u)
    if (labels[u] != kNoLabel) told.push_back({u, labels[u]});
  std::shuffle(told.begin(), told.end(), std::mt19937_64(seed));
  return told;
}

/// D^-1/2 A D^-1/2, rows of 0 for nodes without edges.
MatrixXd normalized(const GraphView& graph) {
  MatrixXd s = MatrixXd::Zero(graph.num_nodes(), graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      s(u, graph.neighbors[arc]) =
          double{graph.weight(arc)} /
          std::sqrt(weighted_degree(graph, u) * weighted_degree(graph, graph.neighbors[arc]));
  return s;
}

/// One column per class.
MatrixXd kernel_values(const GraphView& graph, std::span<const Told> told, double alpha, double ridge) {
  MatrixXd system = MatrixXd::Identity(graph.num_nodes(), graph.num_nodes()) - alpha * normalized(graph);
  MatrixXd right = MatrixXd::Zero(graph.num_nodes(), 3);
  for (const Told& one : told) {
    system(one.node, one.node) += ridge;
    right(one.node, one.label) = 1;
  }
  return system.partialPivLu().solve(right);
}

TEST(PushedKernel, is_the_solution_but_for_what_residuals_leave) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph =
        oracle::random_graph({.num_nodes = 60, .num_edges = 110, .seed = seed, .weighted = seed % 2 == 0});
    double mean = 0;
    for (NodeId u = 0; u < 60; ++u) mean += weighted_degree(graph, u) / 60;
    const auto told = shuffled_labels(60, 0.4, seed);
    for (const double ridge : {0.0, 1.0}) {
      const double alpha = ridge == 0 ? 0.85 : 0.95;
      PushedKernel kernel(graph, alpha, ridge, 1e-3);
      for (int round = 0; round < 2; ++round) {
        kernel.clear();
        for (const Told& one : told) kernel.add(one.node, one.label);
      }
      const MatrixXd exact = kernel_values(graph, told, alpha, ridge);
      for (NodeId u = 0; u < 60; ++u) {
        // (I - alpha S)^-1 takes D^1/2 1 to 1 / (1 - alpha) times itself, and a ridge only shrinks.
        const double root = graph.view().degree(u) == 0 ? 1 : std::sqrt(weighted_degree(graph, u) / mean);
        for (Label c = 0; c < 3; ++c)
          EXPECT_NEAR(kernel.value(u, c), exact(u, c), 1e-3 * root / (1 - alpha) + 1e-5) << u;
      }
    }
  }
}

/// The pool by its definition; the kernels have a test of their own.
class SlowPool {
 public:
  SlowPool(const GraphView& graph, const Execution& execution)
      : wta_(learner_row("wta").make(graph, {}, execution)),
        rank_(graph, 0.85, 0, 1e-2),
        kernel_(graph, 0.95, 1, 1e-3) {
    const SpectralEmbedding rows = spectral_embedding(graph, {.dimension = 64, .power = 3}, execution);
    x_ = MatrixXd::Ones(graph.num_nodes(), static_cast<Eigen::Index>(rows.dimension) + 1);
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      for (std::size_t c = 0; c < rows.dimension; ++c)
        x_(u, static_cast<Eigen::Index>(c)) = static_cast<double>(rows.row(u)[c]);
  }

  /// Of classes 0, 1, 2; -infinity for one that does not occur.
  VectorXd exponents(NodeId node, MatrixXd* features = nullptr) const {
    VectorXd count = VectorXd::Zero(3);
    MatrixXd xx = MatrixXd::Identity(x_.cols(), x_.cols()), xy = MatrixXd::Zero(x_.cols(), 3);
    for (const Told& one : told_) {
      ++count[one.label];
      xx += x_.row(one.node).transpose() * x_.row(one.node);
      xy.col(one.label) += x_.row(one.node).transpose();
    }
    const auto classes = static_cast<Eigen::Index>(wta_->num_classes());
    VectorXd rank(3), ridge(3);
    for (Label c = 0; c < 3; ++c) {
      rank[c] = rank_.value(node, c);
      ridge[c] = kernel_.value(node, c);
    }
    const VectorXd linear = x_.row(node) * xx.ldlt().solve(xy);
    std::vector<double> votes(wta_->num_classes());
    wta_->scores(node, votes);
    MatrixXd f = MatrixXd::Constant(4, 3, 0);
    VectorXd z = VectorXd::Constant(3, -1e300);
    for (Eigen::Index c = 0; c < classes; ++c) {
      if (count[c] == 0) continue;
      const double share = (count[c] + 1) / (count.sum() + static_cast<double>(classes));
      f.col(c) << std::log((rank[c] + 0.1 * share) / (rank.sum() + 0.1)), 4 * ridge[c],
          std::log(0.97 * votes[static_cast<std::size_t>(c)] + 0.03 * share), 4 * linear[c];
      z[c] = weights_.dot(f.col(c));
    }
    if (features != nullptr) *features = f;
    return z;
  }
  static VectorXd softmax(const VectorXd& z) {
    const VectorXd p = (z.array() - z.maxCoeff()).exp();
    return p / p.sum();
  }

  void reveal(const Told& one, bool is_reached) {
    const bool is_known = std::ranges::any_of(told_, [&](const Told& t) { return t.label == one.label; });
    if (is_reached && is_known) {
      MatrixXd f;
      const VectorXd p = softmax(exponents(one.node, &f)), gradient = f * p - f.col(one.label);
      squares_ += gradient.cwiseAbs2();
      weights_ = (weights_ - 0.3 * gradient.cwiseQuotient(squares_.cwiseSqrt())).cwiseMax(0.0);
    }
    told_.push_back(one);
    rank_.add(one.node, one.label);
    kernel_.add(one.node, one.label);
    wta_->reveal(one.node, one.label);
  }

 private:
  std::unique_ptr<Learner> wta_;
  PushedKernel rank_, kernel_;
  MatrixXd x_;
  std::vector<Told> told_;
  VectorXd weights_ = VectorXd::Constant(4, 0.25), squares_ = VectorXd::Constant(4, 1e-3);
};

TEST(OnlinePool, agrees_with_its_definition_round_by_round) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Graph graph =
        oracle::random_graph({.num_nodes = 50, .num_edges = 90, .seed = seed, .weighted = seed % 2 == 0});
    OnlinePool pool(graph, {}, {.seed = 5});
    SlowPool slow(graph, {.seed = 5});
    std::vector<double> scores;
    for (const Told& one : shuffled_labels(50, 0.6, seed)) {
      const bool is_reached = pool.predict(one.node).reached;
      if (is_reached) {
        scores.assign(pool.num_classes(), 0);
        pool.scores(one.node, scores);
        const VectorXd expected = SlowPool::softmax(slow.exponents(one.node));
        for (std::size_t c = 0; c < scores.size(); ++c)
          EXPECT_NEAR(scores[c], expected[static_cast<Eigen::Index>(c)], 1e-9) << seed << ' ' << one.node;
      }
      pool.reveal(one.node, one.label);
      slow.reveal(one, is_reached);
    }
  }
}

void expect_same_scores(const Predictor& a, const Predictor& b, NodeId num_nodes) {
  ASSERT_EQ(a.num_classes(), b.num_classes());
  std::vector<double> x(a.num_classes()), y(b.num_classes());
  for (NodeId u = 0; u < num_nodes; ++u) {
    a.scores(u, x);
    b.scores(u, y);
    ASSERT_EQ(x, y) << u;
  }
}

TEST(OnlinePool, forgets_a_label_as_if_it_had_never_been_told) {
  const Graph graph = oracle::random_graph({.num_nodes = 50, .num_edges = 90, .seed = 1});
  const auto told = shuffled_labels(50, 0.5, 3);
  OnlinePool pool(graph, {}, {}), other(graph, {}, {});
  for (const Told& one : told) pool.reveal(one.node, one.label);
  for (std::size_t i = 0; i < told.size(); ++i)
    if (i != 4) other.reveal(told[i].node, told[i].label);
  pool.retract(told[4].node);
  pool.retract(told[4].node);
  expect_same_scores(pool, other, 50);
  // A label that replaces another one is the last that was told.
  pool.reveal(told[2].node, (told[2].label + 1) % 3);
  pool.reveal(told[2].node, told[2].label);
  other.retract(told[2].node);
  other.reveal(told[2].node, told[2].label);
  expect_same_scores(pool, other, 50);
}

TEST(OnlinePool, fits_a_set_of_labels_in_the_documented_order) {
  const Graph graph = oracle::random_graph({.num_nodes = 50, .num_edges = 90, .seed = 2});
  const auto labels = some_labels(50, 3, 0.5, 2);
  OnlinePool pool(graph, {}, {.seed = 7});
  for (const NodeId node : fit_order(labels, 7)) pool.reveal(node, labels[node]);
  expect_same_scores(*OnlinePool::fit(graph, labels, 3, {}, {.seed = 7}).predictor, pool, 50);
}

}  // namespace
}  // namespace copse
