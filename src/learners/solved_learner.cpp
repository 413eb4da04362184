// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/solved_learner.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "learners/score_table.hpp"

namespace copse {

LabelledClasses::LabelledClasses(std::span<const Label> labels, const Components& components)
    : num_labelled(components.count()) {
  std::vector<char> occurs;
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    if (labels[node] >= occurs.size()) occurs.resize(std::size_t{labels[node]} + 1);
    occurs[labels[node]] = 1;
    labelled.push_back(node);
    ++num_labelled[components.of_node[node]];
  }
  column.resize(occurs.size());
  for (std::size_t c = 0; c < occurs.size(); ++c) {
    if (!occurs[c]) continue;
    column[c] = classes.size();
    classes.push_back(static_cast<Label>(c));
  }
  num_of_class.resize(components.count() * classes.size());
  for (const NodeId node : labelled)
    ++num_of_class[components.of_node[node] * classes.size() + column[labels[node]]];
}

std::size_t LabelledClasses::num_occurring(NodeId component) const {
  std::size_t number = 0;
  for (std::size_t c = 0; c < count(); ++c) number += occurs(component, c);
  return number;
}

std::vector<double> LabelledClasses::expected_shares(NodeId component, PriorKind prior) const {
  std::vector<double> shares(count());
  double total = 0;
  for (std::size_t c = 0; c < count(); ++c) {
    if (!occurs(component, c)) continue;
    shares[c] = prior == PriorKind::uniform ? 1 : num_of_class[component * count() + c] + kPriorSmoothing;
    total += shares[c];
  }
  for (double& share : shares) share /= total;
  return shares;
}

struct SolvedLearner::Cache {
  std::mutex mutex;
  std::optional<ScoreTable> table;
};

SolvedLearner::SolvedLearner(const GraphView& graph, const Execution& execution)
    : graph_(graph),
      execution_(execution),
      labels_(graph.num_nodes(), kNoLabel),
      cache_(std::make_unique<Cache>()) {}

SolvedLearner::~SolvedLearner() = default;

const ScoreTable& SolvedLearner::table() const {
  const std::lock_guard lock(cache_->mutex);
  if (!cache_->table) cache_->table.emplace(solve());
  return *cache_->table;
}

const std::vector<std::string>& SolvedLearner::notes() const { return table().notes; }

Prediction SolvedLearner::predict(NodeId node) const {
  if (labels_[node] != kNoLabel) return {labels_[node], 1, true};
  const ScoreTable* known = prior_.total() == 0 ? nullptr : &table();
  if (known == nullptr || !known->is_reached(node)) {
    const Label label = prior_.favourite();
    return {label, label == kNoLabel ? 0 : prior_.share(label), false};
  }
  const double* row = known->row(node);
  double total = 0;
  std::size_t best = 0;
  const auto& classes = known->classes.classes;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    total += row[c];
    if (row[c] != row[best] ? row[c] > row[best] : prior_.prefers(classes[c], classes[best])) best = c;
  }
  return {classes[best], row[best] / total, true};
}

void SolvedLearner::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (labels_[node] != kNoLabel) {
    scores[labels_[node]] = 1;
    return;
  }
  if (prior_.total() == 0) return;
  const ScoreTable& known = table();
  if (!known.is_reached(node)) return prior_.scores(scores);
  const double* row = known.row(node);
  double total = 0;
  for (std::size_t c = 0; c < known.classes.count(); ++c) total += row[c];
  for (std::size_t c = 0; c < known.classes.count(); ++c) scores[known.classes.classes[c]] = row[c] / total;
}

void SolvedLearner::reveal(NodeId node, Label label) {
  if (labels_[node] == label) return;
  retract(node);
  labels_[node] = label;
  prior_.add(label);
  cache_->table.reset();
}

void SolvedLearner::retract(NodeId node) {
  if (labels_[node] == kNoLabel) return;
  prior_.remove(labels_[node]);
  labels_[node] = kNoLabel;
  cache_->table.reset();
}

}  // namespace copse
