// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "copse/laplacian/spectral_embedding.hpp"

namespace copse {

/// A labelled node and the column of its class, or the set of its classes.
struct RidgeExample {
  NodeId node = kNoNode;
  Label column = 0;
};

struct RidgeOptions {
  double lambda = 0, exponent = 0;  // 0: the one of a grid that errs least when every example is left out
  /// Where nodes have several labels, the columns of each set; they outlive the regression.
  std::span<const std::vector<Label>> sets = {};
};

/// One 0/1 column per class, regressed on points that an embedding gives, both from their means:
///   minimize  sum over examples of |y - b - W'x|^2 + lambda |W|^2.
/// The points are rows of U diag(|w|^exponent) divided by their lengths, w being the eigenvalues: the larger
/// the exponent, the less the later eigenvectors are believed. Sums go over fixed blocks of the examples, in
/// order: the same bits on any number of threads.
class RidgeRegression {
 public:
  /// At least one example.
  static RidgeRegression best(const SpectralEmbedding& embedding, const std::vector<RidgeExample>& examples,
                              std::size_t num_columns, const RidgeOptions& options,
                              const Execution& execution);

  const std::vector<RidgeExample>& examples() const { return examples_; }
  double lambda() const { return lambda_; }
  double exponent() const { return exponent_; }
  /// Squared, of some of the examples, when each is left out.
  double error() const { return error_; }
  /// The value of every column at a node.
  void values(NodeId node, std::span<double> out) const;
  /// The same for examples [begin, end), one row each, as if it were fitted without that one.
  Eigen::MatrixXd left_out(std::size_t begin, std::size_t end) const;
  /// What each example carries in the values at `node`, which are the sums of these over the columns.
  std::vector<double> influence(NodeId node) const;

 private:
  using Rows = Eigen::MatrixXd;

  RidgeRegression(const SpectralEmbedding& embedding, std::vector<RidgeExample> examples,
                  std::size_t num_columns, const RidgeOptions& options, const Execution& execution);
  /// Where its target is 1.
  std::span<const Label> columns_of(const RidgeExample& example) const {
    return sets_.empty() ? std::span(&example.column, 1) : std::span(sets_[example.column]);
  }
  Eigen::RowVectorXd point(NodeId node) const;
  Rows points(std::span<const RidgeExample> some) const;
  /// The same from their mean, in eigenvectors.
  Rows turned(std::span<const RidgeExample> some) const;
  void sum_up(const Execution& execution);
  /// What is left of the targets of `some` when each is left out.
  Rows residuals(std::span<const RidgeExample> some, const Rows& turned, double lambda) const;
  void choose_lambda(double given, const Execution& execution);

  const SpectralEmbedding* embedding_;
  std::vector<RidgeExample> examples_;
  std::span<const std::vector<Label>> sets_;
  double exponent_, lambda_ = 0, error_ = 0;
  Eigen::RowVectorXd scale_;  // of the columns of the embedding
  Eigen::VectorXd mean_, target_mean_;
  Eigen::MatrixXd products_;    // centred points' times targets, in eigenvectors
  Eigen::VectorXd squares_;     // eigenvalues of the centred points' products
  Eigen::MatrixXd directions_;  // their eigenvectors
  Eigen::MatrixXd weights_;     // columns by dimensions
  Eigen::VectorXd offsets_;
};

}  // namespace copse
