// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/solved_learner.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "learners/score_table.hpp"
#include "learners/signs.hpp"

namespace copse {

LabelledClasses::LabelledClasses(std::span<const Label> labels, const Components& components, bool is_signed)
    : index_(components.count(), kNoNode), is_signed_(is_signed) {
  std::vector<char> occurs_at_all;
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    if (labels[node] >= occurs_at_all.size()) occurs_at_all.resize(std::size_t{labels[node]} + 1);
    occurs_at_all[labels[node]] = 1;
    labelled_.push_back(node);
    NodeId& index = index_[components.of_node[node]];
    if (index == kNoNode) {
      index = static_cast<NodeId>(num_labelled_.size());
      num_labelled_.push_back(0);
    }
    ++num_labelled_[index];
  }
  if (is_signed && !occurs_at_all.empty()) occurs_at_all.assign(kSignedClasses, 1);
  column_.resize(occurs_at_all.size());
  for (std::size_t c = 0; c < occurs_at_all.size(); ++c) {
    if (!occurs_at_all[c]) continue;
    column_[c] = classes_.size();
    classes_.push_back(static_cast<Label>(c));
  }
  num_of_class_.resize(num_reached() * count());
  num_occurring_.resize(num_reached());
  for (const NodeId node : labelled_) {
    const NodeId index = index_[components.of_node[node]];
    if (num_of_class_[index * count() + column_[labels[node]]]++ == 0) ++num_occurring_[index];
  }
  if (is_signed) std::fill(num_occurring_.begin(), num_occurring_.end(), NodeId{kSignedClasses});
}

std::vector<double> LabelledClasses::expected_shares(NodeId component, PriorKind prior,
                                                     std::size_t left_out) const {
  std::vector<double> shares(count());
  double total = 0;
  for (std::size_t c = 0; c < count(); ++c) {
    const double count = num_labelled(component, c) - (c == left_out ? 1 : 0);
    if (count == 0 && !is_signed_) continue;
    total += shares[c] = prior == PriorKind::uniform ? 1 : count + kPriorSmoothing;
  }
  for (double& share : shares) share /= total;
  return shares;
}

struct SolvedLearner::Cache {
  std::mutex mutex;
  std::atomic<bool> is_ready = false;  // readers need no lock once it is
  std::optional<ScoreTable> table;

  void reset() {
    is_ready = false;
    table.reset();
  }
};

SolvedLearner::SolvedLearner(const GraphView& graph, const Execution& execution, double tolerance)
    : LabelledLearner(graph),
      graph_(graph),
      execution_(execution),
      tolerance_(tolerance),
      cache_(std::make_unique<Cache>()) {}

SolvedLearner::~SolvedLearner() = default;

namespace {

/// Values by column become values by class, 0 for classes that no label has; from the end, since a class is
/// never before its column.
void spread(const ScoreTable& table, std::span<double> values) {
  std::fill(values.begin() + static_cast<std::ptrdiff_t>(table.classes.count()), values.end(), 0.0);
  for (std::size_t c = table.classes.count(); c-- > 0;) {
    const std::size_t to = table.classes.classes()[c];
    if (to != c) values[to] = std::exchange(values[c], 0.0);
  }
}

/// Where weights are too far apart for the digits of a solve, a row may hold no scores at all: then the
/// classes of its component count alike. The solver has said that it did not converge.
void make_scores(ScoreTable& table) {
  const std::size_t k = table.classes.count();
  std::vector<double> weights(k);
  for (NodeId node = 0; node < table.components.of_node.size() && k > 0; ++node) {
    if (!table.is_reached(node)) continue;
    const double total = table.weigh(node, weights);
    if (total > 0 && std::isfinite(total)) continue;
    for (std::size_t c = 0; c < k; ++c)
      table.row(node)[c] = table.classes.occurs(table.components.of_node[node], c) ? 1 : 0;
  }
}

}  // namespace

double ScoreTable::weigh(NodeId node, std::span<double> weights) const {
  const NodeId component = components.of_node[node];
  const std::size_t k = classes.count();
  const double unit = units.empty() ? 1 : units[classes.index(component)];
  double rest = shares_rest ? 1 : 0, total = 0;
  for (std::size_t c = 0; c < k && shares_rest; ++c)
    if (classes.occurs(component, c)) rest -= unit * row(node)[c];
  rest /= static_cast<double>(classes.num_occurring(component));
  for (std::size_t c = 0; c < k; ++c)
    total += weights[c] =
        has_all_classes || classes.occurs(component, c) ? std::max(0.0, unit * row(node)[c] + rest) : 0;
  return total;
}

const ScoreTable& SolvedLearner::table() const {
  if (!cache_->is_ready.load(std::memory_order_acquire)) {
    const std::lock_guard lock(cache_->mutex);
    if (!cache_->table) make_scores(cache_->table.emplace(solve()));
    cache_->is_ready.store(true, std::memory_order_release);
  }
  return *cache_->table;
}

std::vector<std::string> SolvedLearner::notes() const { return table().notes; }

double SolvedLearner::weigh(NodeId node, std::span<double> weights) const {
  const ScoreTable& known = table();
  if (!known.is_reached(node)) return 0;
  const double total = known.weigh(node, weights);
  spread(known, weights);
  return total;
}

void SolvedLearner::unreached_scores(std::span<double> scores) const {
  const std::vector<double>& shares = table().unreached;
  if (shares.empty()) return LabelledLearner::unreached_scores(scores);
  std::ranges::copy(shares, scores.begin());
  spread(table(), scores);
}

void SolvedLearner::raw_scores(NodeId node, std::span<double> scores) const {
  if (prior().total() == 0 || !table().is_reached(node)) return this->scores(node, scores);
  const ScoreTable& known = table();
  std::copy_n(known.row(node), known.classes.count(), scores.begin());
  spread(known, scores);
}

void SolvedLearner::change_label(NodeId, Label) { cache_->reset(); }

}  // namespace copse
