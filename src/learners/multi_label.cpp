// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/multi_label.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cstdio>

#include "copse/learners/embedding.hpp"
#include "copse/support/parallel.hpp"
#include "learners/pool_weights.hpp"
#include "learners/ridge_regression.hpp"

namespace copse {
namespace {

/// Sets times arcs up to which a column is solved for every set.
constexpr std::uint64_t kMostSolved = 100'000'000;
/// Weights count as much as this many labels before any label has a say.
constexpr double kStartingLabels = 10;
constexpr int kWeightSteps = 200;
constexpr double kPriorOfClasses = 0.03;

/// Answers with the class of the largest score.
class ClassAnswers : public Predictor {
 public:
  explicit ClassAnswers(std::size_t num_classes) : num_classes_(num_classes) {}
  Prediction predict(NodeId node) const override {
    std::vector<double> row(num_classes_);
    scores(node, row);
    const auto best = std::ranges::max_element(row);
    if (best == row.end() || !(*best > 0)) return {};
    return {static_cast<Label>(best - row.begin()), *best, is_reached(node)};
  }
  void scores(NodeId node, std::span<double> scores) const override {
    raw_scores(node, scores);
    for (double& score : scores) score = std::clamp(score, 0.0, 1.0);
  }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  virtual bool is_reached(NodeId node) const = 0;
  std::size_t num_classes_;
};

class SumsOverSets final : public ClassAnswers {
 public:
  SumsOverSets(std::unique_ptr<Predictor> of_sets, const MultiLabels& labels, std::size_t num_classes)
      : ClassAnswers(num_classes), of_sets_(std::move(of_sets)), sets_{{}, labels.sets, {}} {}
  void scores(NodeId node, std::span<double> scores) const override {
    std::vector<double> row(of_sets_->num_classes());
    of_sets_->scores(node, row);
    sets_.add_up(row, scores);
  }
  void raw_scores(NodeId node, std::span<double> scores) const override {
    std::vector<double> row(of_sets_->num_classes());
    of_sets_->raw_scores(node, row);
    sets_.add_up(row, scores);
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    std::optional<LeaveOneOut> left_out = of_sets_->leave_one_out(execution);
    if (!left_out) return left_out;
    const std::size_t width = of_sets_->num_classes();
    std::vector<double> of_classes(left_out->nodes.size() * num_classes());
    for (std::size_t i = 0; i < left_out->nodes.size(); ++i) {
      const std::span<double> row = std::span(left_out->raw_scores).subspan(i * width, width);
      double total = 0;
      for (double& score : row) total += score = std::max(score, 0.0);
      for (double& score : row) score = total > 0 ? score / total : 1 / static_cast<double>(width);
      sets_.add_up(row, std::span(of_classes).subspan(i * num_classes(), num_classes()));
    }
    left_out->raw_scores = std::move(of_classes);
    return left_out;
  }

 private:
  bool is_reached(NodeId node) const override { return of_sets_->predict(node).reached; }

  std::unique_ptr<Predictor> of_sets_;
  MultiLabels sets_;  // nothing but these
};

std::vector<double> shares_of_classes(const MultiLabels& labels, std::size_t num_classes) {
  std::vector<double> shares(num_classes);
  double count = 0;
  for (const Label set : labels.set_of_node) {
    if (set == kNoLabel) continue;
    count += 1;
    for (const Label c : labels.sets[set]) shares[c] += 1;
  }
  for (double& share : shares) share /= count;
  return shares;
}

/// Ridge regression on the embedding with a column per class, not per set.
class RegressionOfClasses final : public ClassAnswers {
 public:
  RegressionOfClasses(const GraphView& graph, const MultiLabels& labels, std::size_t num_classes,
                      const Execution& execution)
      : ClassAnswers(num_classes),
        place_(graph, {}, execution),
        sets_(labels.sets),
        shares_(shares_of_classes(labels, num_classes)) {
    std::vector<RidgeExample> examples;
    for (NodeId node = 0; node < graph.num_nodes(); ++node)
      if (labels.set_of_node[node] != kNoLabel && place_.has_place(node))
        examples.push_back({node, labels.set_of_node[node]});
    if (examples.size() > 1)
      ridge_ = RidgeRegression::best(place_.embedding(), examples, num_classes, {.sets = sets_}, execution);
  }
  void raw_scores(NodeId node, std::span<double> scores) const override {
    if (is_reached(node))
      ridge_->values(node, scores);
    else
      std::ranges::copy(shares_, scores.begin());
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    LeaveOneOut result;
    if (!ridge_) return result;
    constexpr std::size_t kBlock = 256;
    for (const RidgeExample& example : ridge_->examples()) result.nodes.push_back(example.node);
    result.raw_scores.resize(result.nodes.size() * num_classes());
    parallel_blocks(execution, result.nodes.size(), kBlock,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      const Eigen::MatrixXd values = ridge_->left_out(begin, end).transpose();
                      std::copy_n(values.data(), values.size(), &result.raw_scores[begin * num_classes()]);
                    });
    return result;
  }

