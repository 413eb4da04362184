// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "learners/committee.hpp"

namespace copse {
namespace {

/// One tree's votes: every unlabelled position takes the label of the nearest labelled one of its tree,
/// of two as near the one the line says. Walks from one labelled position to the next: once to measure the
/// gap, once to vote in it. Of a signed graph, labels are taken and votes are cast as seen from the tree's
/// root.
template <class Integer, bool kSigned>
void sweep(const Line& line, const Ballot& ballot) {
  const ResistanceScale& scale = ballot.scale;
  const std::vector<Label>& labels = ballot.labels;
  const auto resistance = [&](NodeId position) {
    return line.weight.empty() ? Integer{1} : scale.resistance<Integer>(line.weight[position]);
  };
  const auto seen_from_root = [&](NodeId node, Label label) {
    if constexpr (kSigned) return turned(label, ballot.parity.is_other_side(node));
    return label;
  };
  const auto label_at = [&](NodeId position) {
    return seen_from_root(line.node[position], labels[line.node[position]]);
  };
  const auto vote = [&](NodeId position, Label label, Integer distance) {
    const NodeId node = line.node[position];
    ballot.votes.add(node, ballot.tree, seen_from_root(node, label),
                     static_cast<float>(scale.to_double(distance)));
  };
  for (std::size_t t = 0; t < line.starts.size(); ++t) {
    const NodeId begin = line.starts[t],
                 end = t + 1 < line.starts.size() ? line.starts[t + 1] : line.num_nodes();
    NodeId left = kNoNode;  // the labelled position before the gap
    for (NodeId gap = begin; gap < end;) {
      NodeId right = gap;
      while (right < end && labels[line.node[right]] == kNoLabel) ++right;
      const Label left_label = left == kNoNode ? kNoLabel : label_at(left);
      const Label right_label = right == end ? kNoLabel : label_at(right);
      if (left == kNoNode && right == end) break;  // no label in this tree
      Integer length = 0;  // from left (or the first place of the gap) to right (or the last)
      for (NodeId i = left == kNoNode ? gap + 1 : gap; i < (right == end ? end : right + 1); ++i)
        length += resistance(i);
      Integer walked = 0;
      for (NodeId i = gap; i < right; ++i) {
        if (left != kNoNode || i > gap) walked += resistance(i);
        const Integer ahead = length - walked;
        if (right == end || (left != kNoNode && (walked < ahead || (walked == ahead && line.ties_go_left))))
          vote(i, left_label, walked);
        else
          vote(i, right_label, ahead);
      }
      left = right;
      gap = right + 1;
    }
  }
}

void vote_by_line(SpanningForest&& forest, const Ballot& ballot, std::uint64_t seed) {
  const Line line = random_line(std::move(forest), seed, ballot.tree);
  ballot.execution.throw_if_cancelled();
  const bool is_signed = ballot.parity.is_signed();
  if (ballot.scale.wide)
    is_signed ? sweep<Uint128, true>(line, ballot) : sweep<Uint128, false>(line, ballot);
  else
    is_signed ? sweep<std::uint64_t, true>(line, ballot) : sweep<std::uint64_t, false>(line, ballot);
}

}  // namespace

BatchResult Wta::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const Options& options, const Execution& execution) {
  return fit_committee(graph, labels, num_classes, options, execution, "docs/learners/wta.md", vote_by_line);
}

std::uint64_t Wta::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                         std::size_t num_classes, const Options& options, int threads) {
  // A tree at its peak: the records of the walks and what they already write of the forest; or linearize.
  return committee_bytes(num_nodes, num_arcs, weighted, num_classes, options, threads, 20);
}

}  // namespace copse
