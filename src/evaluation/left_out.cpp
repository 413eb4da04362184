// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/left_out.hpp"

#include <algorithm>
#include <cmath>

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
  std::vector<double> of_truth;
  for_each_left_out(left_out, num_classes, [&](NodeId node, const std::vector<double>& shares) {
    of_truth.push_back(shares[labels[node]]);
  });
  // The rank among the labels and one more case, the one that is asked about.
  const double rank = std::ceil(static_cast<double>(of_truth.size() + 1) * coverage - 1e-9);
  if (rank > static_cast<double>(of_truth.size())) return 0;
  std::ranges::sort(of_truth, std::greater{});
  return rank < 1 ? 2 : of_truth[static_cast<std::size_t>(rank) - 1];
}

}  // namespace copse
