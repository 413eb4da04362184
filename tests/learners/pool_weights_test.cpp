// SPDX-License-Identifier: Apache-2.0
// The weights of a pool beside a search that knows nothing of gradients.

#include "learners/pool_weights.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "oracle/graphs.hpp"
#include "oracle/spectral.hpp"

namespace copse {
namespace {

/// Members whose feature is the label plus noise of their own size.
struct Opinions {
  std::vector<double> features;
  std::vector<Label> labels;
};
Opinions some_opinions(std::size_t rows, std::size_t classes, const std::vector<double>& noise,
                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Opinions opinions;
  for (std::size_t j = 0; j < rows; ++j) {
    opinions.labels.push_back(static_cast<Label>(random() % classes));
    for (const double size : noise)
      for (std::size_t c = 0; c < classes; ++c)
        opinions.features.push_back((c == opinions.labels.back() ? 1 : 0) + size * normal(random));
  }
  return opinions;
}

double penalised_loss(const Opinions& opinions, std::size_t classes, const PoolPrior& prior,
                      const PoolWeights& pool) {
  const std::size_t width = prior.start.size() * classes;
  double loss = 0;
  for (std::size_t j = 0; j < opinions.labels.size(); ++j) {
    std::vector<double> exponent = pool.biases;
    for (std::size_t i = 0; i < width; ++i)
      exponent[i % classes] += pool.weights[i / classes] * opinions.features[j * width + i];
    double sum = 0;
    for (const double e : exponent) sum += std::exp(e - exponent[opinions.labels[j]]);
    loss += std::log(sum);
  }
  for (std::size_t m = 0; m < prior.start.size(); ++m)
    loss += prior.pull * prior.rho * (pool.weights[m] - prior.start[m]) * (pool.weights[m] - prior.start[m]);
  for (const double b : pool.biases) loss += prior.rho * b * b;
  return loss;
}

/// One unknown after the other, by ever smaller steps.
PoolWeights by_coordinates(const Opinions& opinions, std::size_t classes, const PoolPrior& prior) {
  PoolWeights pool{prior.start, std::vector<double>(classes)};
  const auto improve = [&](double& x, double low, double high, double by) {
    const double before = x, loss = penalised_loss(opinions, classes, prior, pool);
    x = std::clamp(before + by, low, high);
    if (penalised_loss(opinions, classes, prior, pool) < loss) return true;
    x = before;
    return false;
  };
  for (double by = 0.5; by > 1e-6; by /= 2) {
    for (bool moved = true; moved;) {
      moved = false;
      for (double& w : pool.weights) moved |= improve(w, 0, 1e9, by) || improve(w, 0, 1e9, -by);
      if (!prior.with_biases) continue;
      for (double& b : pool.biases)
        moved |= improve(b, -kLargestBias, kLargestBias, by) || improve(b, -kLargestBias, kLargestBias, -by);
    }
  }
  return pool;
}

TEST(PoolWeights, are_those_of_a_search_by_coordinates) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const std::size_t classes = 2 + seed % 3;
    const PoolPrior prior{{0.3, 0.4, 0.1}, seed % 2 == 0 ? 1.0 : 4.0, 2, seed % 4 < 2};
    const Opinions opinions = some_opinions(60, classes, {0.5, 1, 3}, seed);
    const PoolWeights fast = fit_pool(opinions.features, opinions.labels, classes, prior),
                      slow = by_coordinates(opinions, classes, prior);
    for (std::size_t m = 0; m < 3; ++m) EXPECT_NEAR(fast.weights[m], slow.weights[m], 1e-4);
    for (std::size_t c = 0; c < classes; ++c) EXPECT_NEAR(fast.biases[c], slow.biases[c], 1e-4);
    EXPECT_LE(penalised_loss(opinions, classes, prior, fast),
              penalised_loss(opinions, classes, prior, slow) + 1e-8);
  }
}

TEST(PoolWeights, go_to_the_member_that_knows_and_leave_the_one_that_misleads) {
  Opinions opinions = some_opinions(400, 3, {0.3, 5, 0.3}, 1);
  for (std::size_t j = 0; j < 400; ++j)
    for (std::size_t c = 0; c < 3; ++c) opinions.features[j * 9 + 6 + c] *= -1;  // says the opposite
  const PoolWeights pool = fit_pool(opinions.features, opinions.labels, 3, {{0.3, 0.3, 0.3}, 1, 2, true});
  EXPECT_GT(pool.weights[0], 2);
  EXPECT_LT(pool.weights[1], 0.3);
  EXPECT_EQ(pool.weights[2], 0);
}

TEST(PoolWeights, give_probabilities_also_of_features_of_any_size) {
  const PoolWeights pool{{1, 1}, {0, 0, 0}};
  std::vector<double> p(3);
  pool.probabilities(std::vector<double>{1e6, -1e6, 0, 1e6, 0, 0}, p);
  EXPECT_DOUBLE_EQ(p[0], 1);
  EXPECT_DOUBLE_EQ(p[0] + p[1] + p[2], 1);
}

TEST(PoolWeights, mixing_with_neighbors_is_the_softmax_of_mean_logarithms_where_they_are_alike) {
  int num_mixed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Graph graph =
        oracle::random_graph({.num_nodes = 30, .num_edges = 40, .seed = seed, .weighted = seed % 2 == 0});
    const Eigen::MatrixXd adjacency = oracle::adjacency(graph);
    const Eigen::VectorXd degrees = adjacency.rowwise().sum();
    std::mt19937_64 random(seed);
    Buffer<double> rows(90);
    Eigen::MatrixXd given(30, 3), a(0, 3), b(0, 3);
    for (Eigen::Index u = 0; u < 30; ++u) {
      for (Eigen::Index c = 0; c < 3; ++c) given(u, c) = static_cast<double>(random() % 1000);
      given.row(u) /= given.row(u).sum();
      for (Eigen::Index c = 0; c < 3; ++c) rows[static_cast<std::size_t>(3 * u + c)] = given(u, c);
      if (degrees[u] == 0) continue;
      a.conservativeResize(a.rows() + 1, 3);
      a.bottomRows(1) = given.row(u);
    }
    for (Eigen::Index u = 0; u < 30; ++u) {
      if (degrees[u] == 0) continue;
      b.conservativeResize(b.rows() + 1, 3);
      b.bottomRows(1) = adjacency.row(u) * given / degrees[u];
    }
    const bool are_alike =
        ((a.rowwise() - a.colwise().mean()).array() * (b.rowwise() - b.colwise().mean()).array()).sum() > 0;
    num_mixed += are_alike ? 1 : 0;
    Eigen::MatrixXd expected = given;
    const Eigen::MatrixXd logarithms = (given.array() + 0.001).log();
    for (Eigen::Index u = 0; u < 30 && are_alike; ++u) {
      if (degrees[u] == 0) continue;
      const Eigen::RowVector3d exponents =
          0.6 * (logarithms.row(u) + adjacency.row(u) * logarithms / degrees[u]);
      expected.row(u) = exponents.array().exp() / exponents.array().exp().sum();
    }
    mix_with_neighbors(graph, 3, rows, {.threads = 2});
    for (std::size_t i = 0; i < 90; ++i)
      EXPECT_NEAR(rows[i], expected(static_cast<Eigen::Index>(i / 3), static_cast<Eigen::Index>(i % 3)),
                  1e-12);
  }
  EXPECT_GT(num_mixed, 2);
  EXPECT_LT(num_mixed, 10);
}

}  // namespace
}  // namespace copse
