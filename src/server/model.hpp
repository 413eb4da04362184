// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "copse/learners/registry.hpp"

namespace copse::server {

/// Which learner with which options, as `copse serve` was told.
struct LearnerSetup {
  const LearnerRow* row = nullptr;
  OptionValues values;
  Execution execution;
};

/// Says "stop" to a computation in another thread.
class StopFlag final : public Progress {
 public:
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return is_set_.load(std::memory_order_relaxed); }
  void set() { is_set_ = true; }

 private:
  std::atomic<bool> is_set_ = false;
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
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

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
  StopFlag stop_;
  std::shared_ptr<Learner> live_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<Label> labels_;
  std::uint64_t version_ = 0, num_changes_ = 0, num_known_ = 0;
  Snapshot published_;
  std::function<void()> on_published_;
  std::thread thread_;
};

}  // namespace copse::server
