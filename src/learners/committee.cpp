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

BatchResult fit_committee(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                          const CommitteeOptions& options, const Execution& execution, const char* page,
                          const CastVotes& cast, TreeNodes nodes, bool leaves_out) {
  if (graph.is_signed()) check_signed_classes(num_classes);
  BatchResult result;
  const TreeSampler sampler(graph, options.tree, execution, nodes);
  const auto num_trees = static_cast<std::uint32_t>(sampler.is_random() ? options.num_trees : 1);
  if (num_trees != static_cast<std::uint32_t>(options.num_trees))
    result.notes.push_back(std::string("every ") + to_string(options.tree) +
                           " of this graph is the same: one tree votes, not " +
                           std::to_string(options.num_trees));
  const ResistanceScale scale = ResistanceScale::of(graph, options.weighted, execution.threads);
  ClassPrior prior = prior_of(labels, num_classes, graph.is_signed());
  Votes votes(labels.size(), num_classes, num_trees, execution.threads);

  std::atomic<std::uint64_t> done = 0, completed_by_keys = 0;
  parallel_for(execution.threads, num_trees, [&](std::size_t tree) {
    if (execution.cancelled()) return;
    TreeReport report;
    try {
      SpanningForest forest = sampler.tree(tree, &report);
      const TreeParity parity(graph, forest);
      if (!options.weighted) forest.weight = {};
      cast(std::move(forest),
           {static_cast<std::uint32_t>(tree), scale, labels, prior, parity, votes, execution},
           execution.seed);
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
  result.predictor =
      std::make_unique<CommitteeAnswers>(labels, std::move(prior), std::move(votes), leaves_out);
  return result;
}

std::uint64_t committee_bytes(const ProblemSize& size, const CommitteeOptions& options,
                              std::uint64_t bytes_per_node) {
  const bool walks_by_weight = size.weighted && options.tree == TreeKind::rst;
  const std::uint64_t votes =
      Votes::bytes_per_node(size.num_classes, static_cast<std::uint32_t>(options.num_trees));
  const auto at_once = static_cast<std::uint64_t>(std::min(size.threads, options.num_trees));
  return size.num_nodes * (votes + bytes_per_node * at_once) + (walks_by_weight ? size.num_arcs / 8 : 0);
}

}  // namespace copse
