// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
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
class QueryStrategy {
 public:
  QueryStrategy(const GraphView& graph, const Execution& execution);
  virtual ~QueryStrategy() = default;

  /// Labels known from the start, one entry per node, kNoLabel where there is none; before any reveal. What
  /// follows is a function of the set, not of an order.
  void start(std::span<const Label> labels);
  /// The answer to a query, or any other label that arrives.
  void reveal(NodeId node, Label label);
  /// Never ask about this node: nobody could tell its label.
  void exclude(NodeId node);

  /// The `count` nodes to ask about next, in the order to ask; fewer only where fewer are left. Nodes of one
  /// answer do not repeat each other: each is chosen as if those before it had been answered as expected.
  /// Changes nothing: asked twice without a label in between, it answers the same.
  std::vector<Query> next(std::size_t count);

  /// Z_A of Herbster, Pontil & Wainer 2005, theorem 5.1: how far the labels revealed one by one have moved
  /// the strategy's own hypothesis, in squared norm. 0 for strategies that have none.
  virtual double progress() const { return 0; }
  std::uint64_t num_open() const { return num_open_; }
  virtual std::vector<std::string> notes() const { return {}; }

 protected:
  virtual void learn_all(std::span<const Label> labels) = 0;
  virtual void learn(NodeId node, Label label) = 0;
  /// `count` is at most num_open(), and above 0.
  virtual std::vector<Query> choose(std::size_t count) = 0;

  const GraphView& graph() const { return graph_; }
  const Execution& execution() const { return execution_; }
  std::span<const char> open() const { return open_; }  // by node: may be asked about
  /// One random number per node, the judge of ties: a function of (seed, node).
  std::uint64_t tie_key(NodeId node) const;

 private:
  void close(NodeId node);

  GraphView graph_;
  Execution execution_;
  std::vector<char> open_;
  std::uint64_t num_open_;
};

/// One row per strategy. `copse query --help`, the docs table and the contract test all read these.
struct QueryRow : Described {
  bool signed_graphs = false;  // takes graphs with negative edges; others refuse them

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
