// SPDX-License-Identifier: Apache-2.0
#include "learners/ridge_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

constexpr std::size_t kRidgeBlock = 256;     // rows of a product
constexpr std::size_t kMostSums = 64;        // matrices of sums that are kept at a time
constexpr std::size_t kMostTried = 1 << 14;  // examples that are left out to choose lambda
constexpr std::array kExponents = {1.0, 2.0, 4.0, 8.0, 16.0};
/// Times the mean of the squared singular values.
constexpr std::array kLambdas = {1e-2, 3.16e-2, 1e-1, 3.16e-1, 1.0, 3.16, 1e1, 3.16e1, 1e2};
/// Nearer to 1 a residual says nothing: its example alone decides its value.
constexpr double kMostLeverage = 0.999;

struct RidgeSums {
  Eigen::MatrixXd squares, by_column;
  Eigen::VectorXd total;
};

Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

/// For x in [0, 1], with the same bits everywhere.
double power(double x, double exponent) {
  return x > 0 ? exponential_of(std::min(-exponent * negative_log(std::min(x, 1.0)), 700.0)) : 0;
}

}  // namespace

RidgeRegression RidgeRegression::best(const SpectralEmbedding& embedding,
                                      const std::vector<RidgeExample>& examples, std::size_t num_columns,
                                      const RidgeOptions& options, const Execution& execution) {
  const auto fit = [&](double exponent) {
    return RidgeRegression(embedding, examples, num_columns, {options.lambda, exponent, options.sets},
                           execution);
  };
  if (options.exponent > 0) return fit(options.exponent);
  RidgeRegression best = fit(kExponents[0]);
  for (std::size_t i = 1; i < kExponents.size(); ++i) {
    RidgeRegression next = fit(kExponents[i]);
    if (next.error() >= best.error()) break;  // it has one valley, as a rule
    best = std::move(next);
  }
  return best;
}

RidgeRegression::RidgeRegression(const SpectralEmbedding& embedding, std::vector<RidgeExample> examples,
                                 std::size_t num_columns, const RidgeOptions& options,
                                 const Execution& execution)
    : embedding_(&embedding),
      examples_(std::move(examples)),
      sets_(options.sets),
      exponent_(options.exponent),
      scale_(index(embedding.dimension)),
      target_mean_(index(num_columns)) {
  // Rows of the embedding have the first power of the eigenvalues in them.
  for (std::size_t c = 0; c < embedding.dimension; ++c)
    scale_[index(c)] = power(std::fabs(embedding.eigenvalues[c] / embedding.eigenvalues[0]), exponent_ - 1);
  sum_up(execution);
  choose_lambda(options.lambda, execution);
  const Eigen::VectorXd shrunk = (squares_.array() + lambda_).inverse();
  weights_ = (directions_ * shrunk.asDiagonal() * products_).transpose();
  offsets_ = target_mean_ - weights_ * mean_;
}

Eigen::RowVectorXd RidgeRegression::point(NodeId node) const {
  const std::span<const float> row = embedding_->row(node);
  Eigen::RowVectorXd x(scale_.size());
  for (std::size_t c = 0; c < row.size(); ++c) x[index(c)] = static_cast<double>(row[c]) * scale_[index(c)];
  return x / std::max(x.norm(), std::numeric_limits<double>::min());
}

RidgeRegression::Rows RidgeRegression::points(std::span<const RidgeExample> some) const {
  Rows result(index(some.size()), scale_.size());
  for (std::size_t i = 0; i < some.size(); ++i) result.row(index(i)) = point(some[i].node);
  return result;
}

RidgeRegression::Rows RidgeRegression::turned(std::span<const RidgeExample> some) const {
  return (points(some).rowwise() - mean_.transpose()) * directions_;
}

