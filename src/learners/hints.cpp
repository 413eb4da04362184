// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/hints.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "copse/graph/build.hpp"
#include "copse/support/error.hpp"
#include "learners/balanced_offsets.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

constexpr const char* kTakePriors[] = {"auto", "label_propagation", "kernel_ridge",
                                       "wta",  "tree_cut",          "majority_vote"};
/// A weight of 1 would be an edge without resistance.
constexpr double kMostSure = 0.99;
/// Models that hesitate say the same as those that do not, less loudly: rows are sharpened until their
/// largest share has this mean.
constexpr double kSharpMean = 0.7, kSharpest = 64;
constexpr double kRoundingOfSums = 1e-6;
/// Nodes that factors of class sizes are found on, and the least score that counts as more than 0.
constexpr std::size_t kMostBalanced = std::size_t{1} << 16;
constexpr double kLeastScore = 1e-9;

void check_hints(const LearnerRow& learner, const GraphView& graph, std::span<const Label> labels,
                 std::size_t num_classes, const Hints& hints) {
  const auto bad = [](const char* where, const std::string& what, const char* remedy) {
    throw UsageError{where, what, remedy};
  };
  if (graph.is_signed())
    bad("hints", "the graph has negative edges", "soft labels, priors and class sizes need one without");
  if (learner.depends_on_order)
    bad("hints", learner.name + " learns labels one by one and takes no hints",
        "take auto, label_propagation, kernel_ridge, wta or tree_cut");
  if (!hints.prior.empty() && std::ranges::find(kTakePriors, learner.name) == std::end(kTakePriors))
    bad("prior", learner.name + " cannot use it",
        "take auto, label_propagation, kernel_ridge, wta, tree_cut or majority_vote");
  if (!hints.prior.empty() && hints.prior.size() != labels.size() * num_classes)
    bad("prior", with_commas(hints.prior.size()) + " shares", "give one per node and class");
  if (!hints.class_sizes.empty() && hints.class_sizes.size() != num_classes)
    bad("class sizes",
        with_commas(hints.class_sizes.size()) + " for " + with_commas(num_classes) + " classes",
        "give one per class");
  const auto is_share = [](double x) { return x >= 0 && std::isfinite(x); };
  if (!std::ranges::all_of(hints.prior, is_share)) bad("prior", "a share is no number >= 0", "take it out");
  if (!std::ranges::all_of(hints.class_sizes, is_share) ||
      (!hints.class_sizes.empty() && std::ranges::all_of(hints.class_sizes, [](double x) { return x == 0; })))
    bad("class sizes", "sizes are numbers >= 0, and not all 0", "give nodes, or shares of them");
  if (!(hints.prior_weight > 0 && std::isfinite(hints.prior_weight)))
    bad("prior weight", "it is no number above 0", "0.2 is the default");
  std::vector<double> sums(hints.labels.empty() ? 0 : labels.size());
  for (const SoftLabel& soft : hints.labels) {
    if (soft.node >= labels.size() || soft.label >= num_classes)
      bad("soft labels", "a node or a class does not exist", "nodes and classes are counted from 0");
    if (!(soft.weight > 0 && (sums[soft.node] += soft.weight) <= 1 + kRoundingOfSums))
      bad("soft labels",
          "weights of node " + with_commas(soft.node) + " are not above 0 and at most 1 in all",
          "divide them by their sum, or by more where the node is uncertain");
    if (labels[soft.node] != kNoLabel)
      bad("soft labels", "node " + with_commas(soft.node) + " has a certain label as well",
          "keep one of the two");
  }
}

void normalise(std::span<double> row) {
  double sum = 0;
  for (const double x : row) sum += x;
  for (double& x : row) x = sum > 0 ? x / sum : 0;
}

/// Rows of a prior by classes of equal mean, as sharp as a model that is seldom in doubt.
class SharpPrior {
 public:
  SharpPrior(std::span<const double> shares, std::size_t num_classes)
      : num_classes_(num_classes), rows_(shares.begin(), shares.end()) {
    std::vector<double> mean(num_classes);
    for_each_row([&](std::span<double> row) {
      normalise(row);
      for (std::size_t c = 0; c < row.size(); ++c) mean[c] += row[c];
    });
    for_each_row([&](std::span<double> row) {
      for (std::size_t c = 0; c < row.size(); ++c)
        if (row[c] > 0) row[c] /= mean[c];
      normalise(row);
    });
    const double power = sharpness();
    for_each_row([&](std::span<double> row) { sharpen(row, power); });
  }

