// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/online_pool.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "copse/laplacian/spectral_embedding.hpp"
#include "copse/learners/fit_order.hpp"
#include "copse/learners/wta.hpp"
#include "learners/pushed_kernel.hpp"
#include "learners/signs.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

constexpr SpectralOptions kSmallEmbedding{.dimension = 64, .power = 3};
constexpr std::size_t kPoolMembers = 4;
// Measured on cora, citeseer, polblogs, email_eu_core and fb100_amherst41 (docs/learners/online_pool.md).
constexpr double kPageRank = 0.85, kKernelPageRank = 0.95, kKernelRidge = 1;
constexpr double kSmallRank = 1e-2, kSmallResidual = 1e-3;  // less makes no difference
constexpr double kRankShare = 0.1, kVoteShare = 0.03;       // of the prior, in what becomes a logarithm
constexpr double kScale = 4;                                // of a regression of 0 and 1
constexpr double kRate = 0.3;
constexpr double kFirstSquare = 1e-3;

/// Ridge regression of 0 and 1, one column per class, by rank-one updates (Sherman & Morrison 1950): O(d^2)
/// per example, O(d) per value.
class RecursiveRidge {
 public:
  explicit RecursiveRidge(std::size_t dimension) : dimension_(static_cast<Eigen::Index>(dimension) + 1) {
    clear();
  }

  void clear() {
    inverse_ = Eigen::MatrixXd::Identity(dimension_, dimension_);
    columns_.clear();
  }
  double value(std::span<const float> row, Label label) const {
    return label < columns_.size() ? point(row).dot(columns_[label]) : 0;
  }
  void add(std::span<const float> row, Label label) {
    if (label >= columns_.size()) columns_.resize(std::size_t{label} + 1, Eigen::VectorXd::Zero(dimension_));
    const Eigen::VectorXd x = point(row), direction = inverse_ * x;
    const double length = 1 + x.dot(direction);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      columns_[c] += ((c == label ? 1 : 0) - x.dot(columns_[c])) / length * direction;
    inverse_.noalias() -= direction / length * direction.transpose();
  }

 private:
  Eigen::VectorXd point(std::span<const float> row) const {
    Eigen::VectorXd x(dimension_);
    std::copy(row.begin(), row.end(), x.data());
    x[dimension_ - 1] = 1;
    return x;
  }

  Eigen::Index dimension_;
  Eigen::MatrixXd inverse_;
  std::vector<Eigen::VectorXd> columns_;
};

using Features = std::array<double, kPoolMembers>;

}  // namespace

struct OnlinePool::State {
  State(const GraphView& graph, const Options& options, const Execution& execution)
      : wta(graph, {.num_trees = options.num_trees}, execution),
        rank(graph, kPageRank, 0, kSmallRank),
        kernel(graph, kKernelPageRank, kKernelRidge, kSmallResidual),
        embedding(spectral_embedding(graph, kSmallEmbedding, execution)),
        regression(embedding.dimension) {
    forget();
  }

  void forget() {
    rank.clear();
    kernel.clear();
    regression.clear();
    weights.fill(1.0 / kPoolMembers);
    squares.fill(kFirstSquare);
  }

  void add(NodeId node, Label label) {
    wta.reveal(node, label);
    rank.add(node, label);
    kernel.add(node, label);
    regression.add(embedding.row(node), label);
  }

  /// What each member says of every class that occurs, as an exponent; those of other classes are not set.
  std::vector<Features> features(NodeId node, const ClassPrior& prior) const {
    const std::size_t classes = prior.num_classes();
    std::vector<Features> all(classes);
    std::vector<double> votes(classes);
    wta.scores(node, votes);
    double total = kRankShare;
    for (Label c = 0; c < classes; ++c) total += rank.value(node, c);
    for (Label c = 0; c < classes; ++c) {
      if (prior.count(c) == 0) continue;
      const double share =
          (static_cast<double>(prior.count(c)) + 1) / static_cast<double>(prior.total() + classes);
      all[c] = {logarithm_of((rank.value(node, c) + kRankShare * share) / total),
                kScale * kernel.value(node, c),
                logarithm_of((1 - kVoteShare) * votes[c] + kVoteShare * share),
                kScale * regression.value(embedding.row(node), c)};
    }
    return all;
  }

