// SPDX-License-Identifier: Apache-2.0
#include "learners/committee.hpp"

#include <atomic>

#include "copse/support/parallel.hpp"

namespace copse {
namespace {

/// The answers of a committee that has voted.
class CommitteeAnswers final : public Predictor {
 public:
  CommitteeAnswers(std::span<const Label> labels, ClassPrior&& prior, Votes&& votes, bool leaves_out)
      : labels_(Buffer<Label>::for_overwrite(labels.size())),
        prior_(std::move(prior)),
        votes_(std::move(votes)),
        leaves_out_(leaves_out) {
    std::copy(labels.begin(), labels.end(), labels_.begin());
  }

  Prediction predict(NodeId node) const override {
    if (labels_[node] != kNoLabel) return {labels_[node], 1, true};
    return votes_.tally(node).decide(votes_.nearest(node), prior_);
  }
  void scores(NodeId node, std::span<double> scores) const override {
    if (labels_[node] == kNoLabel) return votes_.tally(node).scores(prior_, scores);
    std::fill(scores.begin(), scores.end(), 0.0);
    scores[labels_[node]] = 1;
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution&) const override {
    if (!leaves_out_) return std::nullopt;
    LeaveOneOut result;
    std::vector<double> scores(num_classes());
    for (NodeId node = 0; node < labels_.size(); ++node) {
      if (labels_[node] == kNoLabel) continue;
      const Tally tally = votes_.tally(node);
      if (tally.total() == 0) continue;
      result.nodes.push_back(node);
      tally.scores(prior_, scores);
      result.raw_scores.insert(result.raw_scores.end(), scores.begin(), scores.end());
    }
    return result;
  }
  std::size_t num_classes() const override { return votes_.num_classes(); }