  std::span<const double> row(NodeId node) const {
    return std::span(rows_).subspan(std::size_t{node} * num_classes_, num_classes_);
  }

 private:
  template <class Body>
  void for_each_row(Body&& body) {
    for (std::size_t at = 0; at < rows_.size(); at += num_classes_)
      body(std::span(rows_).subspan(at, num_classes_));
  }

  static void sharpen(std::span<double> row, double power) {
    if (power == 1) return;
    const double most = *std::ranges::max_element(row);
    for (double& x : row)
      if (x > 0) x = exponential_of(power * logarithm_of(x / most));
    normalise(row);
  }

  double mean_largest(double power) {
    double sum = 0, count = 0;
    std::vector<double> copy;
    for_each_row([&](std::span<double> row) {
      copy.assign(row.begin(), row.end());
      sharpen(copy, power);
      const double most = *std::ranges::max_element(copy);
      sum += most;
      count += most > 0 ? 1 : 0;
    });
    return count > 0 ? sum / count : 1;
  }

  double sharpness() {
    double low = 1, high = kSharpest;
    if (mean_largest(low) >= kSharpMean) return low;
    for (int step = 0; step < 12; ++step) {
      const double middle = std::sqrt(low * high);
      (mean_largest(middle) < kSharpMean ? low : high) = middle;
    }
    return high;
  }

  std::size_t num_classes_;
  std::vector<double> rows_;
};

/// The graph with a labelled node for every soft label and, where there is a prior, for every class.
struct HintedGraph {
  Graph graph;
  std::vector<Label> labels;

  HintedGraph(const GraphView& plain, std::span<const Label> given, std::size_t num_classes,
              const Hints& hints, const Execution& execution)
      : labels(given.begin(), given.end()) {
    std::vector<EdgeChunk> edges(1);
    const auto add = [&](NodeId u, NodeId v, double weight) {
      edges[0].u.push_back(u);
      edges[0].v.push_back(v);
      edges[0].weight.push_back(static_cast<Weight>(weight));
    };
    std::vector<double> degree(plain.num_nodes());
    for (NodeId u = 0; u < plain.num_nodes(); ++u)
      for (EdgeIndex arc = plain.offsets[u]; arc < plain.offsets[u + 1]; ++arc) {
        degree[u] += plain.weight(arc);
        if (u < plain.neighbors[arc]) add(u, plain.neighbors[arc], plain.weight(arc));
      }
    for (double& d : degree) d = d > 0 ? d : 1;  // alone, a node goes by its hints, whatever they weigh
    std::vector<double> sure(plain.num_nodes());
    for (const SoftLabel& soft : hints.labels) sure[soft.node] += soft.weight;
    for (const SoftLabel& soft : hints.labels) {
      const double most = std::min(sure[soft.node], kMostSure);
      add(soft.node, static_cast<NodeId>(labels.size()),
          degree[soft.node] * soft.weight / sure[soft.node] * most / (1 - most));
      labels.push_back(soft.label);
    }
    if (!hints.prior.empty()) {
      const auto first = static_cast<NodeId>(labels.size());
      const SharpPrior prior(hints.prior, num_classes);
      for (NodeId u = 0; u < plain.num_nodes(); ++u)
        for (std::size_t c = 0; c < num_classes && given[u] == kNoLabel && sure[u] == 0; ++c)
          if (const double share = prior.row(u)[c]; share > 0)
            add(u, first + static_cast<NodeId>(c), hints.prior_weight * degree[u] * share);
      for (std::size_t c = 0; c < num_classes; ++c) labels.push_back(static_cast<Label>(c));
    }
    graph = build_graph(std::move(edges), labels.size(), {}, execution, "hints");
  }
};

/// Of every node its likeliest class, as sure as it is ahead of the next: several labels of a node would
/// contradict each other where each is left out in turn.
std::vector<SoftLabel> surest(std::vector<SoftLabel> labels) {
  std::ranges::stable_sort(labels, [](const SoftLabel& a, const SoftLabel& b) {
    return a.node != b.node ? a.node < b.node : a.weight > b.weight;
  });
  std::vector<SoftLabel> result;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i > 0 && labels[i - 1].node == labels[i].node) continue;
    result.push_back(labels[i]);
    if (i + 1 < labels.size() && labels[i + 1].node == labels[i].node)
      result.back().weight -= labels[i + 1].weight;
    if (result.back().weight == 0) result.pop_back();
  }
  return result;
}

