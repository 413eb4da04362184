// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/learners/registry.hpp"

namespace copse {

struct CurvePoint {
  std::uint64_t num_labels = 0;
  double error = 0;
  double deviation = 0;      // standard error of the share; 0 where expected
  bool is_expected = false;  // read off the fitted curve, not measured
};

/// How the error falls with the number of labels, and a sentence on whether more of them pay.
struct LearningCurve {
  std::vector<CurvePoint> points;  // measured ones first, then those expected: now, after `more`, and twice
  double scale = 0, exponent = 0;  // error = scale * labels^-exponent
  std::string hint;
};

/// Measures `learner` on shares of the known labels, 1/8 to 1/2, the others held back and scored, and with
/// all of them by leave-one-out (3/4 of them where the learner has none): four fits, or three where the caller
/// has the answers of a learner fitted to all labels, `left_out`. Fits a power law to what it finds (the usual
/// shape of learning curves; Hestness et al. 2017), read off at all labels, at `more` further ones, and at
/// twice as many. Held-back labels are a fair sample only if those that are known were not chosen for being
/// hard: after active queries the estimate errs to the high side. UsageError with fewer than 16 labels:
/// nothing could be told.
LearningCurve estimate_learning_curve(const GraphView& graph, const Labels& labels, const LearnerRow& learner,
                                      const OptionValues& options, std::uint64_t more,
                                      const Execution& execution,
                                      std::optional<LeaveOneOut> left_out = std::nullopt);

}  // namespace copse
