// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/labelled_learner.hpp"
#include "copse/learners/option_blocks.hpp"

namespace copse {

class TreeParity;
struct ResistanceScale;

/// What Wta and TreeCut share online: spanning trees that are told labels, and a graph that may change under
/// them.
class TreeCommittee : public LabelledLearner {
 public:
  ~TreeCommittee() override;
  std::size_t num_voters() const final;

  /// Changes of the graph, for trees of kind random_key and graphs without signs (else UsageError). From then
  /// on the answers are those of a committee of the graph as it is now, bit for bit, whatever way led there.
  /// The first change takes as long as the construction. Which trees an edge enters or leaves is found at
  /// once, in O(trees log n); those are laid out anew when next something is asked, O(n) each, so many
  /// changes at once are the cheaper ones. Whether the graph has weights does not change.
  NodeId add_node();
  /// Or gives the edge another weight.
  void add_edge(NodeId u, NodeId v, Weight weight = 1);
  void remove_edge(NodeId u, NodeId v);
  /// UsageError where add_edge would refuse a loop or a weight, for those who add nodes before.
  void check_edge(bool is_loop, Weight weight) const;
  NodeId num_nodes() const;

 protected:
  TreeCommittee(const GraphView& graph, const CommitteeOptions& options, const Execution& execution);

  /// A tree takes the place of the one that had its number, knowing no labels. Trees come side by side.
  virtual void plant(std::size_t tree, SpanningForest&& forest, TreeParity&& parity) = 0;
  /// Tells a tree that has just been planted all `labels`.
  virtual void tell_all(std::size_t tree, std::span<const Label> labels) = 0;
  virtual void tell(std::size_t tree, NodeId node, Label label) = 0;
  /// Of all trees; for constructors.
  void draw_trees();
  /// Mends the trees that changes of the graph have reached: whoever looks at trees calls this before.
  void refresh() const;

  const CommitteeOptions& options() const;
  const ResistanceScale& scale() const;
  std::uint64_t seed() const;
  /// As it is now, on loan where nothing has changed.
  Graph current_graph() const;

 private:
  struct Core;
  void change_label(NodeId node, Label label) final;
  Core& changing();
  void set_weight(NodeId u, NodeId v, Weight weight);

  std::unique_ptr<Core> core_;
};

/// The learner as one whose graph can change; UsageError for others.
TreeCommittee& changing_committee(Learner& learner);

}  // namespace copse
