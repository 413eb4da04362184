// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/io/read.hpp"
#include "server/error_curve.hpp"
#include "server/event.hpp"
#include "server/leases.hpp"
#include "server/model.hpp"
#include "server/questions.hpp"
#include "server/turn_lock.hpp"

namespace copse::server {

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
