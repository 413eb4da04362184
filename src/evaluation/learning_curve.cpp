// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/learning_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "copse/evaluation/protocols.hpp"
#include "copse/evaluation/splits.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kFewestLabels = 16;
constexpr double kShares[] = {0.125, 0.25, 0.5};
constexpr double kInsteadOfLeaveOneOut = 0.75;

CurvePoint point_of(std::uint64_t num_labels, std::uint64_t mistakes, std::uint64_t trials) {
  const auto n = static_cast<double>(trials);
  // No mistake counts as half of one: logarithms are taken, and nothing is certain.
  const double error = std::max(static_cast<double>(mistakes), 0.5) / n;
  return {num_labels, static_cast<double>(mistakes) / n, std::sqrt(error * std::max(0.0, 1 - error) / n),
          false};
}

/// With a share of the labels, on those held back.
CurvePoint measure(const GraphView& graph, const Labels& labels, double share, const LearnerRow& learner,
                   const OptionValues& options, const Execution& execution) {
  const Split split = random_split(labels.of_node, share, execution.seed, 0);
  const BatchScore score = evaluate_split(graph, labels, split, learner, options, execution);
  const auto trials = static_cast<double>(split.test.size());
  return point_of(split.train.size(), static_cast<std::uint64_t>(std::lround(score.error * trials)),
                  split.test.size());
}

/// With all labels but one, each in turn.
CurvePoint point_of(const LeaveOneOut& left_out, const Labels& labels) {
  const std::size_t num_classes = left_out.raw_scores.size() / left_out.nodes.size();
  std::uint64_t mistakes = 0;
  for (std::size_t i = 0; i < left_out.nodes.size(); ++i) {
    const auto scores = std::span(left_out.raw_scores).subspan(i * num_classes, num_classes);
    const auto best = std::ranges::max_element(scores) - scores.begin();
    mistakes += static_cast<std::size_t>(best) != labels.of_node[left_out.nodes[i]] ? 1 : 0;
  }
  return point_of(labels.num_labelled() - 1, mistakes, left_out.nodes.size());
}

/// Least squares of log error on log labels; no mistake counts as half of one among them.
void fit(LearningCurve& curve, std::uint64_t num_labelled) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const CurvePoint& point : curve.points) {
    const double at = std::log(static_cast<double>(point.num_labels));
    const double value = std::log(std::max(point.error, 0.5 / static_cast<double>(num_labelled)));
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
                  "go on: %llu more labels are expected to lower the error of %.3g by %.2g, about %.1f "
                  "answers put right for each",
                  static_cast<unsigned long long>(more), now, now - then, saved / static_cast<double>(more));
  }
  return text;
}

}  // namespace

LearningCurve estimate_learning_curve(const GraphView& graph, const Labels& labels, const LearnerRow& learner,
                                      const OptionValues& options, std::uint64_t more,
                                      const Execution& execution, std::optional<LeaveOneOut> left_out) {
  const std::uint64_t num_labelled = labels.num_labelled();
  if (num_labelled < kFewestLabels)
    throw UsageError{"learning curve", "there are only " + with_commas(num_labelled) + " labels",
                     "with fewer than 16 none can be spared to measure by: label some first"};
  more = std::max<std::uint64_t>(more, 1);
  LearningCurve curve;
  for (const double share : kShares)
    curve.points.push_back(measure(graph, labels, share, learner, options, execution));
  if (!left_out)
    left_out = learner.fit(graph, labels.of_node, labels.classes.size(), options, execution)
                   .predictor->leave_one_out(execution);
  curve.points.push_back(left_out && !left_out->nodes.empty()
                             ? point_of(*left_out, labels)
                             : measure(graph, labels, kInsteadOfLeaveOneOut, learner, options, execution));
  double noise = 0;
  for (const CurvePoint& point : curve.points) noise = std::max(noise, point.deviation);
  fit(curve, num_labelled);
  const CurvePoint now = expected(curve, num_labelled), then = expected(curve, num_labelled + more);
  curve.points.push_back(now);
  curve.points.push_back(then);
  if (2 * num_labelled > num_labelled + more) curve.points.push_back(expected(curve, 2 * num_labelled));
  curve.hint = hint_of(now.error, then.error, more, noise, graph.num_nodes() - num_labelled);
  return curve;
}

}  // namespace copse
