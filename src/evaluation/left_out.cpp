// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/left_out.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "copse/support/parallel.hpp"

namespace copse {
namespace {

/// body(node, shares of the classes) of every labelled node that has an answer without its label.
template <class Body>
void for_each_left_out(const LeaveOneOut& left_out, std::size_t num_classes, Body&& body) {
  std::vector<double> shares(num_classes);
  for (std::size_t i = 0; i < left_out.nodes.size(); ++i) {
    std::copy_n(&left_out.raw_scores[i * num_classes], num_classes, shares.begin());
    normalise_scores(shares);
    body(left_out.nodes[i], shares);
  }
}

/// Fewer labels of a class without which it would be an answer say nothing of a threshold.
constexpr std::size_t kFewestPositives = 3;
/// Scores are sums: those that differ by less are one, added up in another order.
constexpr double kRounding = 1e-9;

struct Case {
  double score;
  bool is_true;
};

/// Half way between two neighbouring scores, so that F1 of the cases above it is largest.
double best_threshold(std::vector<Case> cases) {
  const auto positives = static_cast<double>(std::ranges::count_if(cases, &Case::is_true));
  if (positives < kFewestPositives) return kJustAboveHalf;
  std::ranges::sort(cases, std::greater{}, &Case::score);
  double found = 0, best = 0, threshold = kJustAboveHalf;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    found += cases[i].is_true ? 1 : 0;
    const double next = i + 1 < cases.size() ? cases[i + 1].score : 0;
    if (cases[i].score - next < kRounding) continue;
    const double f1 = 2 * found / (static_cast<double>(i + 1) + positives);
    if (f1 <= best) continue;
    best = f1;
    threshold = (cases[i].score + next) / 2;
  }
  return threshold;
}

}  // namespace

void normalise_scores(std::span<double> scores) {
  double total = 0;
  for (double& score : scores) total += score = std::max(score, 0.0);
  for (double& score : scores) score = total > 0 ? score / total : 1 / static_cast<double>(scores.size());
}

std::vector<DoubtedLabel> doubted_labels(const LeaveOneOut& left_out, std::span<const Label> labels,
                                         std::size_t num_classes) {
  std::vector<DoubtedLabel> doubted;
  for_each_left_out(left_out, num_classes, [&](NodeId node, const std::vector<double>& shares) {
    const Label given = labels[node];
    const auto best = static_cast<Label>(std::ranges::max_element(shares) - shares.begin());
    if (shares[best] > shares[given]) doubted.push_back({node, given, best, shares[given], shares[best]});
  });
  std::ranges::stable_sort(doubted, [](const DoubtedLabel& a, const DoubtedLabel& b) {
    return a.suggested_score - a.given_score > b.suggested_score - b.given_score;
  });
  return doubted;
}

double coverage_threshold(const LeaveOneOut& left_out, std::span<const Label> labels, std::size_t num_classes,
                          double coverage) {
  std::vector<double> of_truth, counts(num_classes);
  for (const Label label : labels)
    if (label != kNoLabel) ++counts[label];
  const double num_others = std::accumulate(counts.begin(), counts.end(), 0.0) - 1;
  std::vector<char> is_answered(labels.size());
  for_each_left_out(left_out, num_classes, [&](NodeId node, const std::vector<double>& shares) {
    of_truth.push_back(shares[labels[node]]);
    is_answered[node] = 1;
  });
  // Where no other label reaches the node it would be answered as nodes that none reaches are: by the shares
  // of the labels.
  for (std::size_t node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel && is_answered[node] == 0)
      of_truth.push_back(num_others > 0 ? (counts[labels[node]] - 1) / num_others : 0);
  // The rank among the labels and one more case, the one that is asked about.
  const double rank = std::ceil(static_cast<double>(of_truth.size() + 1) * coverage - 1e-9);
  if (rank > static_cast<double>(of_truth.size())) return 0;
  std::ranges::sort(of_truth, std::greater{});
  return rank < 1 ? 2 : of_truth[static_cast<std::size_t>(rank) - 1];
}

std::vector<double> class_thresholds(const Predictor& predictor, const MultiLabels& labels, Thresholds rule,
                                     const Execution& execution) {
  const std::size_t num_classes = predictor.num_classes();
  std::vector<double> thresholds(num_classes, kJustAboveHalf);
  const auto left_out = rule == Thresholds::half ? std::nullopt : predictor.leave_one_out(execution);
  if (!left_out) return thresholds;
  std::vector<std::vector<Case>> cases(num_classes);
  for (std::size_t i = 0; i < left_out->nodes.size(); ++i) {
    const std::vector<Label>& truth = labels.sets[labels.set_of_node[left_out->nodes[i]]];
    for (std::size_t c = 0; c < num_classes; ++c)
      cases[c].push_back({std::clamp(left_out->raw_scores[i * num_classes + c], 0.0, 1.0),
                          std::ranges::binary_search(truth, static_cast<Label>(c))});
  }
  parallel_for(execution.threads, num_classes,
               [&](std::size_t c) { thresholds[c] = best_threshold(std::move(cases[c])); });
  return thresholds;
}

AnsweredSet classes_above(std::span<const double> scores, std::span<const double> thresholds) {
  AnsweredSet answer;
  for (std::size_t c = 0; c < scores.size(); ++c)
    if (scores[c] > thresholds[c]) answer.classes.push_back(static_cast<Label>(c));
  const auto best = std::ranges::max_element(scores);
  if (answer.classes.empty() && best != scores.end() && *best > 0)
    answer.classes.push_back(static_cast<Label>(best - scores.begin()));
  for (const Label label : answer.classes)
    answer.confidence =
        label == answer.classes[0] ? scores[label] : std::min(answer.confidence, scores[label]);
  return answer;
}

}  // namespace copse
