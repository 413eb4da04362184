// SPDX-License-Identifier: Apache-2.0
#include "server/model.hpp"

#include <algorithm>
#include <chrono>

namespace copse::server {

namespace {

// Their labels cost microseconds, or must be learned in the order in which they come.
bool learns_at_once(const LearnerRow& row) {
  return row.depends_on_order || row.name == "wta" || row.name == "majority_vote" || row.name == "tree_cut";
}

void set_label(Learner& learner, NodeId node, Label label) {
  if (label == kNoLabel)
    learner.retract(node);
  else
    learner.reveal(node, label);
}

}  // namespace

Model::Model(const GraphView& graph, const LearnerSetup& setup) : graph_(graph), setup_(setup) {
  if (learns_at_once(*setup.row))
    live_ = setup.row->make(graph, setup.values, setup.execution);
  else
    labels_.assign(graph.num_nodes(), kNoLabel);
  setup_.execution.progress = &worker_.stop;
}

void Model::change(NodeId node, Label label, std::uint64_t version) {
  if (live_) set_label(*live_, node, label);
  const std::lock_guard lock(worker_.mutex);
  version_ = version;
  if (live_) return;
  labels_[node] = label;
  ++num_changes_;
  worker_.changed.notify_all();
}

void Model::start(std::function<void()> published) {
  on_published_ = std::move(published);
  if (!live_) worker_.start([this] { solve_until_stopped(); });
}

Model::Snapshot Model::snapshot() const {
  const std::lock_guard lock(worker_.mutex);
  if (live_) return {live_, version_, 0};
  return {published_.learner, published_.version, num_changes_ - num_known_};
}

std::shared_ptr<const Learner> Model::solve(const std::vector<Label>& labels) const {
  std::shared_ptr<Learner> learner = setup_.row->make(graph_, setup_.values, setup_.execution);
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) learner->reveal(node, labels[node]);
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] == kNoLabel) {
      learner->predict(node);  // the first question solves for all
      break;
    }
  return learner;
}

void Model::solve_until_stopped() {
  std::unique_lock lock(worker_.mutex);
  for (;;) {
    worker_.changed.wait(
        lock, [&] { return worker_.stop.cancelled() || !published_.learner || num_known_ != num_changes_; });
    if (worker_.stop.cancelled()) return;
    const std::vector<Label> labels = labels_;
    const std::uint64_t version = version_, num_changes = num_changes_;
    lock.unlock();
    std::shared_ptr<const Learner> learner;
    try {
      learner = solve(labels);
    } catch (const Cancelled&) {
      return;
    }
    lock.lock();
    published_ = {std::move(learner), version, 0};
    num_known_ = num_changes;
    lock.unlock();
    on_published_();
    lock.lock();
  }
}

Questions::Questions(const GraphView& graph, const StrategySetup& setup)
    : first_labels_(graph.num_nodes(), kNoLabel) {
  Execution execution = setup.execution;
  execution.progress = &worker_.stop;
  strategy_ = setup.row->make(graph, setup.values, execution);
}

void Questions::exclude(NodeId node, bool is_excluded) {
  if (is_excluded)
    strategy_->exclude(node);
  else
    strategy_->readmit(node);
  choose_again();
}

void Questions::choose_again() {
  const std::lock_guard lock(worker_.mutex);
  is_stale_ = true;
  worker_.changed.notify_all();
}

void Questions::change(NodeId node, Label label) {
  if (!first_labels_.empty()) {
    first_labels_[node] = label;  // the replay: start() takes all at once
    return;
  }
  if (label == kNoLabel)
    strategy_->retract(node);
  else
    strategy_->reveal(node, label);
  choose_again();
}

void Questions::start() {
  strategy_->start(std::exchange(first_labels_, {}));
  worker_.start([this] { choose_until_stopped(); });
}

std::vector<NodeId> Questions::next(std::size_t count) {
  std::unique_lock lock(worker_.mutex);
  wanted_ = std::max(wanted_, count);
  is_asked_ = true;
  worker_.changed.notify_all();
  // The first choice is worth a wait; later there is a list, and somebody who wants to label.
  constexpr std::chrono::milliseconds kFirst{2000}, kMoment{30};
  chosen_.wait_for(lock, is_ready_ ? kMoment : kFirst,
                   [&] { return is_ready_ && (ready_.size() >= count || ready_.size() < wanted_); });
  return ready_;
}

void Questions::choose_until_stopped() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(worker_.mutex);
  for (std::size_t num_chosen = 0;;) {
    worker_.changed.wait(lock, [&] { return worker_.stop.cancelled() || is_stale_ || wanted_ > num_chosen; });
    if (worker_.stop.cancelled()) return;
    is_stale_ = is_asked_ = false;
    const auto start = Clock::now();
    const std::size_t count = num_chosen = wanted_;
    lock.unlock();
    std::vector<NodeId> chosen;
    try {
      for (const Query& query : strategy_->next(count)) chosen.push_back(query.node);
    } catch (const Cancelled&) {
      return;
    }
    lock.lock();
    ready_ = std::move(chosen);
    is_ready_ = true;
    chosen_.notify_all();
    // While nobody asks, programs may tell hundreds of labels per second: a tenth of a core is enough for
    // those.
    worker_.changed.wait_for(lock, 9 * (Clock::now() - start),
                             [&] { return worker_.stop.cancelled() || is_asked_; });
  }
}

}  // namespace copse::server