 private:
  bool is_reached(NodeId node) const override { return ridge_ && place_.has_place(node); }

  Embedding place_;
  std::vector<std::vector<Label>> sets_;
  std::vector<double> shares_;
  std::optional<RidgeRegression> ridge_;
};

/// The score of a class is a weighted sum of what members say of it and its share of the labels; the weights,
/// the same for all classes, are those of least squared error on labelled nodes without their own labels.
class PoolOfClasses final : public ClassAnswers {
 public:
  PoolOfClasses(const GraphView& graph, const MultiLabels& labels, std::size_t num_classes,
                const OptionValues& options, const Execution& execution)
      : ClassAnswers(num_classes),
        labels_{labels.set_of_node, labels.sets, {}},
        shares_(shares_of_classes(labels, num_classes)) {
    const ProblemSize size = ProblemSize::of(graph, labels.sets.size(), execution.threads);
    const auto add = [&](const char* name, std::unique_ptr<Predictor> predictor, bool is_raw) {
      std::optional<LeaveOneOut> left_out = predictor->leave_one_out(execution);
      if (left_out && !left_out->nodes.empty())  // otherwise nothing tells what it is worth
        members_.push_back({name, is_raw, std::move(predictor), std::move(*left_out)});
    };
    const auto fitted = [&](const char* name, const OptionValues& values) {
      BatchResult by_sets =
          learner_row(name).fit(graph, labels.set_of_node, labels.sets.size(), values, execution);
      return of_classes(std::move(by_sets.predictor), labels, num_classes);
    };
    if (fits_in_pool("embedding", size, 0))
      add("embedding", std::make_unique<RegressionOfClasses>(graph, labels, num_classes, execution), true);
    if (labels.sets.size() * graph.num_arcs() <= kMostSolved)
      add("label_propagation", fitted("label_propagation", {}), false);
    add("wta", fitted("wta", options), false);
    if (members_.empty()) members_.push_back({"wta", false, fitted("wta", options), {}});
    weigh();
  }

  void scores(NodeId node, std::span<double> scores) const override {
    raw_scores(node, scores);
    const Label given = labels_.set_of_node[node];
    for (std::size_t c = 0; c < scores.size(); ++c) scores[c] = given == kNoLabel ? share(scores[c], c) : 0;
    for (const Label c : given == kNoLabel ? std::vector<Label>{} : labels_.sets[given]) scores[c] = 1;
  }

  void raw_scores(NodeId node, std::span<double> scores) const override {
    std::vector<double> row(num_classes());
    for (std::size_t c = 0; c < scores.size(); ++c) scores[c] = weights_[0] * shares_[c];
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Predictor& member = *members_[m].predictor;
      members_[m].is_raw ? member.raw_scores(node, row) : member.scores(node, row);
      for (std::size_t c = 0; c < scores.size(); ++c) scores[c] += weights_[index(m + 1)] * row[c];
    }
  }

  std::optional<LeaveOneOut> leave_one_out(const Execution&) const override {
    LeaveOneOut result{nodes_, std::vector<double>(nodes_.size() * num_classes()), true};
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (std::size_t c = 0; c < num_classes(); ++c)
        result.raw_scores[i * num_classes() + c] = share(weights_.dot(features(nodes_[i], c)), c);
    return result;
  }

