// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "learners/committee.hpp"
#include "trees/prefetch.hpp"

// One tree's votes, in three passes: by rank, the given labels go to their places on the line; along the
// line, every place gets its vote; by rank again, the votes are added to those of other trees. So whatever is
// large is met in the order of the forest, where nodes that follow each other often are neighbours in memory,
// and only labels and votes of places are met in another one.

namespace copse {
namespace {

constexpr NodeId kAhead = 32;  // ranks: what these will need is fetched

/// The pass along the line: every place takes the label of the nearest other labelled one of its tree, of two
/// as near the one the line says. At a labelled place that is its vote if its own label were not known.
template <class Integer, bool kWeighted>
class Sweep {
 public:
  Sweep(const PlacedForest& line, const ResistanceScale& scale, std::span<const Label> labels)
      : line_(line), scale_(scale), labels_(labels), votes_(labels.size()) {}

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
      while (gap_end < end && labels_[gap_end] == kNoLabel) ++gap_end;
      const Label right = gap_end < end ? labels_[gap_end] : kNoLabel;
      const Integer length = right != kNoLabel ? resistance(gap, gap_end) : kFar;
      if (left != kNoLabel || right != kNoLabel) vote_in_gap(gap, gap_end, left, right, length);
      if (left != kNoLabel && (before != kNoLabel || right != kNoLabel))
        votes_[gap - 1] = nearer(to_before, before, length, right);
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
      votes_[place] = nearer(to_left, left, to_right, right);
    }
  }
  Vote nearer(Integer to_left, Label left, Integer to_right, Label right) const {
    const bool goes_left = to_left < to_right || (to_left == to_right && line_.ties_go_left);
    return vote_of(scale_.to_double(goes_left ? to_left : to_right), goes_left ? left : right);
  }

  /// Between `place` and the one before.
  Integer resistance(NodeId place) const {
    if constexpr (!kWeighted) return 1;
    return scale_.resistance<Integer>(line_.weight[place]);
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

  const PlacedForest& line_;
  const ResistanceScale& scale_;
  std::span<const Label> labels_;  // by place
  Buffer<Vote> votes_;             // by place
};

Buffer<Vote> votes_on(const PlacedForest& line, const ResistanceScale& scale, std::span<const Label> labels) {
  if (line.weight.empty()) return Sweep<std::uint64_t, false>(line, scale, labels).run();
  if (scale.wide) return Sweep<Uint128, true>(line, scale, labels).run();
  return Sweep<std::uint64_t, true>(line, scale, labels).run();
}

/// Of a signed graph, labels are taken and votes are cast as seen from the tree's root.
Label seen_from_root(const Ballot& ballot, NodeId node, Label label) {
  return turned(label, ballot.parity.is_other_side(node));
}

Buffer<Label> labels_by_place(const PlacedForest& line, const Ballot& ballot) {
  auto labels = Buffer<Label>::for_overwrite(line.num_nodes());
  std::fill(labels.begin(), labels.end(), kNoLabel);
  for (NodeId rank = 0; rank < line.num_nodes(); ++rank) {
    prefetch(&ballot.labels[line.node[std::min(rank + kAhead, line.num_nodes() - 1)]]);
    const NodeId node = line.node[rank];
    if (ballot.labels[node] != kNoLabel)
      labels[line.place[rank]] = seen_from_root(ballot, node, ballot.labels[node]);
  }
  return labels;
}

}  // namespace

void vote_by_line(SpanningForest&& forest, const Ballot& ballot, std::uint64_t seed) {
  const PlacedForest line = place_at_random(std::move(forest), seed, ballot.tree);
  ballot.execution.throw_if_cancelled();
  const Buffer<Vote> votes = votes_on(line, ballot.scale, labels_by_place(line, ballot).span());
  for (NodeId rank = 0; rank < line.num_nodes(); ++rank) {
    const NodeId soon = std::min(rank + kAhead, line.num_nodes() - 1);
    prefetch(&votes[line.place[soon]]);
    ballot.votes.fetch(line.node[soon]);
    const NodeId node = line.node[rank];
    Vote vote = votes[line.place[rank]];
    if (!vote.exists()) continue;
    vote.label = seen_from_root(ballot, node, vote.label);
    ballot.votes.add(node, ballot.slot, vote);
  }
}

BatchResult Wta::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const Options& options, const Execution& execution) {
  return fit_committee(graph, labels, num_classes, options, execution, "docs/learners/wta.md", vote_by_line,
                       TreeNodes::with_neighbors, true);
}

std::uint64_t Wta::bytes(const ProblemSize& size, const Options& options) {
  // A tree at its peak: its walks and what they write of the forest. Its line and its votes take no more,
  // and take it from there.
  return committee_bytes(size, options, 20);
}

}  // namespace copse
