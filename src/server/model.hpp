// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "copse/learners/registry.hpp"
#include "copse/queries/query.hpp"

namespace copse::server {

/// Which row of a registry with which options, as `copse serve` was told.
template <class Row>
struct Setup {
  const Row* row = nullptr;
  OptionValues values;
  Execution execution;
};
using LearnerSetup = Setup<LearnerRow>;

/// Says "stop" to a computation in another thread.
class StopFlag final : public Progress {
 public:
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return is_set_.load(std::memory_order_relaxed); }
  void set() { is_set_ = true; }

 private:
  std::atomic<bool> is_set_ = false;
};

/// A thread of an object, that object's last member: what it uses is there until it has ended.
class Worker {
 public:
  ~Worker() {
    {
      const std::lock_guard lock(mutex);
      stop.set();
    }
    changed.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  template <class Work>
  void start(Work work) {
    thread_ = std::thread(std::move(work));
  }

  StopFlag stop;
  std::mutex mutex;  // of what the object shares with the thread
  std::condition_variable changed;

 private:
  std::thread thread_;
};

/// The learner of a graph. One whose label costs microseconds learns at once ("live"): the owner's lock keeps
/// readers and the writer apart. One that solves for all answers does so in a thread of its own, from a copy
/// of the labels, and what it publishes is never changed afterwards.
class Model {
 public:
  /// What answers are read from. Of a live model valid only under the owner's lock.
  struct Snapshot {
    std::shared_ptr<const Learner> learner;  // null until the first solve is done
    std::uint64_t version = 0;               // the last event that it knows
    std::uint64_t lag = 0;                   // changes of labels that it does not know
  };

  Model(const GraphView& graph, const LearnerSetup& setup);

  /// By the one writer: the node has this label now, kNoLabel is none.
  void change(NodeId node, Label label, std::uint64_t version);
  /// After the replay: solves from here on, and calls `published` (in the model's thread) after each.
  void start(std::function<void()> published);
  Snapshot snapshot() const;
  bool is_live() const { return live_ != nullptr; }
  bool answers_at_once() const { return live_ && !setup_.row->depends_on_order; }

 private:
  void solve_until_stopped();
  std::shared_ptr<const Learner> solve(const std::vector<Label>& labels) const;

  GraphView graph_;
  LearnerSetup setup_;
  std::shared_ptr<Learner> live_;

  // Of worker_.mutex:
  std::vector<Label> labels_;
  std::uint64_t version_ = 0, num_changes_ = 0, num_known_ = 0;
  Snapshot published_;
  std::function<void()> on_published_;
  mutable Worker worker_;
};

using StrategySetup = Setup<QueryRow>;

/// The next questions, chosen by a query strategy in a thread of its own: whoever asks gets those that are
/// ready, which may not know the last labels. Whether a node may still be asked about is the caller's.
class Questions {
 public:
  Questions(const GraphView& graph, const StrategySetup& setup);

  /// The node has this label now; kNoLabel is none.
  void change(NodeId node, Label label);
  /// Nobody can tell this node's label, or somebody can after all.
  void exclude(NodeId node, bool is_excluded);
  void start();
  /// The nodes to ask about next, most urgent first; at least `count` of them if the strategy has as many and
  /// is ready within a moment.
  std::vector<NodeId> next(std::size_t count);

 private:
  void choose_until_stopped();
  void choose_again();

  std::vector<Label> first_labels_;
  std::unique_ptr<QueryStrategy> strategy_;

  // Of worker_.mutex:
  std::condition_variable chosen_;
  std::size_t wanted_ = 50;
  bool is_stale_ = true, is_asked_ = false;
  std::vector<NodeId> ready_;
  bool is_ready_ = false;
  Worker worker_;
};

}  // namespace copse::server
