// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "copse/evaluation/answer_metrics.hpp"
#include "copse/evaluation/left_out.hpp"
#include "copse/evaluation/metrics.hpp"
#include "copse/evaluation/splits.hpp"
#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/learners/registry.hpp"
#include "copse/queries/query.hpp"

namespace copse {

/// The same graph with what a learner makes of it before it sees a label beside it, so that many splits make
/// it once: the spectral embedding of `auto` and `embedding`.
Graph prepare_for_splits(const Graph& graph, const LearnerRow& learner, const OptionValues& options,
                         const Execution& execution);

/// One learner on one split: only hidden labels are scored.
struct BatchScore {
  double error = 0, macro_f1 = 0, micro_f1 = 0;
  double coverage = 0;  // share of the hidden nodes that some label reaches
  double seconds = 0;   // wall clock of fit and of answering the hidden nodes
  std::uint64_t num_hidden = 0;
  std::vector<std::string> notes;
};

BatchScore evaluate_split(const GraphView& graph, const Labels& labels, const Split& split,
                          const LearnerRow& learner, const OptionValues& options, const Execution& execution,
                          Confusion* confusion = nullptr, Answers* answers = nullptr);

/// The same for several labels per node: every class is a yes/no question.
BatchScore evaluate_split(const GraphView& graph, const MultiLabels& labels, const Split& split,
                          const LearnerRow& learner, const OptionValues& options, const Execution& execution,
                          OneVersusRest* counts = nullptr, Thresholds rule = Thresholds::half);

/// The online game of the papers: for each node in order, predict, then reveal.
struct OnlineGame {
  std::vector<bool> mistake;  // by trial; a trial without an answer is a mistake
  std::uint64_t mistakes() const;
  /// Share of mistakes among the first t + 1 trials ("past") and among the trials from t on ("future").
  std::vector<double> past_error() const;
  std::vector<double> future_error() const;
  double seconds = 0;
};
OnlineGame play_online(Learner& learner, std::span<const Label> labels, std::span<const NodeId> order,
                       const Execution& execution = {});

/// The first phase of the active protocol (Herbster, Pontil & Wainer 2005, section 5): `strategy` asks for up
/// to `budget` of the labels, `batch` at a time, and is told them. Only labelled nodes are asked about. The
/// nodes in the order they were asked.
std::vector<NodeId> ask_labels(QueryStrategy& strategy, std::span<const Label> labels, std::uint64_t budget,
                               std::uint64_t batch = 1);

/// Both phases: `learner`, who knows nothing yet, is told the labels of `asked`, then plays the online game
/// on the other labelled nodes in a random order, a function of (seed, index). The mistakes of that game are
/// the paper's future cumulative error from trial asked.size().
OnlineGame play_active(Learner& learner, std::span<const Label> labels, std::span<const NodeId> asked,
                       std::uint64_t seed, std::uint64_t index, const Execution& execution = {});

}  // namespace copse
