// SPDX-License-Identifier: Apache-2.0
#include "server/model.hpp"

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

}  // namespace copse::server
