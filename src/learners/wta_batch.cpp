// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "learners/committee.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

/// One tree's votes, along its line: every node takes the label of the nearest other labelled one of its
/// tree, of two as near the one the line says. At a labelled node that is its vote if its own label were not
/// known. Neighbours on the line lie anywhere in memory: what is known of nodes is fetched some places ahead.
template <class Integer, bool kWeighted>
class Sweep {
 public:
  Sweep(const Line& line, const Ballot& ballot)
      : line_(line), ballot_(ballot), votes_(ballot.labels.size()) {}

  Buffer<Vote> run() {
    for (std::size_t tree = 0; tree < line_.starts.size(); ++tree)
      vote_in_tree(line_.starts[tree],
                   tree + 1 < line_.starts.size() ? line_.starts[tree + 1] : line_.num_nodes());
    return std::move(votes_);
  }

 private:
  void vote_in_tree(NodeId begin, NodeId end) {
    Label before = kNoLabel, left = kNoLabel;  // of the last two labelled places
    Integer to_before = kFar;                  // between them
    for (NodeId gap = begin; gap <= end && (gap < end || left != kNoLabel);) {
      NodeId gap_end = gap;
      Label right = kNoLabel;
      while (gap_end < end && (right = label_at(gap_end)) == kNoLabel) ++gap_end;
      const Integer length = right != kNoLabel ? resistance(gap, gap_end) : kFar;
      if (left != kNoLabel || right != kNoLabel) vote_in_gap(gap, gap_end, left, right, length);
      if (left != kNoLabel && (before != kNoLabel || right != kNoLabel))
        vote(gap - 1, to_before, before, length, right);
      to_before = left != kNoLabel ? length : kFar;
      before = left;
      left = right;
      gap = gap_end + 1;
    }
  }

  /// Between a place labelled `left` and one labelled `right`, of this `length`; kNoLabel is where the tree
  /// ends instead.
  void vote_in_gap(NodeId begin, NodeId end, Label left, Label right, Integer length) {
    Integer to_left = left != kNoLabel ? 0 : kFar, to_right = length;
    for (NodeId place = begin; place < end; ++place) {
      to_left += resistance(place);
      to_right -= resistance(place);
      prefetch(&votes_[soon(place)]);
      vote(place, to_left, left, to_right, right);
    }
  }

  /// For the nearer of two labels.
  void vote(NodeId place, Integer to_left, Label left, Integer to_right, Label right) {
    const bool goes_left = to_left < to_right || (to_left == to_right && line_.ties_go_left);
    const NodeId node = line_.node[place];
    const double distance = ballot_.scale.to_double(goes_left ? to_left : to_right);
    votes_[node] = vote_of(distance, seen_from_root(node, goes_left ? left : right));
  }

  Label label_at(NodeId place) const {
    prefetch(&ballot_.labels[soon(place)]);
    const NodeId node = line_.node[place];
    return seen_from_root(node, ballot_.labels[node]);
  }
  /// Of a signed graph, labels are taken and votes are cast as seen from the tree's root.
  Label seen_from_root(NodeId node, Label label) const {
    return turned(label, ballot_.parity.is_other_side(node));
  }

  NodeId soon(NodeId place) const { return line_.node[std::min(place + 32, line_.num_nodes() - 1)]; }

  /// Between `place` and the one before.
  Integer resistance(NodeId place) const {
    if constexpr (!kWeighted) return 1;
    return ballot_.scale.template resistance<Integer>(line_.weight[place]);
  }
  /// From the place before `first` to `last`.
  Integer resistance(NodeId first, NodeId last) const {
    if constexpr (!kWeighted) return last - first + 1;
    Integer sum = 0;
    for (NodeId place = first; place <= last; ++place) sum += resistance(place);
    return sum;
  }

  // More than twice the resistance of any line (ResistanceScale).
  static constexpr Integer kFar = Integer{1} << (8 * sizeof(Integer) - 1);

  const Line& line_;
  const Ballot& ballot_;
  Buffer<Vote> votes_;  // by node
};

}  // namespace

Buffer<Vote> vote_by_line(SpanningForest&& forest, const Ballot& ballot) {
  const Line line = random_line(std::move(forest), ballot.execution.seed, ballot.tree);
  ballot.execution.throw_if_cancelled();
  if (line.weight.empty()) return Sweep<std::uint64_t, false>(line, ballot).run();
  if (ballot.scale.wide) return Sweep<Uint128, true>(line, ballot).run();
  return Sweep<std::uint64_t, true>(line, ballot).run();
}

BatchResult Wta::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const Options& options, const Execution& execution) {
  return fit_committee(graph, labels, num_classes, options, execution, "docs/learners/wta.md", vote_by_line,
                       true);
}

std::uint64_t Wta::bytes(const ProblemSize& size, const Options& options) {
  // A tree at its peak: its walks and what they write of the forest. Its line and its votes take no more,
  // and take it from there.
  return committee_bytes(size, options, 20);
}

}  // namespace copse
