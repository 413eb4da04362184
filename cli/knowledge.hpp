// SPDX-License-Identifier: Apache-2.0
#pragma once

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
