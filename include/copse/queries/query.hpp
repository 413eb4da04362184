// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/learners/learner.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/options.hpp"

namespace copse {

/// A node to ask about. What the score measures is the strategy's; a larger one is more urgent.
struct Query {
  NodeId node = kNoNode;
  double score = 0;
};

/// Says which nodes are worth a label. It is told labels as they come, asked for or not, and never asks about
/// a node that has one. Keeps a view: the graph must outlive it.
///
/// Made to be asked while labels arrive. reveal, retract, exclude and readmit only note what happened and
/// return at once, even while a question is being worked out on another thread; next first takes in what was
/// noted before it began, at the cost of what changed, so a question may be fetched ahead in the background.
/// Any thread may call any of these at any time after start; questions wait for each other.
///
/// What next answers is a function of the labels known and the nodes excluded now, as if a fresh strategy had
/// been told just these, bit by bit; of the order in which they came only where the row says so.
class QueryStrategy {
 public:
  static constexpr bool kDependsOnOrder = false;

  QueryStrategy(const GraphView& graph, const Execution& execution);
  virtual ~QueryStrategy() = default;

  /// Labels known from the start, one entry per node, kNoLabel where there is none; before anything else.
  /// What follows is a function of the set, not of an order.
  void start(std::span<const Label> labels);
  /// The answer to a query, or any other label that arrives; replaces the one that the node had.
  void reveal(NodeId node, Label label);
  /// The node has no label any more, and may be asked about again. No effect where it had none.
  void retract(NodeId node);
  /// Never ask about this node: nobody could tell its label. Until it is readmitted.
  void exclude(NodeId node);
  void readmit(NodeId node);

  /// The `count` nodes to ask about next, in the order to ask; fewer only where fewer are left. Nodes of one
  /// answer do not repeat each other: each is chosen as if those before it had been answered as expected, and
  /// its score is then no higher than theirs.
  /// Changes nothing: asked twice without a label in between, it answers the same. Those in `skip` are left
  /// out of this answer only, because this person has passed them on or another has them open.
  std::vector<Query> next(std::size_t count, std::span<const NodeId> skip = {});

  /// Z_A of Herbster, Pontil & Wainer 2005, theorem 5.1: how far the labels revealed one by one have moved
  /// the strategy's own hypothesis, in squared norm. 0 for strategies that have none.
  double progress();
  std::uint64_t num_open();
  std::vector<std::string> notes();

 protected:
  /// Labels of a strategy that has none so far; one by one unless there is a better way.
  virtual void learn_all(std::span<const Label> labels);
  /// A label of a node that has none; the node is open no more.
  virtual void learn(NodeId node, Label label) = 0;
  /// The label that was learned is gone.
  virtual void forget(NodeId node, Label label) = 0;
  /// `count` nodes of those that are `left`, which are as many at least, and above 0. May change the
  /// strategy, if no later answer does: calls come one after the other.
  virtual std::vector<Query> choose(std::size_t count, std::vector<char> left) = 0;
  virtual double measure_progress() { return 0; }
  virtual std::vector<std::string> remarks() const { return {}; }

  const GraphView& graph() const { return graph_; }
  const Execution& execution() const { return execution_; }
  /// One more than the largest class that has a label now.
  std::size_t num_classes() const { return class_counts_.size(); }
  /// One random number per node, the judge of ties: a function of (seed, node).
  std::uint64_t tie_key(NodeId node) const;
  /// The `count` nodes with the smallest tie keys of those that are left, in their order; all if fewer are.
  std::vector<NodeId> draw(std::size_t count, std::span<const char> left) const;
  /// Of what every strategy keeps.
  static constexpr std::uint64_t kBytesPerNode = sizeof(Label) + 3;

 private:
  enum class Kind { label, no_label, excluded, readmitted };
  struct Event {
    NodeId node;
    Kind kind;
    Label label;
  };
  void note(NodeId node, Kind kind, Label label = kNoLabel);
  void check_label(Label label) const;
  /// Takes in what was noted so far; whoever calls it holds `working_`.
  void catch_up();
  void take_in(const Event& event);
  void set_label(NodeId node, Label label);
  void count_open(NodeId node);

  GraphView graph_;
  Execution execution_;
  std::mutex noting_, working_;  // of the first the events, of the second all that follows
  std::deque<Event> events_;
  std::vector<Label> labels_;
  std::vector<std::uint64_t> class_counts_;
  std::vector<char> excluded_, open_;
  std::uint64_t num_open_;
};

/// One row per strategy. `copse query --help`, the docs table and the contract test all read these.
struct QueryRow : Described {
  bool signed_graphs = false;     // takes graphs with negative edges; others refuse them
  bool depends_on_order = false;  // the answer is not a function of the set of labels alone

  std::function<std::unique_ptr<QueryStrategy>(const GraphView& graph, const OptionValues& options,
                                               const Execution& execution)>
      make;
  /// Bytes that a strategy takes beyond the graph itself.
  std::function<std::uint64_t(const ProblemSize& size, const OptionValues& options)> bytes;
};

const std::vector<QueryRow>& query_rows();

/// The row of that name; UsageError lists the known ones.
const QueryRow& query_row(const std::string& name);

}  // namespace copse
