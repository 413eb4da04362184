// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// What a learner said of hidden nodes, beside the truth.
struct Answers {
  std::size_t num_classes = 0;
  std::vector<Label> truth, predicted;  // by node; kNoLabel where there was no answer
  std::vector<double> scores;           // one row per node, a column per class, each row sums to 1
  std::vector<double> raw_scores;       // the same, to rank by: Predictor::raw_scores

  std::size_t size() const { return truth.size(); }
  double score(std::size_t node, Label label) const { return scores[node * num_classes + label]; }
};

/// One row per number that `evaluate --metrics` can print.
struct MetricRow {
  std::string name;  // as users type it
  std::string idea;  // one line
  double (*of)(const Answers& answers);
};

const std::vector<MetricRow>& metric_rows();

/// The row of that name; UsageError lists the known ones.
const MetricRow& metric_row(const std::string& name);

}  // namespace copse
