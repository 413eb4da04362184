// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/answer_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "copse/evaluation/metrics.hpp"
#include "copse/support/options.hpp"

namespace copse {
namespace {

/// A probability of 0 for what is true would cost infinitely much.
constexpr double kLeastProbability = 1e-15;
constexpr std::size_t kCalibrationBins = 15;

Confusion confusion_of(const Answers& answers) {
  Confusion table(answers.num_classes);
  for (std::size_t i = 0; i < answers.size(); ++i) table.add(answers.truth[i], answers.predicted[i]);
  return table;
}

template <class Cost>
double mean_over_nodes(const Answers& answers, Cost&& cost) {
  double sum = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) sum += cost(i);
  return answers.size() == 0 ? 0 : sum / static_cast<double>(answers.size());
}

/// Mean of `value(c)` over the classes that some hidden node has and some has not.
template <class Value>
double mean_over_classes(const Answers& answers, Value&& value) {
  std::vector<std::size_t> count(answers.num_classes);
  for (const Label label : answers.truth) ++count[label];
  double sum = 0, num_classes = 0;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 0 || count[c] == answers.size()) continue;
    sum += value(static_cast<Label>(c), count[c]);
    ++num_classes;
  }
  return num_classes == 0 ? 0 : sum / num_classes;
}

/// body(positives, negatives) of each group of nodes whose raw scores of the class are equal, best first.
template <class Body>
void for_each_tie(const Answers& answers, Label label, Body&& body) {
  const auto score = [&](std::size_t i) { return answers.raw_scores[i * answers.num_classes + label]; };
  std::vector<std::size_t> order(answers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double positives = 0;
    for (; end < order.size() && score(order[end]) == score(order[begin]); ++end)
      positives += answers.truth[order[end]] == label ? 1 : 0;
    body(positives, static_cast<double>(end - begin) - positives);
  }
}

double accuracy(const Answers& answers) { return 1 - confusion_of(answers).error(); }
double error(const Answers& answers) { return confusion_of(answers).error(); }
double macro_f1(const Answers& answers) { return confusion_of(answers).macro_f1(); }
double micro_f1(const Answers& answers) { return confusion_of(answers).micro_f1(); }

double balanced_accuracy(const Answers& answers) {
  const Confusion table = confusion_of(answers);
  std::vector<double> count(answers.num_classes);
  for (const Label label : answers.truth) ++count[label];
  double sum = 0, num_classes = 0;
  for (std::size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 0) continue;
    sum += static_cast<double>(table.count(static_cast<Label>(c), static_cast<Label>(c))) / count[c];
    ++num_classes;
  }
  return num_classes == 0 ? 0 : sum / num_classes;
}

double auroc(const Answers& answers) {
  return mean_over_classes(answers, [&](Label label, std::size_t count) {
    double above = 0, pairs_right = 0;  // a tie is half right
    for_each_tie(answers, label, [&](double positives, double negatives) {
      pairs_right += negatives * (above + positives / 2);
      above += positives;
    });
    return pairs_right / static_cast<double>(count) / static_cast<double>(answers.size() - count);
  });
}

double auprc(const Answers& answers) {
  return mean_over_classes(answers, [&](Label label, std::size_t count) {
    double found = 0, looked_at = 0, sum = 0;
    for_each_tie(answers, label, [&](double positives, double negatives) {
      found += positives;
      looked_at += positives + negatives;
      sum += positives * found / looked_at;
    });
    return sum / static_cast<double>(count);
  });
}

/// Of the best k by each class; of nodes with equal scores that share.
template <int k>
double precision_at(const Answers& answers) {
  return mean_over_classes(answers, [&](Label label, std::size_t) {
    double looked_at = 0, found = 0;
    for_each_tie(answers, label, [&](double positives, double negatives) {
      const double taken = std::min(k - looked_at, positives + negatives);
      found += positives * taken / (positives + negatives);
      looked_at += taken;
    });
    return found / looked_at;
  });
}

double log_loss(const Answers& answers) {
  return mean_over_nodes(answers, [&](std::size_t i) {
    return -std::log(std::max(answers.score(i, answers.truth[i]), kLeastProbability));
  });
}

double brier(const Answers& answers) {
  return mean_over_nodes(answers, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t c = 0; c < answers.num_classes; ++c) {
      const double off =
          answers.score(i, static_cast<Label>(c)) - (answers.truth[i] == static_cast<Label>(c) ? 1 : 0);
      sum += off * off;
    }
    return sum;
  });
}

double calibration_error(const Answers& answers) {
  std::vector<double> excess(kCalibrationBins);  // confidence minus right answers, by confidence
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const double confidence = answers.predicted[i] == kNoLabel ? 0 : answers.score(i, answers.predicted[i]);
    const auto bin = static_cast<std::size_t>(confidence * kCalibrationBins);
    excess[std::min(bin, kCalibrationBins - 1)] +=
        confidence - (answers.predicted[i] == answers.truth[i] ? 1 : 0);
  }
  double sum = 0;
  for (const double bin : excess) sum += std::fabs(bin);
  return answers.size() == 0 ? 0 : sum / static_cast<double>(answers.size());
}

}  // namespace

const std::vector<MetricRow>& metric_rows() {
  static const std::vector<MetricRow> rows = {
      {"error", "share of wrong answers", error},
      {"accuracy", "share of right answers", accuracy},
      {"macro_f1", "F1 of each class, all classes alike", macro_f1},
      {"micro_f1", "F1 of all answers together", micro_f1},
      {"balanced_accuracy", "share of right answers within each class, all classes alike", balanced_accuracy},
      {"auroc", "how often a node of a class is ranked above one of another, all classes alike", auroc},
      {"auprc", "average precision of the ranking by each class, all classes alike", auprc},
      {"precision_at_10", "share of a class among the 10 nodes ranked highest by it, all classes alike",
       precision_at<10>},
      {"precision_at_100", "the same among 100", precision_at<100>},
      {"log_loss", "mean of -log of the probability given to the truth", log_loss},
      {"brier", "squared distance of the probabilities from the truth", brier},
      {"calibration_error", "how far confidence is from the share of right answers, in 15 bins",
       calibration_error},
  };
  return rows;
}

const MetricRow& metric_row(const std::string& name) { return find_row(metric_rows(), name, "metric"); }

}  // namespace copse
