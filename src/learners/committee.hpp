// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "copse/learners/forest_committee.hpp"
#include "copse/learners/learner.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/trees/sample.hpp"
#include "learners/line_resistance.hpp"
#include "learners/signs.hpp"
#include "learners/votes.hpp"
#include "trees/parity.hpp"

namespace copse {

/// What one tree of an online committee says.
struct TreeVote {
  Label label = kNoLabel;
  NodeId decider = kNoNode;  // the labelled node behind it
  double resistance = 0;     // to what decided
};

/// The answer of trees that are asked one by one: for_each_vote(body) calls body(TreeVote) for every tree
/// that some label reaches.
template <class ForEachVote>
Prediction predict_by_votes(const ClassPrior& prior, ForEachVote&& for_each_vote) {
  Tally tally(prior.num_classes());
  Vote nearest;
  for_each_vote([&](const TreeVote& tree) {
    tally.add(tree.label);
    const Vote vote = vote_of(tree.resistance, tree.label);
    if (vote.is_nearer_than(nearest)) nearest = vote;
  });
  return tally.decide(nearest.exists() ? nearest.label : kNoLabel, prior);
}

/// Votes by class; returns how many there are.
template <class ForEachVote>
double weigh_by_votes(std::span<double> weights, ForEachVote&& for_each_vote) {
  double total = 0;
  for_each_vote([&](const TreeVote& vote) {
    weights[vote.label] += 1;
    total += 1;
  });
  return total;
}

/// The labelled nodes that decided, by their share of the trees. With signs their labels may differ from what
/// they spoke for.
template <class ForEachVote>
std::vector<Reason> explain_by_votes(std::size_t num_trees, std::span<const Label> labels,
                                     ForEachVote&& for_each_vote) {
  std::map<NodeId, Reason> reasons;
  for_each_vote([&](const TreeVote& vote) {
    Reason& reason = reasons[vote.decider];
    reason.node = vote.decider;
    reason.label = labels[vote.decider];
    reason.share += 1;
    reason.resistance += vote.resistance;
  });
  std::vector<Reason> sorted;
  for (const auto& entry : reasons) {
    Reason reason = entry.second;
    reason.resistance /= reason.share;
    reason.share /= static_cast<double>(num_trees);
    sorted.push_back(reason);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Reason& a, const Reason& b) {
    return a.share != b.share ? a.share > b.share : a.resistance < b.resistance;
  });
  return sorted;
}

/// One tree of a batch committee: votes for every unlabelled node, and for labelled ones as if their own
/// label were not known, where it knows how.
struct Ballot {
  std::uint32_t tree;
  const ResistanceScale& scale;
  std::span<const Label> labels;
  const ClassPrior& prior;
  const TreeParity& parity;  // of a signed graph
  const Execution& execution;
};

/// What the tree says, by node.
using CastVotes = std::function<Buffer<Vote>(SpanningForest&& forest, const Ballot& ballot)>;
Buffer<Vote> vote_by_line(SpanningForest&& forest, const Ballot& ballot);  // wta_batch.cpp
Buffer<Vote> vote_by_cut(SpanningForest&& forest, const Ballot& ballot);   // tree_cut_batch.cpp

/// What a committee needs while its trees vote, and its answers afterwards.
struct Election {
  std::span<const Label> labels;
  ClassPrior prior;
  ResistanceScale scale;
  Votes votes;

  Election(std::span<const Label> given, std::size_t num_classes, std::uint32_t num_trees, bool is_signed,
           const ResistanceScale& resistance_scale);
  /// `leaves_out`: labelled nodes were voted for as well, without their label.
  std::unique_ptr<Predictor> answers(bool leaves_out) &&;
};

/// Draws the trees, lets each of them vote by `cast` and forgets it: memory is O(n) whatever their number.
/// A tree comes without weights when the options say not to use them. `page` is where users read more.
/// `leaves_out`: labelled nodes are voted for as well, without their label.
BatchResult fit_committee(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                          const CommitteeOptions& options, const Execution& execution, const char* page,
                          const CastVotes& cast, bool leaves_out = false);

/// Bytes of fit_committee for trees that take `bytes_per_node` while they vote.
std::uint64_t committee_bytes(const ProblemSize& size, const CommitteeOptions& options,
                              std::uint64_t bytes_per_node);

}  // namespace copse