/// What a learner answers on a graph with more nodes, for those that were there before.
class HintedAnswers final : public Predictor {
 public:
  HintedAnswers(std::unique_ptr<HintedGraph> graph, std::unique_ptr<Predictor> predictor, NodeId num_nodes)
      : graph_(std::move(graph)), predictor_(std::move(predictor)), num_nodes_(num_nodes) {}
  Prediction predict(NodeId node) const override { return predictor_->predict(node); }
  void scores(NodeId node, std::span<double> scores) const override { predictor_->scores(node, scores); }
  void raw_scores(NodeId node, std::span<double> scores) const override {
    predictor_->raw_scores(node, scores);
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    std::optional<LeaveOneOut> result = predictor_->leave_one_out(execution);
    if (!result) return result;
    const auto count =
        static_cast<std::size_t>(std::ranges::lower_bound(result->nodes, num_nodes_) - result->nodes.begin());
    result->nodes.resize(count);
    result->raw_scores.resize(count * num_classes());
    return result;
  }
  std::size_t num_classes() const override { return predictor_->num_classes(); }

 private:
  std::unique_ptr<HintedGraph> graph_;  // learners look at it
  std::unique_ptr<Predictor> predictor_;
  NodeId num_nodes_;
};

/// Scores times a factor per class.
class BalancedAnswers final : public Predictor {
 public:
  BalancedAnswers(std::unique_ptr<Predictor> predictor, std::span<const Label> labels,
                  std::span<const double> sizes)
      : predictor_(std::move(predictor)), labels_(labels.begin(), labels.end()), factors_(sizes.size(), 1) {
    const std::vector<double> wanted = left_to_predict(sizes);
    std::vector<double> values, row(sizes.size());
    const std::size_t stride = labels.size() / kMostBalanced + 1;
    double margins = 0;
    for (std::size_t node = 0; node < labels.size(); node += stride) {
      if (labels[node] != kNoLabel || !predictor_->predict(static_cast<NodeId>(node)).reached) continue;
      predictor_->scores(static_cast<NodeId>(node), row);
      double mean = 0;
      for (double& score : row)
        mean += (score = logarithm_of(std::max(score, kLeastScore))) / static_cast<double>(row.size());
      margins += *std::ranges::max_element(row) - mean;
      values.insert(values.end(), row.begin(), row.end());
    }
    if (margins == 0) return;
    // In units of a typical margin, since scores of some learners are nearly flat.
    const double unit = margins * static_cast<double>(row.size()) / static_cast<double>(values.size());
    for (double& value : values) value /= unit;
    const std::vector<double> offsets = balanced_offsets(values, wanted);
    for (std::size_t c = 0; c < factors_.size(); ++c) factors_[c] = exponential_of(unit * offsets[c]);
  }

  Prediction predict(NodeId node) const override {
    Prediction answer = predictor_->predict(node);
    if (labels_[node] != kNoLabel || !answer.reached) return answer;
    std::vector<double> row(num_classes());
    scores(node, row);
    const auto best = std::ranges::max_element(row);
    answer.label = static_cast<Label>(best - row.begin());
    answer.confidence = *best;
    return answer;
  }
  void scores(NodeId node, std::span<double> scores) const override {
    predictor_->scores(node, scores);
    if (labels_[node] == kNoLabel) multiply(scores);
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    std::optional<LeaveOneOut> result = predictor_->leave_one_out(execution);
    if (!result) return result;
    for (std::size_t i = 0; i < result->nodes.size(); ++i) {
      const std::span<double> row = std::span(result->raw_scores).subspan(i * num_classes(), num_classes());
      for (double& score : row) score = std::max(score, 0.0);
      multiply(row);
    }
    return result;
  }
  std::size_t num_classes() const override { return predictor_->num_classes(); }