void RidgeRegression::sum_up(const Execution& execution) {
  const Eigen::Index d = index(embedding_->dimension), columns = target_mean_.size();
  const std::span<const RidgeExample> all = examples_;
  const RidgeSums nothing{Eigen::MatrixXd::Zero(d, d), Eigen::MatrixXd::Zero(d, columns),
                          Eigen::VectorXd::Zero(d)};
  const RidgeSums sums = deterministic_reduce(
      execution, all.size(), nothing,
      [&](std::size_t begin, std::size_t end) {
        RidgeSums part = nothing;
        for (std::size_t first = begin; first < end; first += kRidgeBlock) {
          const auto some = all.subspan(first, std::min(kRidgeBlock, end - first));
          const Rows x = points(some);
          part.squares.noalias() += x.transpose() * x;
          for (std::size_t i = 0; i < some.size(); ++i)
            for (const Label c : columns_of(some[i])) part.by_column.col(c) += x.row(index(i)).transpose();
          part.total += x.colwise().sum().transpose();
        }
        return part;
      },
      [](RidgeSums total, const RidgeSums& part) {
        total.squares += part.squares;
        total.by_column += part.by_column;
        total.total += part.total;
        return total;
      },
      std::max(kRidgeBlock, all.size() / kMostSums + 1));
  const auto count = static_cast<double>(all.size());
  target_mean_.setZero();
  for (const RidgeExample& example : all)
    for (const Label c : columns_of(example)) target_mean_[c] += 1 / count;
  mean_ = sums.total / count;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(sums.squares -
                                                              count * mean_ * mean_.transpose());
  squares_ = solver.eigenvalues().cwiseMax(0.0);
  directions_ = solver.eigenvectors();
  products_ = directions_.transpose() * (sums.by_column - count * mean_ * target_mean_.transpose());
}

// With the centred rows U S V', the hat matrix has the diagonal h_j = sum of U_ji^2 S_i^2 / (S_i^2 + lambda),
// and 1/l more for the means. Leaving example j out changes its residual r_j to r_j / (1 - h_j), exactly
// (Allen 1974).
RidgeRegression::Rows RidgeRegression::residuals(std::span<const RidgeExample> some, const Rows& turned,
                                                 double lambda) const {
  const Rows shrunk = turned * (squares_.array() + lambda).inverse().matrix().asDiagonal();
  Rows result = -(shrunk * products_);
  result.rowwise() -= target_mean_.transpose();
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double leverage =
        shrunk.row(index(i)).dot(turned.row(index(i))) + 1 / static_cast<double>(examples_.size());
    for (const Label c : columns_of(some[i])) result(index(i), c) += 1;
    result.row(index(i)) /= 1 - std::min(leverage, kMostLeverage);
  }
  return result;
}

void RidgeRegression::choose_lambda(double given, const Execution& execution) {
  const double rank = static_cast<double>(std::min(examples_.size(), embedding_->dimension));
  const double unit = std::max(squares_.sum() / rank, 1e-12);
  std::vector<double> lambdas{given};
  if (given == 0) lambdas.assign(kLambdas.begin(), kLambdas.end());
  if (given == 0)
    for (double& lambda : lambdas) lambda *= unit;
  std::vector<RidgeExample> tried;
  for (std::size_t i = 0; i < examples_.size(); i += (examples_.size() - 1) / kMostTried + 1)
    tried.push_back(examples_[i]);
  const std::vector<double> errors = deterministic_reduce(
      execution, tried.size(), std::vector<double>(lambdas.size()),
      [&](std::size_t begin, std::size_t end) {
        const auto some = std::span<const RidgeExample>(tried).subspan(begin, end - begin);
        const Rows in_eigenvectors = turned(some);
        std::vector<double> part;
        for (const double lambda : lambdas)
          part.push_back(residuals(some, in_eigenvectors, lambda).squaredNorm());
        return part;
      },
      [](std::vector<double> total, const std::vector<double>& part) {
        for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
        return total;
      },
      kRidgeBlock);
  const auto least = std::ranges::min_element(errors);
  error_ = *least;
  lambda_ = lambdas[static_cast<std::size_t>(least - errors.begin())];
}

void RidgeRegression::values(NodeId node, std::span<double> out) const {
  const Eigen::RowVectorXd x = point(node);
  std::copy_n(offsets_.data(), out.size(), out.begin());
  for (Eigen::Index i = 0; i < x.size(); ++i)
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += x[i] * weights_(index(c), i);
}

Eigen::MatrixXd RidgeRegression::left_out(std::size_t begin, std::size_t end) const {
  const auto some = std::span<const RidgeExample>(examples_).subspan(begin, end - begin);
  Rows result = -residuals(some, turned(some), lambda_);
  for (std::size_t i = 0; i < some.size(); ++i)
    for (const Label c : columns_of(some[i])) result(index(i), c) += 1;
  return result;
}

std::vector<double> RidgeRegression::influence(NodeId node) const {
  const RidgeExample self{node, 0};
  const Eigen::VectorXd x =
      directions_ * turned({&self, 1}).transpose().cwiseQuotient((squares_.array() + lambda_).matrix());
  const double base = 1 / static_cast<double>(examples_.size()) - x.dot(mean_);
  std::vector<double> result;
  for (const RidgeExample& example : examples_) result.push_back(base + point(example.node).dot(x));
  return result;
}

}  // namespace copse
