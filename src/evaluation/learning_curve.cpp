// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "copse/evaluation/protocols.hpp"
#include "copse/evaluation/splits.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kFewestLabels = 16;
constexpr double kShares[] = {0.125, 0.25, 0.5, 0.75};
constexpr std::uint64_t kSplits = 4;

CurvePoint measure(const GraphView& graph, const Labels& labels, double share, const LearnerRow& learner,
                   const OptionValues& options, const Execution& execution) {
  CurvePoint point;
  std::vector<double> errors;
  for (std::uint64_t index = 0; index < kSplits; ++index) {
    const Split split = random_split(labels.of_node, share, execution.seed, index);
    point.num_labels = split.train.size();
    errors.push_back(evaluate_split(graph, labels, split, learner, options,
                                    {execution.seed + index, execution.threads, execution.progress})
                         .error);
  }
  for (const double error : errors) point.error += error / kSplits;
  for (const double error : errors)
    point.deviation += (error - point.error) * (error - point.error) / (kSplits - 1);
  point.deviation = std::sqrt(point.deviation);
  return point;
}

/// Least squares of log error on log labels; an error of 0 counts as half a mistake among those held back.
void fit(LearningCurve& curve, std::uint64_t num_labelled) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const CurvePoint& point : curve.points) {
    const double held_back = static_cast<double>(num_labelled - point.num_labels);
    const double at = std::log(static_cast<double>(point.num_labels));
    const double value = std::log(std::max(point.error, 0.5 / (held_back * kSplits)));
    n += 1, x += at, y += value, xx += at * at, xy += at * value;
  }
  const double spread = n * xx - x * x;
  curve.exponent = spread > 0 ? std::max(0.0, -(n * xy - x * y) / spread) : 0;  // more labels never hurt
  curve.scale = std::exp((y + curve.exponent * x) / n);
}

CurvePoint expected(const LearningCurve& curve, std::uint64_t num_labels) {
  const double error = curve.scale * std::pow(static_cast<double>(num_labels), -curve.exponent);
  return {num_labels, std::min(1.0, error), 0, true};
}

std::string hint_of(double now, double then, std::uint64_t more, double noise, std::uint64_t num_unlabelled) {
  char text[400];
  const double saved = (now - then) * static_cast<double>(num_unlabelled);
  if (now - then <= noise / 4 && saved < static_cast<double>(more)) {
    std::snprintf(text, sizeof text,
                  "stop: %llu more labels would lower the error by %.2g, less than its noise, and put right "
                  "fewer answers than they cost",
                  static_cast<unsigned long long>(more), now - then);
  } else {
    std::snprintf(text, sizeof text,
                  "go on: %llu more labels are expected to lower the error from %.3g to %.3g, about %.1f "
                  "answers put right for each",
                  static_cast<unsigned long long>(more), now, then, saved / static_cast<double>(more));
  }
  return text;
}

}  // namespace

LearningCurve estimate_learning_curve(const GraphView& graph, const Labels& labels, const LearnerRow& learner,
                                      const OptionValues& options, std::uint64_t more,
                                      const Execution& execution) {
  const std::uint64_t num_labelled = labels.num_labelled();
  if (num_labelled < kFewestLabels)
    throw UsageError{"learning curve", "there are only " + with_commas(num_labelled) + " labels",
                     "with fewer than 16 none can be spared to measure by: label some first"};
  more = std::max<std::uint64_t>(more, 1);
  LearningCurve curve;
  double noise = 0;
  for (const double share : kShares) {
    execution.throw_if_cancelled();
    curve.points.push_back(measure(graph, labels, share, learner, options, execution));
    noise = std::max(noise, curve.points.back().deviation);
  }
  fit(curve, num_labelled);
  const CurvePoint now = expected(curve, num_labelled), then = expected(curve, num_labelled + more);
  curve.points.push_back(now);
  curve.points.push_back(then);
  if (2 * num_labelled > num_labelled + more) curve.points.push_back(expected(curve, 2 * num_labelled));
  curve.hint = hint_of(now.error, then.error, more, noise, graph.num_nodes() - num_labelled);
  return curve;
}

}  // namespace copse
