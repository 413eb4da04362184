// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/learners/learner.hpp"

// What the answers to labelled nodes without their own label (Predictor::leave_one_out) are good for: given
// labels to doubt, and sets of classes that hold the truth as often as one asks.

namespace copse {

/// Raw scores as shares: clipped at 0 and divided by their sum, all alike where nothing is left. In place.
void normalise_scores(std::span<double> scores);

/// A given label, and what everything around the node says instead.
struct DoubtedLabel {
  NodeId node = kNoNode;
  Label given = kNoLabel, suggested = kNoLabel;
  double given_score = 0, suggested_score = 0;  // shares, without the label itself
};

/// Labels that another class outscores, the most contradicted first.
std::vector<DoubtedLabel> doubted_labels(const LeaveOneOut& left_out, std::span<const Label> labels,
                                         std::size_t num_classes);

/// Classes whose share is at least this are the answer, so that it holds the truth in `coverage` of the cases
/// (split conformal prediction with leave-one-out scores; Vovk et al. 2005): for labels that are a random
/// sample. 0, which is all classes, where labels are too few to promise less.
double coverage_threshold(const LeaveOneOut& left_out, std::span<const Label> labels, std::size_t num_classes,
                          double coverage);

/// Several labels per node: a class is the answer where its score is above its threshold. Sums of scores have
/// rounding errors, and an exact half is a tie, which is no.
inline constexpr double kJustAboveHalf = 0.5 + 1e-12;

/// How thresholds are chosen: one half, which errs least often where scores are probabilities, or for each
/// class the one by which the labelled nodes, each without its own label, have the largest F1.
enum class Thresholds { half, f1 };

/// One per class of what fit_multi() has made; one half where the predictor has no answers without a label,
/// or the class too few of them.
std::vector<double> class_thresholds(const Predictor& predictor, const MultiLabels& labels, Thresholds rule,
                                     const Execution& execution);

/// The classes whose scores are above their thresholds, or else the one of the largest score, if it has any;
/// the confidence is the least of their scores.
struct AnsweredSet {
  std::vector<Label> classes;
  double confidence = 0;
};
AnsweredSet classes_above(std::span<const double> scores, std::span<const double> thresholds);

}  // namespace copse
