// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/tree_committee.hpp"

#include <atomic>
#include <cmath>
#include <mutex>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "learners/line_resistance.hpp"
#include "trees/dynamic_forests.hpp"
#include "trees/parity.hpp"

namespace copse {
namespace {

[[noreturn]] void cannot_change(const std::string& what) {
  throw UsageError("graph", "cannot change: " + what,
                   "take the learner wta or tree_cut with trees of kind random_key, and no negative edges");
}

WeightRange weight_range(const ChangingGraph& graph) {
  WeightRange range;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    graph.for_each_neighbor(u, [&](NodeId, Weight weight) { range.add(weight); });
  return range;
}

}  // namespace

struct TreeCommittee::Core {
  GraphView graph;
  CommitteeOptions options;
  Execution execution;
  ResistanceScale scale;
  std::size_t num_trees = 0;
  std::unique_ptr<DynamicForests> forests;  // once the graph has changed
  std::vector<char> is_stale;               // trees
  std::mutex mutex;
  std::atomic<bool> is_any_stale = false;

  /// Follows from the weights and the number of nodes. Where it changes, so do all trees.
  void measure() {
    if (!options.weighted || !graph.is_weighted()) return;
    const ResistanceScale now =
        ResistanceScale::of(weight_range(forests->graph()), forests->graph().num_nodes());
    const auto same = [&](auto member) { return now.*member == scale.*member; };
    if (!same(&ResistanceScale::exponent) || !same(&ResistanceScale::wide) ||
        !same(&ResistanceScale::weight_exponent) || !same(&ResistanceScale::smallest_weight))
      std::fill(is_stale.begin(), is_stale.end(), 1);
    scale = now;
  }
};

TreeCommittee::TreeCommittee(const GraphView& graph, const CommitteeOptions& options,
                             const Execution& execution)
    : LabelledLearner(graph), core_(new Core{graph, options, execution, {}, 0, {}, {}, {}}) {
  core_->scale = ResistanceScale::of(graph, options.weighted, execution.threads);
}
TreeCommittee::~TreeCommittee() = default;

void TreeCommittee::draw_trees() {
  const TreeSampler sampler(core_->graph, core_->options.tree, core_->execution);
  core_->num_trees = sampler.num_trees(core_->options.num_trees);
  core_->is_stale.resize(core_->num_trees);
  parallel_for(core_->execution.threads, core_->num_trees, [&](std::size_t tree) {
    core_->execution.throw_if_cancelled();
    SpanningForest forest = sampler.tree(tree);
    TreeParity parity(core_->graph, forest);
    if (!core_->options.weighted) forest.weight = {};
    core_->execution.throw_if_cancelled();
    plant(tree, std::move(forest), std::move(parity));
    core_->execution.report("trees", tree + 1, core_->num_trees);
  });
}

TreeCommittee::Core& TreeCommittee::changing() {
  if (core_->options.tree != TreeKind::random_key)
    cannot_change(std::string("trees are of kind ") + to_string(core_->options.tree));
  if (core_->graph.is_signed()) cannot_change("it has negative edges");
  if (!core_->forests)
    core_->forests = std::make_unique<DynamicForests>(core_->graph, core_->num_trees, core_->execution);
  return *core_;
}

NodeId TreeCommittee::num_nodes() const { return static_cast<NodeId>(labels().size()); }

NodeId TreeCommittee::add_node() {
  Core& core = changing();
  if (core.forests->graph().num_nodes() >= kMaxNodes)
    throw UsageError("node", "there are " + with_commas(kMaxNodes) + " already", "leave some out");
  const NodeId node = core.forests->add_node();
  add_label_place();
  std::fill(core.is_stale.begin(), core.is_stale.end(), 1);
  core.is_any_stale = true;
  return node;
}

void TreeCommittee::check_edge(bool is_loop, Weight weight) const {
  if (is_loop) throw UsageError("edge", "joins a node to itself", "leave it out");
  if (!(weight > 0) || !std::isfinite(weight))
    throw UsageError("edge", "weight " + std::to_string(weight) + " is not a positive number",
                     "weights are similarities (> 0, finite); remove an edge to have none");
  if (weight != 1 && !core_->graph.is_weighted())
    throw UsageError("edge", "has a weight, and the graph has none",
                     "leave the weight out, or begin with a graph of weights (of 1, if need be)");
}

void TreeCommittee::add_edge(NodeId u, NodeId v, Weight weight) {
  check_edge(u == v, weight);
  set_weight(u, v, weight);
}

void TreeCommittee::remove_edge(NodeId u, NodeId v) { set_weight(u, v, 0); }

void TreeCommittee::set_weight(NodeId u, NodeId v, Weight weight) {
  Core& core = changing();
  const NodeId n = core.forests->graph().num_nodes();
  if (u >= n || v >= n)
    throw UsageError("edge", "node " + std::to_string(std::max(u, v)) + " does not exist",
                     "add the node before its edges");
  if (weight == 0 && core.forests->graph().weight(u, v) == 0)
    throw UsageError("edge", "is not there", "only an edge of the graph can be removed");
  core.forests->set_weight(u, v, weight);
  for (std::size_t tree = 0; tree < core.num_trees; ++tree)
    if (!core.forests->is_settled(tree)) core.is_stale[tree] = 1;
  core.is_any_stale = true;
}

void TreeCommittee::refresh() const {
  Core& core = *core_;
  if (!core.is_any_stale.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(core.mutex);
  if (!core.is_any_stale.load(std::memory_order_relaxed)) return;
  core.measure();
  auto* self = const_cast<TreeCommittee*>(this);  // what is asked does not change by this
  parallel_for(core.execution, core.num_trees, [&](std::size_t tree) {
    if (core.is_stale[tree] == 0) return;
    core.execution.throw_if_cancelled();
    core.forests->settle(tree);
    SpanningForest forest = core.forests->forest(tree);
    if (!core.options.weighted) forest.weight = {};
    self->plant(tree, std::move(forest), {});
    self->tell_all(tree, labels());
    core.is_stale[tree] = 0;
  });
  core.is_any_stale.store(false, std::memory_order_release);
}

void TreeCommittee::change_label(NodeId node, Label label) {
  for (std::size_t tree = 0; tree < core_->num_trees; ++tree)
    if (core_->is_stale[tree] == 0) tell(tree, node, label);
}

std::size_t TreeCommittee::num_voters() const { return core_->num_trees; }
const CommitteeOptions& TreeCommittee::options() const { return core_->options; }
const ResistanceScale& TreeCommittee::scale() const { return core_->scale; }
std::uint64_t TreeCommittee::seed() const { return core_->execution.seed; }
Graph TreeCommittee::current_graph() const {
  return core_->forests ? core_->forests->graph().snapshot() : Graph(core_->graph, nullptr);
}

TreeCommittee& changing_committee(Learner& learner) {
  auto* const committee = dynamic_cast<TreeCommittee*>(&learner);
  if (committee == nullptr) cannot_change("this learner keeps to the one it was made for");
  return *committee;
}

}  // namespace copse
