// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/io/read.hpp"
#include "server/event_store.hpp"
#include "server/model.hpp"

namespace copse::server {

/// A shared lock under which a writer waits for the readers that are there, not for those that come after it:
/// std::shared_mutex alone lets a stream of readers keep a writer waiting for ever.
class TurnLock {
 public:
  void lock() {
    turn_.lock();
    mutex_.lock();
    turn_.unlock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    const std::lock_guard turn(turn_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turn_;
  std::shared_mutex mutex_;
};

/// Who is asked about which node: one node per person, for some time, so that nobody is asked what somebody
/// else is thinking about. The clock is the caller's, and must not go backwards.
class Leases {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Lease {
    NodeId node;
    Time until;
  };
  explicit Leases(std::chrono::seconds duration) : duration_(duration) {}

  /// The node that the person was asked about and has not answered.
  std::optional<NodeId> held_by(std::uint32_t who, Time now) const {
    const auto found = leases_.find(who);
    return found == leases_.end() || found->second.until <= now ? std::nullopt
                                                                : std::optional(found->second.node);
  }
  /// Persons other than `who` who are asked about `node` now.
  std::size_t num_others(NodeId node, std::uint32_t who, Time now) const {
    return count([&](std::uint32_t person, const Lease& lease) {
      return person != who && lease.node == node && lease.until > now;
    });
  }
  std::size_t num_held(Time now) const {
    return count([&](std::uint32_t, const Lease& lease) { return lease.until > now; });
  }
  void take(std::uint32_t who, NodeId node, Time now) { take(who, {node, now + duration_}); }  // or renew
  void take(std::uint32_t who, const Lease& lease) { leases_.insert_or_assign(who, lease); }
  void release(std::uint32_t who) { leases_.erase(who); }
  const std::unordered_map<std::uint32_t, Lease>& all() const { return leases_; }

 private:
  template <class Holds>
  std::size_t count(Holds&& holds) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(leases_, [&](const auto& one) { return holds(one.first, one.second); }));
  }

  std::chrono::seconds duration_;
  std::unordered_map<std::uint32_t, Lease> leases_;  // by person: people are few
};

/// Progressive validation: what was predicted of every node just before its label was told.
class ErrorCurve {
 public:
  struct Point {
    std::uint64_t seq, labels;
    double error, low, high;  // share of mistakes among the last 100, with Wilson's interval at 95 %
  };
  struct Stop {
    bool hint;
    std::string text;
  };
  static constexpr std::size_t kWindow = 100;

  void add(std::uint64_t seq, bool is_mistake) { trials_.push_back({seq, is_mistake}); }
  /// The label of that event was taken back: it is no trial any more.
  void remove(std::uint64_t seq);
  /// At most `most` points, the last one always.
  std::vector<Point> points(std::size_t most) const;
  /// Whether the error of the last 100 is no lower than that of the 100 before.
  Stop stop() const;

 private:
  /// Mistakes among the last 100 before the trial `end`.
  std::size_t mistakes_before(std::size_t end) const;
  struct Trial {
    std::uint64_t seq;
    bool is_mistake;
  };
  std::vector<Trial> trials_;  // ascending by seq
};

/// What `copse serve` was told about how to learn and ask.
struct GraphSetup {
  LearnerSetup learner;
  StrategySetup strategy;
  Resolve resolve = Resolve::latest;
  std::size_t annotators_per_node = 1;
  std::chrono::seconds lease{600};
  std::vector<std::string> classes;  // known before any label is
  std::string adjudicator;           // whose word decides, under Resolve::adjudicated
};

/// A graph as it is read: its ids, and what people call its nodes (one text per node, or none at all).
struct GraphInput {
  NamedGraph graph;
  std::vector<std::string> display;
};

/// A graph with its learner, its labels and its questions: all that a replay of the events rebuilds. One
/// thread applies events; any number of threads read.
class GraphState {
 public:
  GraphState(GraphInput input, const GraphSetup& setup);

  /// Under its lock all of it belongs to one version.
  struct Reading {
    std::shared_lock<TurnLock> lock;
    const GraphState& state;
    Model::Snapshot model;

    const LabelFold& fold() const { return state.fold_; }
    const ClassNames& classes() const { return state.classes_; }
    const ErrorCurve& curve() const { return state.curve_; }
    const std::vector<std::string>& persons() const { return state.persons_; }
    const std::vector<std::uint64_t>& labels_by_person() const { return state.labels_by_person_; }
    std::uint64_t version() const { return state.version_; }
    /// A known label is its node's answer, also where the model has yet to hear of it.
    Prediction predict(NodeId node) const;
    std::optional<std::string> class_name(Label label) const;
  };
  Reading read() const { return {std::shared_lock(lock_), *this, model_.snapshot()}; }

  /// An event that is stored. One about a node that the graph does not have changes nothing.
  void apply(const Event& event);
  /// Takes over the leases of the state that this one replaces.
  void take_leases(const GraphState& before);
  /// After the replay.
  void start(std::function<void()> published);
  /// A prediction costs microseconds.
  bool answers_at_once() const { return model_.answers_at_once(); }
  bool is_ready() const { return model_.snapshot().learner != nullptr; }

  /// As LabelFold wants it; `who` and the label may be new.
  LabelEvent to_fold(const Event& event);

  /// The node to ask this person about: the same again until it is answered, skipped or its time is over.
  std::optional<NodeId> next_question(const std::string& who);
  std::size_t num_leases() const;

  std::vector<Reason> explain(NodeId node) const;
  /// What a model that solves published last; of one that learns at once, events say it all.
  Model::Snapshot model_news() const { return model_.is_live() ? Model::Snapshot{} : model_.snapshot(); }
  std::string_view display(NodeId node) const {
    return input_.display.empty() ? std::string_view() : input_.display[node];
  }
  const GraphView& view() const { return input_.graph.graph; }
  const NamedGraph& named_graph() const { return input_.graph; }
  const NodeNames& names() const { return input_.graph.names; }
  const GraphSetup& setup() const { return setup_; }
  const std::string& checksum() const { return checksum_; }
  std::uint64_t num_ignored() const { return num_ignored_; }
  std::uint32_t person(const std::string& who);

 private:
  bool is_open(const Reading& reading, NodeId node, std::uint32_t who, Leases::Time now) const;
  std::optional<NodeId> choose(const Reading& reading, std::uint32_t who,
                               const std::vector<NodeId>& candidates, Leases::Time now) const;
  std::uint32_t person_locked(const std::string& who);
  bool decides(std::uint32_t who) const {
    return setup_.resolve == Resolve::adjudicated && who == LabelFold::kAdjudicator;
  }

  GraphInput input_;
  GraphSetup setup_;
  std::string checksum_;

  mutable TurnLock lock_;  // of all up to model_
  LabelFold fold_;
  ClassNames classes_;
  ErrorCurve curve_;
  std::vector<std::string> persons_;
  std::unordered_map<std::string, std::uint32_t> person_of_;
  std::vector<std::uint64_t> labels_by_person_;
  std::set<NodeId> unfinished_;  // labelled by some, but by fewer persons than wanted
  std::uint64_t version_ = 0;
  std::atomic<std::uint64_t> num_ignored_ = 0;

  Model model_;
  Questions questions_;
  mutable std::mutex leases_mutex_;  // taken before lock_
  Leases leases_;
};

/// XXH3 of the arrays and the ids: the same for the same graph, whatever file it came from.
std::string graph_checksum(const NamedGraph& graph);

}  // namespace copse::server