 private:
  Buffer<Label> labels_;
  ClassPrior prior_;
  Votes votes_;
  bool leaves_out_;
};

ClassPrior prior_of(std::span<const Label> labels, std::size_t num_classes, bool is_signed) {
  ClassPrior prior;
  if (is_signed) prior.expect(num_classes);
  for (const Label label : labels) {
    if (label != kNoLabel) prior.add(label);
  }
  return prior;
}

}  // namespace

Election::Election(std::span<const Label> given, std::size_t num_classes, std::uint32_t num_trees,
                   bool is_signed, const ResistanceScale& resistance_scale)
    : labels(given),
      prior(prior_of(given, num_classes, is_signed)),
      scale(resistance_scale),
      votes(given.size(), num_classes, num_trees) {}

std::unique_ptr<Predictor> Election::answers(bool leaves_out) && {
  return std::make_unique<CommitteeAnswers>(labels, std::move(prior), std::move(votes), leaves_out);
}

BatchResult fit_committee(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                          const CommitteeOptions& options, const Execution& execution, const char* page,
                          const CastVotes& cast, bool leaves_out) {
  if (graph.is_signed()) check_signed_classes(num_classes);
  BatchResult result;
  const TreeSampler sampler(graph, options.tree, execution);
  const auto num_trees = static_cast<std::uint32_t>(sampler.is_random() ? options.num_trees : 1);
  if (num_trees != static_cast<std::uint32_t>(options.num_trees))
    result.notes.push_back(std::string("every ") + to_string(options.tree) +
                           " of this graph is the same: one tree votes, not " +
                           std::to_string(options.num_trees));
  const ResistanceScale scale = ResistanceScale::of(graph, options.weighted, execution.threads);
  Election election(labels, num_classes, num_trees, graph.is_signed(), scale);

  std::atomic<std::uint64_t> done = 0, completed_by_keys = 0;
  parallel_for(execution.threads, num_trees, [&](std::size_t tree) {
    if (execution.cancelled()) return;
    TreeReport report;
    try {
      SpanningForest forest = sampler.tree(tree, &report);
      const TreeParity parity(graph, forest);
      if (!options.weighted) forest.weight = {};
      const auto index = static_cast<std::uint32_t>(tree);
      const Ballot ballot{index, scale, labels, election.prior, parity, execution};
      election.votes.add(index, cast(std::move(forest), ballot).span());
    } catch (const Cancelled&) {
      return;  // the trees that have voted are a committee
    }
    if (report.path == TreePath::completed_by_keys) ++completed_by_keys;
    execution.report("trees", ++done, num_trees);
  });
  if (done == 0) throw Cancelled{};

  if (scale.num_clamped > 0)
    result.notes.push_back(with_commas(scale.num_clamped / 2) +
                           " weights below 2^-60 of the largest were taken as that in distances");
  if (completed_by_keys > 0)
    result.notes.push_back(with_commas(completed_by_keys) + " of " + with_commas(num_trees) +
                           " trees reached the step limit of the random walk and were completed by random "
                           "keys (" +
                           page + ")");
  result.units_done = done;
  result.units_asked = num_trees;
  result.interrupted = done < num_trees;
  result.predictor = std::move(election).answers(leaves_out);
  return result;
}

namespace {
auto* cast_by(ForestRule rule) { return rule == ForestRule::wta ? vote_by_line : vote_by_cut; }
}  // namespace

struct ForestCommittee::State {
  ForestRule rule;
  Execution execution;
  Election election;
  std::uint32_t num_trees;
  std::atomic<std::uint32_t> done = 0;
};

ForestCommittee::ForestCommittee(ForestRule rule, std::span<const Label> labels, std::size_t num_classes,
                                 std::uint32_t num_trees, const WeightRange& weights,
                                 const Execution& execution)
    : state_(new State{rule, execution,
                       Election(labels, num_classes, num_trees, false,
                                ResistanceScale::of(weights, static_cast<NodeId>(labels.size()))),
                       num_trees}) {}
ForestCommittee::~ForestCommittee() = default;

void ForestCommittee::vote(std::uint32_t tree, SpanningForest&& forest) {
  Election& election = state_->election;
  const Ballot ballot{tree, election.scale, election.labels, election.prior, {}, state_->execution};
  election.votes.add(tree, cast_by(state_->rule)(std::move(forest), ballot).span());
  state_->execution.report("trees", ++state_->done, state_->num_trees);
}

std::array<std::span<std::byte>, 2> ForestCommittee::state() { return state_->election.votes.state(); }
void ForestCommittee::resume(std::uint32_t num_voted) { state_->done = num_voted; }

std::uint64_t ForestCommittee::bytes_per_node(std::size_t num_classes, std::uint32_t num_trees) {
  return Votes::bytes_per_node(num_classes, num_trees);
}

TreeVotes votes_of_tree(ForestRule rule, SpanningForest&& forest, std::uint32_t tree,
                        std::span<const Label> labels, std::size_t num_classes, const WeightRange& weights,
                        const Execution& execution) {
  const ResistanceScale scale = ResistanceScale::of(weights, static_cast<NodeId>(labels.size()));
  const ClassPrior prior = prior_of(labels, num_classes, false);
  const Buffer<Vote> votes = cast_by(rule)(std::move(forest), {tree, scale, labels, prior, {}, execution});
  TreeVotes result{std::vector<Label>(labels.size()), std::vector<std::uint16_t>(labels.size())};
  for (NodeId node = 0; node < labels.size(); ++node) {
    result.label[node] = votes[node].label;
    result.nearness[node] = votes[node].nearness;
  }
  return result;
}

Prediction decide_votes(std::span<const Label> labels, std::span<const std::uint16_t> nearness,
                        const ClassPrior& prior) {
  Tally tally(prior.num_classes());
  Vote nearest;
  for (std::size_t tree = 0; tree < labels.size(); ++tree) {
    const Vote vote{nearness[tree], labels[tree]};
    if (!vote.exists()) continue;
    tally.add(vote.label);
    if (vote.is_nearer_than(nearest)) nearest = vote;
  }
  return tally.decide(nearest.exists() ? nearest.label : kNoLabel, prior);
}

BatchResult ForestCommittee::finish() {
  BatchResult result;
  result.units_done = state_->done;
  result.units_asked = state_->num_trees;
  result.interrupted = result.units_done < result.units_asked;
  result.predictor = std::move(state_->election).answers(state_->rule == ForestRule::wta);
  return result;
}

std::uint64_t committee_bytes(const ProblemSize& size, const CommitteeOptions& options,
                              std::uint64_t bytes_per_node) {
  const bool walks_by_weight = size.weighted && options.tree == TreeKind::rst;
  const std::uint64_t votes =
      Votes::bytes_per_node(size.num_classes, static_cast<std::uint32_t>(options.num_trees));
  const auto at_once = static_cast<std::uint64_t>(std::min(size.threads, options.num_trees));
  return size.num_nodes * (votes + bytes_per_node * at_once) +
         (walks_by_weight ? 8 * size.num_nodes + size.num_arcs / 4 : 0);
}

}  // namespace copse