 private:
  /// Shares of the classes among the nodes without a label, where they have these sizes among all.
  std::vector<double> left_to_predict(std::span<const double> sizes) const {
    std::vector<double> left(sizes.begin(), sizes.end());
    normalise(left);
    for (double& share : left) share *= static_cast<double>(labels_.size());
    for (const Label label : labels_)
      if (label != kNoLabel) left[label] -= 1;
    for (double& share : left) share = std::max(share, 0.0);
    normalise(left);
    return left;
  }

  void multiply(std::span<double> scores) const {
    for (std::size_t c = 0; c < scores.size(); ++c)
      scores[c] = std::max(scores[c], factors_[c] > 0 ? kLeastScore : 0.0) * factors_[c];
    normalise(scores);
  }

  std::unique_ptr<Predictor> predictor_;
  std::vector<Label> labels_;
  std::vector<double> factors_;
};

/// With one class there is nothing to decide, but nodes can be ranked.
class RankedAnswers final : public Predictor {
 public:
  RankedAnswers(std::unique_ptr<HintedGraph> graph, std::unique_ptr<Predictor> predictor,
                std::span<const Label> labels)
      : graph_(std::move(graph)), predictor_(std::move(predictor)), labels_(labels.begin(), labels.end()) {}
  Prediction predict(NodeId node) const override {
    const double rank = rank_of(node);
    return {0, rank, rank > 0};
  }
  void scores(NodeId, std::span<double> scores) const override { scores[0] = 1; }
  void raw_scores(NodeId node, std::span<double> scores) const override { scores[0] = rank_of(node); }
  std::size_t num_classes() const override { return 1; }

 private:
  double rank_of(NodeId node) const {
    std::array<double, 2> row{};
    predictor_->scores(node, row);
    return labels_[node] != kNoLabel ? 1 : row[0];
  }

  std::unique_ptr<HintedGraph> graph_;  // the learner looks at it
  std::unique_ptr<Predictor> predictor_;
  std::vector<Label> labels_;
};

/// The probability that a random walk meets a label before it ends, as it does at any step with the same
/// probability: the harmonic function of the class against "some other class", which every node may be.
BatchResult rank_by_one_class(const GraphView& graph, std::span<const Label> labels,
                              const Execution& execution) {
  Hints hints;
  hints.prior.resize(2 * labels.size());
  for (std::size_t node = 0; node < labels.size(); ++node) hints.prior[2 * node + 1] = 1;
  auto hinted = std::make_unique<HintedGraph>(graph, labels, 2, hints, execution);
  // Digits of small numbers tell the far nodes apart.
  BatchResult result =
      learner_row("label_propagation")
          .fit(hinted->graph, hinted->labels, 2, {{"shift", "none"}, {"tolerance", "1e-8"}}, execution);
  result.predictor = std::make_unique<RankedAnswers>(std::move(hinted), std::move(result.predictor), labels);
  result.notes.emplace_back(
      "one class only: confidence ranks nodes, it is the probability that a random walk meets a label soon; "
      "labels of another class would tell more");
  return result;
}

}  // namespace

BatchResult fit_with_hints(const LearnerRow& learner, const GraphView& graph, std::span<const Label> labels,
                           std::size_t num_classes, const Hints& hints, const OptionValues& options,
                           const Execution& execution) {
  const bool can_rank = learner.name == "auto" || learner.name == "label_propagation";
  if (hints.empty() && can_rank && num_classes == 1 && !graph.is_signed())
    return rank_by_one_class(graph, labels, execution);
  if (hints.empty()) return learner.fit(graph, labels, num_classes, options, execution);
  check_hints(learner, graph, labels, num_classes, hints);
  BatchResult result;
  if (hints.labels.empty() && hints.prior.empty()) {
    result = learner.fit(graph, labels, num_classes, options, execution);
  } else {
    Hints one_each = hints;
    if (learner.name == "auto") one_each.labels = surest(hints.labels);
    auto hinted = std::make_unique<HintedGraph>(graph, labels, num_classes, one_each, execution);
    result = learner.fit(hinted->graph, hinted->labels, num_classes, options, execution);
    result.predictor =
        std::make_unique<HintedAnswers>(std::move(hinted), std::move(result.predictor), graph.num_nodes());
  }
  if (!hints.class_sizes.empty())
    result.predictor =
        std::make_unique<BalancedAnswers>(std::move(result.predictor), labels, hints.class_sizes);
  return result;
}

}  // namespace copse
