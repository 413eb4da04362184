// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "choices.hpp"
#include "copse/learners/tree_committee.hpp"
#include "copse/queries/query.hpp"
#include "inputs.hpp"

namespace copse::cli {

std::vector<std::string> fields_of(const std::string& line);  // between tabs

/// +<TAB>u<TAB>v[<TAB>weight] or -<TAB>u<TAB>v. Two fields are a node of that name and its label.
bool changes_graph(const std::vector<std::string>& fields);

/// What `copse online` was told, in the language it is told in: node<TAB>label tells, node<TAB> takes back,
/// and edges come and go. A line is on the disk before its answer is sent, so that a session that was killed
/// goes on where it was. Without a path it keeps nothing.
class Journal {
 public:
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// apply(line) for all that stands there, which is false for a line that is not of this graph; returns the
  /// number of lines. The end of a line that was being written when the machine stopped is cut off: nobody
  /// was answered.
  std::uint64_t replay(const std::function<bool(const std::string&)>& apply);
  void add(const std::string& line);
  void sync();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_;
  int fd_ = -1;
  std::string waiting_;
};

/// The graph, the labels and the learner of a session of `copse online`, as they change.
class Knowledge {
 public:
  /// `half_life` 0: labels stay.
  Knowledge(const NamedGraph& graph, GivenLabels&& labels, Learner& learner, double half_life);

  const GivenLabels& labels() const { return labels_; }
  Label label(NodeId node) const { return labels_.of_node()[node]; }
  std::optional<NodeId> find(const std::string& name) const;
  std::string name(NodeId node) const;

  Label tell(NodeId node, const std::string& text);
  void take_back(NodeId node);
  /// UsageError, and nothing has changed, where it cannot be.
  void change_graph(const std::vector<std::string>& fields);
  /// One line of a journal; false if it is of another graph.
  bool repeat(const std::string& line);
  /// The node to ask about next, of those that the graph had at the start; the first call makes the strategy.
  std::optional<NodeId> next(const StrategyChoice& choice, const Execution& execution);

 private:
  struct Due {
    double time;
    std::uint64_t number;  // of the label
    NodeId node;
    bool operator<(const Due& other) const { return time > other.time; }  // the queue gives the largest
  };
  void tell(NodeId node, Label label, std::uint64_t steps);
  void set(NodeId node, Label label);
  NodeId old_node(const std::string& name) const;
  NodeId node_of(TreeCommittee& committee, const std::string& name);

  const NamedGraph& graph_;
  GivenLabels labels_;
  Learner& learner_;
  std::unique_ptr<QueryStrategy> strategy_;
  std::unordered_map<std::string, NodeId> new_nodes_;
  std::vector<std::string> new_names_;
  double half_life_;
  std::uint64_t now_ = 0, num_told_ = 0;
  std::unordered_map<NodeId, std::uint64_t> told_;  // number of the label that counts
  std::priority_queue<Due> due_;
};

}  // namespace copse::cli
