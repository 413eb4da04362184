// SPDX-License-Identifier: Apache-2.0
#include "server/questions.hpp"

#include <algorithm>
#include <chrono>

namespace copse::server {

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
