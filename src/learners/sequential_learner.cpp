// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/sequential_learner.hpp"

#include <map>

#include "copse/graph/components.hpp"
#include "copse/learners/fit_order.hpp"
#include "copse/support/parallel.hpp"
#include "learners/committee.hpp"
#include "learners/hypothesis.hpp"

namespace copse {

SequentialLearner::SequentialLearner(const GraphView& graph, const Execution& execution,
                                     Hypotheses hypotheses, int epochs)
    : LabelledLearner(graph), execution_(execution), hypotheses_(std::move(hypotheses)), epochs_(epochs) {
  Components components = connected_components(graph, execution);
  num_labelled_.resize(components.count());
  component_ = std::move(components.of_node);
}

SequentialLearner::~SequentialLearner() = default;

bool SequentialLearner::is_reached(NodeId node) const { return num_labelled_[component_[node]] > 0; }

template <class Body>
void SequentialLearner::for_each_vote(NodeId node, Body&& body) const {
  for (const auto& hypothesis : hypotheses_) {
    Margins margins = hypothesis->margins(node, num_classes());
    const Decision decision = decide(margins, prior());
    // The surest tree breaks a tie: committees take the vote of least resistance.
    if (decision.label != kNoLabel) body(TreeVote{decision.label, kNoNode, 1 / (1 + decision.lead)});
  }
}

Prediction SequentialLearner::guess(NodeId node) const {
  if (!is_reached(node)) return unreached(prior());
  if (hypotheses_.size() > 1)
    return predict_by_votes(prior(), [&](auto&& body) { for_each_vote(node, body); });
  Margins margins = hypotheses_[0]->margins(node, num_classes());
  const Decision decision = decide(margins, prior());
  std::vector<double> scores(num_classes());
  scores_of(margins, scores);
  return {decision.label, scores[decision.label], true};
}

double SequentialLearner::weigh(NodeId node, std::span<double> weights) const {
  if (!is_reached(node)) return 0;
  if (hypotheses_.size() > 1) return weigh_by_votes(weights, [&](auto&& body) { for_each_vote(node, body); });
  Margins margins = hypotheses_[0]->margins(node, num_classes());
  decide(margins, prior());
  scores_of(margins, weights);
  return 1;
}

void SequentialLearner::margins(NodeId node, std::span<double> margins) const {
  std::fill(margins.begin(), margins.end(), 0.0);
  for (const auto& hypothesis : hypotheses_) {
    const Margins one = hypothesis->margins(node, margins.size());
    for (std::size_t c = 0; c < margins.size(); ++c)
      margins[c] += one.of_class[c] / static_cast<double>(hypotheses_.size());
  }
}

void SequentialLearner::reveal(NodeId node, Label label) { play({node, label, false}); }

void SequentialLearner::play(Trial trial) {
  learn(trial);
  trials_.push_back(trial);
}

BatchResult SequentialLearner::reveal_all(std::span<const Label> labels) {
  const std::vector<NodeId> order = fit_order(labels, execution_.seed);
  BatchResult result;
  result.units_asked = order.size();
  for (int epoch = 0; epoch < epochs_; ++epoch) {
    const std::uint64_t before = num_updates();
    for (const NodeId node : order) {
      if (result.interrupted = execution_.cancelled(); result.interrupted) return result;
      reveal(node, labels[node]);
      if (epoch == 0) execution_.report("labels", ++result.units_done, order.size());
    }
    if (num_updates() == before) break;
  }
  return result;
}

void SequentialLearner::learn(Trial& trial) {
  check_label(trial.label);
  std::vector<char> has_changed(hypotheses_.size());
  parallel_for(execution_.threads, hypotheses_.size(), [&](std::size_t i) {
    has_changed[i] = hypotheses_[i]->learn(trial.node, trial.label, trial.is_aggressive, prior());
  });
  trial.has_changed = std::ranges::any_of(has_changed, [](char changed) { return changed; });
  if (!has_label(trial.node)) ++num_labelled_[component_[trial.node]];
  set_label(trial.node, trial.label);
}

void SequentialLearner::retract(NodeId node) {
  if (!has_label(node)) return;
  std::vector<Trial> trials = std::move(trials_);
  std::erase_if(trials, [&](const Trial& trial) { return trial.node == node; });
  trials_.clear();
  clear_labels();
  std::fill(num_labelled_.begin(), num_labelled_.end(), NodeId{0});
  for (const auto& hypothesis : hypotheses_) hypothesis->reset();
  for (const Trial& trial : trials) play(trial);
}

std::uint64_t SequentialLearner::num_updates() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(trials_, &Trial::has_changed));
}

// One hypothesis alone gives margins, no votes.
std::size_t SequentialLearner::num_voters() const { return hypotheses_.size() > 1 ? hypotheses_.size() : 0; }

std::vector<std::string> SequentialLearner::notes() const {
  std::vector<std::string> notes;
  for (const auto& hypothesis : hypotheses_) {
    const std::string note = hypothesis->note();
    if (!note.empty() && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

std::vector<Reason> SequentialLearner::reasons(NodeId node) const {
  if (!is_reached(node)) return {};
  const Label label = guess(node).label;
  std::map<NodeId, Reason> merged;
  for (const auto& hypothesis : hypotheses_) {
    for (const Reason& reason : hypothesis->reasons(node, label)) {
      Reason& sum = merged[reason.node];
      sum.node = reason.node;
      sum.share += reason.share / static_cast<double>(hypotheses_.size());
      sum.resistance += reason.share / static_cast<double>(hypotheses_.size()) * reason.resistance;
    }
  }
  std::vector<Reason> reasons;
  for (auto& entry : merged) {
    entry.second.resistance /= entry.second.share;
    reasons.push_back(entry.second);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.share > b.share; });
  if (reasons.size() > kMostReasons) reasons.resize(kMostReasons);
  return reasons;
}

}  // namespace copse
