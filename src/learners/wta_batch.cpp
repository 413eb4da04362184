// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "learners/committee.hpp"
#include "trees/prefetch.hpp"

// One tree's votes, in three passes over a word a position of its line. By rank, the words of labelled nodes
// get their labels. Along the line, every other word becomes its node's vote. By rank again, the votes are
// added to those of other trees. So whatever is large is met in the order of the forest, where nodes that
// follow each other often are neighbours in memory, and only the words are met in another one.

namespace copse {
namespace {

constexpr std::uint32_t kUnlabelled = 0;
constexpr std::uint32_t word_of(Label label) { return std::uint32_t{label} + 1; }
constexpr Label label_of(std::uint32_t word) { return static_cast<Label>(word - 1); }

/// The pass along the line: every unlabelled position takes the label of the nearest labelled one of its
/// tree, of two as near the one the line says. Walks from one labelled position to the next: once to find it
/// and to measure the gap, once to vote in it.
template <class Integer, bool kWeighted>
class Sweep {
 public:
  Sweep(const PlacedForest& line, const ResistanceScale& scale, std::span<std::uint32_t> words)
      : line_(line), scale_(scale), words_(words) {}

  void vote() {
    NodeId begin = 0;
    line_.starts.for_each([&](std::size_t start) {
      vote_in_tree(begin, static_cast<NodeId>(start));
      begin = static_cast<NodeId>(start);
    });
    vote_in_tree(begin, line_.num_nodes());
  }

 private:
  void vote_in_tree(NodeId begin, NodeId end) {
    NodeId left = kNoNode;  // the labelled position before the gap
    Label left_label = kNoLabel;
    for (NodeId gap = begin; gap < end;) {
      NodeId right = gap;
      while (right < end && words_[right] == kUnlabelled) ++right;
      if (right == end) {
        if (left != kNoNode) vote_left(gap, end, left_label);
        return;
      }
      const Label right_label = label_of(std::exchange(words_[right], kNoVote));
      if (left == kNoNode)
        vote_right(gap, right, resistance(gap, right), right_label);
      else
        vote_between(left, right, left_label, right_label);
      left = right;
      left_label = right_label;
      gap = right + 1;
    }
  }

  void vote_between(NodeId left, NodeId right, Label left_label, Label right_label) {
    Integer walked = 0, ahead = resistance(left, right);
    for (NodeId i = left + 1; i < right; ++i) {
      walked += resistance(i);
      ahead -= resistance(i);
      if (ahead < walked || (ahead == walked && !line_.ties_go_left))
        return vote_right(i, right, ahead, right_label);
      cast(i, left_label, walked);
    }
  }
  /// All from `first` to `end` take the label of the position before.
  void vote_left(NodeId first, NodeId end, Label label) {
    Integer walked = 0;
    for (NodeId i = first; i < end; ++i) {
      walked += resistance(i);
      cast(i, label, walked);
    }
  }
  /// All from `first` on take the label of `right`, which is `ahead` away from there.
  void vote_right(NodeId first, NodeId right, Integer ahead, Label label) {
    for (NodeId i = first; i < right; ++i) {
      cast(i, label, ahead);
      ahead -= resistance(i + 1);
    }
  }
  void cast(NodeId position, Label label, Integer distance) {
    words_[position] = vote_of(scale_.to_double(distance), label);
  }

  /// Between `position` and the one before.
  Integer resistance(NodeId position) const {
    if constexpr (!kWeighted) return 1;
    return scale_.resistance<Integer>(line_.weight[position]);
  }
  Integer resistance(NodeId from, NodeId to) const {
    if constexpr (!kWeighted) return to - from;
    Integer sum = 0;
    for (NodeId i = from + 1; i <= to; ++i) sum += resistance(i);
    return sum;
  }

  const PlacedForest& line_;
  const ResistanceScale& scale_;
  std::span<std::uint32_t> words_;
};

void sweep(const PlacedForest& line, const ResistanceScale& scale, std::span<std::uint32_t> words) {
  if (line.weight.empty())
    Sweep<std::uint64_t, false>(line, scale, words).vote();
  else if (scale.wide)
    Sweep<Uint128, true>(line, scale, words).vote();
  else
    Sweep<std::uint64_t, true>(line, scale, words).vote();
}

/// Of a signed graph, labels are taken and votes are cast as seen from the tree's root.
template <bool kSigned>
Label seen_from_root(const Ballot& ballot, NodeId node, Label label) {
  if constexpr (kSigned) return turned(label, ballot.parity.is_other_side(node));
  return label;
}

template <bool kSigned>
void vote_in_order(const PlacedForest& line, const Ballot& ballot) {
  constexpr NodeId kAhead = 32;  // what these will need is fetched
  const NodeId last = line.num_nodes() - 1;
  Buffer<std::uint32_t> words(line.num_nodes());
  for (NodeId rank = 0; rank < line.num_nodes(); ++rank) {
    prefetch(&ballot.labels[line.node[std::min(rank + kAhead, last)]]);
    const NodeId node = line.node[rank];
    if (ballot.labels[node] != kNoLabel)
      words[line.place[rank]] = word_of(seen_from_root<kSigned>(ballot, node, ballot.labels[node]));
  }
  sweep(line, ballot.scale, words.span());
  for (NodeId rank = 0; rank < line.num_nodes(); ++rank) {
    const NodeId ahead = std::min(rank + kAhead, last);
    prefetch(&words[line.place[ahead]]);
    ballot.votes.fetch(line.node[ahead]);
    const NodeId node = line.node[rank];
    const std::uint32_t vote = words[line.place[rank]];
    if (vote == kNoVote) continue;
    const Label label = seen_from_root<kSigned>(ballot, node, label_in(vote));
    ballot.votes.add(node, ballot.tree, kSigned ? vote_for(label, vote) : vote);
  }
}

void vote_by_line(SpanningForest&& forest, const Ballot& ballot, std::uint64_t seed) {
  const PlacedForest line = place_at_random(std::move(forest), seed, ballot.tree);
  ballot.execution.throw_if_cancelled();
  if (ballot.parity.is_signed())
    vote_in_order<true>(line, ballot);
  else
    vote_in_order<false>(line, ballot);
}

}  // namespace

BatchResult Wta::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const Options& options, const Execution& execution) {
  return fit_committee(graph, labels, num_classes, options, execution, "docs/learners/wta.md", vote_by_line,
                       TreeNodes::with_neighbors);
}

std::uint64_t Wta::bytes(const ProblemSize& size, const Options& options) {
  // A tree at its peak: the records of its walks and what they write of the forest. Its line takes no more,
  // and takes it from there.
  return committee_bytes(size, options, 20);
}

}  // namespace copse
