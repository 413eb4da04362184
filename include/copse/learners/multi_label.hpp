// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/labels.hpp"
#include "copse/learners/registry.hpp"

namespace copse {

/// LearnerRow::fit where nodes have several labels. What comes back answers classes, not sets of them: scores
/// are shares in [0, 1], one per class, whose sum is the number of labels to expect, and predict() says the
/// class of the largest. Most learners take every set for a class, and a class has the scores of the sets
/// that hold it; `auto` asks every class as a question of its own (docs/learners/auto.md).
BatchResult fit_multi(const LearnerRow& learner, const GraphView& graph, const MultiLabels& labels,
                      std::size_t num_classes, const OptionValues& options, const Execution& execution);

/// The classes' scores from a predictor that takes sets for classes.
std::unique_ptr<Predictor> of_classes(std::unique_ptr<Predictor> of_sets, const MultiLabels& labels,
                                      std::size_t num_classes);

}  // namespace copse