  /// Probabilities of the classes that occur; 0 of the others.
  void probabilities(const std::vector<Features>& features, const ClassPrior& prior,
                     std::span<double> result) const {
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    for (Label c = 0; c < features.size(); ++c) {
      if (prior.count(c) == 0) continue;
      result[c] = 0;
      for (std::size_t m = 0; m < kPoolMembers; ++m) result[c] += weights[m] * features[c][m];
      top = std::max(top, result[c]);
    }
    for (Label c = 0; c < features.size(); ++c)
      total += result[c] = prior.count(c) == 0 ? 0 : exponential_of(result[c] - top);
    for (double& p : result) p /= total;
  }

  /// A step against the gradient of -log P(label), in units of the gradients so far (Duchi, Hazan & Singer
  /// 2011).
  void correct(NodeId node, Label label, const ClassPrior& prior) {
    const std::vector<Features> all = features(node, prior);
    std::vector<double> p(all.size());
    probabilities(all, prior, p);
    for (std::size_t m = 0; m < kPoolMembers; ++m) {
      double gradient = -all[label][m];
      for (Label c = 0; c < p.size(); ++c) gradient += p[c] * all[c][m];
      squares[m] += gradient * gradient;
      weights[m] = std::max(0.0, weights[m] - kRate * gradient / std::sqrt(squares[m]));
    }
  }

  Wta wta;
  PushedKernel rank, kernel;
  SpectralEmbedding embedding;
  RecursiveRidge regression;
  Features weights, squares;
};

OnlinePool::OnlinePool(const GraphView& graph, const Options& options, const Execution& execution)
    : LabelledLearner(graph), seed_(execution.seed) {
  refuse_signs(graph, "online_pool", kUseRegistry);
  components_ = connected_components(graph, execution);
  num_labelled_.resize(components_.count());
  state_ = std::make_unique<State>(graph, options, execution);
}

OnlinePool::~OnlinePool() = default;

void OnlinePool::reveal(NodeId node, Label label) {
  if (label == labels()[node]) return;
  retract(node);
  learn(node, label);
}

void OnlinePool::learn(NodeId node, Label label) {
  NodeId& count = num_labelled_[components_.of_node[node]];
  if (count > 0 && label < num_classes() && prior().count(label) > 0) state_->correct(node, label, prior());
  ++count;
  state_->add(node, label);
  set_label(node, label);
  order_.push_back(node);
}

void OnlinePool::retract(NodeId node) {
  if (!has_label(node)) return;
  const std::vector<NodeId> order = std::move(order_);
  const std::vector<Label> told = labels();
  order_.clear();
  clear_labels();
  std::ranges::fill(num_labelled_, NodeId{0});
  state_->forget();
  for (const NodeId u : order) state_->wta.retract(u);
  for (const NodeId u : order)
    if (u != node) learn(u, told[u]);
}

double OnlinePool::weigh(NodeId node, std::span<double> weights) const {
  if (num_labelled_[components_.of_node[node]] == 0) return 0;
  state_->probabilities(state_->features(node, prior()), prior(), weights);
  return 1;
}

std::vector<Reason> OnlinePool::reasons(NodeId node) const { return state_->wta.explain(node); }

BatchResult OnlinePool::reveal_all(std::span<const Label> labels) {
  for (const NodeId node : fit_order(labels, seed_)) reveal(node, labels[node]);
  return {};
}

std::uint64_t OnlinePool::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t a_kernel = 13 + 8 * size.num_classes, labels = 2 * sizeof(Label) + sizeof(NodeId);
  return size.num_nodes * (2 * a_kernel + labels) +
         Wta::online_bytes(size, {.num_trees = options.num_trees}) +
         spectral_embedding_bytes(size.num_nodes, kSmallEmbedding);
}

}  // namespace copse