  std::vector<std::string> notes() const {
    std::string text;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      char weight[32];
      std::snprintf(weight, sizeof weight, " %.2f", weights_[index(m + 1)]);
      text += (m == 0 ? "weighs " : ", ") + std::string(members_[m].name) + weight;
    }
    return {text + ", by " + with_commas(nodes_.size()) + " nodes whose labels are left out"};
  }

 private:
  struct Member {
    const char* name;
    bool is_raw;  // its scores are not shares
    std::unique_ptr<Predictor> predictor;
    LeaveOneOut left_out;
  };

  bool is_reached(NodeId node) const override {
    return std::ranges::any_of(members_,
                               [&](const Member& member) { return member.predictor->predict(node).reached; });
  }

  /// What is said of class c as a probability: something is left for every class that occurs.
  double share(double raw, std::size_t c) const {
    return (1 - kPriorOfClasses) * std::clamp(raw, 0.0, 1.0) + kPriorOfClasses * shares_[c];
  }

  /// Where a node stands among those that a member has answers without their labels for, or their number.
  static std::size_t row_of(const Member& member, NodeId node) {
    const std::vector<NodeId>& nodes = member.left_out.nodes;
    const auto found = std::ranges::lower_bound(nodes, node);
    return static_cast<std::size_t>((found == nodes.end() || *found != node ? nodes.end() : found) -
                                    nodes.begin());
  }

  /// The share of the class, and what every member says of it at a node without the node's labels.
  Eigen::VectorXd features(NodeId node, std::size_t c) const {
    Eigen::VectorXd x(index(members_.size() + 1));
    x[0] = shares_[c];
    for (std::size_t m = 0; m < members_.size(); ++m)
      x[index(m + 1)] = members_[m].left_out.raw_scores[row_of(members_[m], node) * num_classes() + c];
    return x;
  }

  void weigh() {
    for (const NodeId node : members_.front().left_out.nodes)
      if (std::ranges::all_of(members_, [&](const Member& member) {
            return row_of(member, node) < member.left_out.nodes.size();
          }))
        nodes_.push_back(node);
    const Eigen::Index width = index(members_.size() + 1);
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(width, width);
    Eigen::VectorXd products = Eigen::VectorXd::Zero(width);
    for (const NodeId node : nodes_) {
      const std::vector<Label>& truth = labels_.sets[labels_.set_of_node[node]];
      for (std::size_t c = 0; c < num_classes(); ++c) {
        const Eigen::VectorXd x = features(node, c);
        squares += x * x.transpose();
        if (std::ranges::binary_search(truth, static_cast<Label>(c))) products += x;
      }
    }
    weights_ = Eigen::VectorXd::Constant(width, 1 / static_cast<double>(members_.size()));
    weights_[0] = 0;
    if (nodes_.empty()) return;
    const Eigen::VectorXd pull = squares.diagonal() * (kStartingLabels / static_cast<double>(nodes_.size()));
    products += pull.cwiseProduct(weights_);
    squares.diagonal() += pull;
    // A coordinate at a time, members' weights staying >= 0.
    for (int step = 0; step < kWeightSteps; ++step)
      for (Eigen::Index i = 0; i < width; ++i) {
        if (!(squares(i, i) > 0)) continue;
        weights_[i] += (products[i] - squares.row(i).dot(weights_)) / squares(i, i);
        if (i > 0) weights_[i] = std::max(weights_[i], 0.0);
      }
  }

  static Eigen::Index index(std::size_t i) { return static_cast<Eigen::Index>(i); }

  MultiLabels labels_;  // without names
  std::vector<double> shares_;
  std::vector<Member> members_;
  std::vector<NodeId> nodes_;  // those whose labels are left out
  Eigen::VectorXd weights_;    // of the share, then of the members
};

}  // namespace

std::unique_ptr<Predictor> of_classes(std::unique_ptr<Predictor> of_sets, const MultiLabels& labels,
                                      std::size_t num_classes) {
  return std::make_unique<SumsOverSets>(std::move(of_sets), labels, num_classes);
}

BatchResult fit_multi(const LearnerRow& learner, const GraphView& graph, const MultiLabels& labels,
                      std::size_t num_classes, const OptionValues& options, const Execution& execution) {
  if (learner.name == "auto" && !graph.is_signed() && !labels.sets.empty()) {
    learner.check(options);
    auto pool = std::make_unique<PoolOfClasses>(graph, labels, num_classes, options, execution);
    BatchResult result;
    result.notes = pool->notes();
    result.predictor = std::move(pool);
    return result;
  }
  BatchResult result = learner.fit(graph, labels.set_of_node, labels.sets.size(), options, execution);
  result.predictor = of_classes(std::move(result.predictor), labels, num_classes);
  return result;
}

}  // namespace copse
