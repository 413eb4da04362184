// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "copse/learners/wta.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/line.hpp"
#include "learners/line_resistance.hpp"
#include "learners/votes.hpp"

namespace copse {
namespace {

/// The answers of a committee that has voted.
class CommitteeAnswers final : public Predictor {
 public:
  CommitteeAnswers(std::span<const Label> labels, std::size_t num_classes, std::uint32_t num_trees)
      : labels_(labels.begin(), labels.end()), votes_(labels.size(), num_classes, num_trees) {
    for (const Label label : labels) {
      if (label != kNoLabel) prior_.add(label);
    }
  }
  Votes& votes() { return votes_; }
  const std::vector<Label>& labels() const { return labels_; }

  Prediction predict(NodeId node) const override {
    if (labels_[node] != kNoLabel) return {labels_[node], 1, true};
    return votes_.tally(node).decide(votes_.nearest(node), prior_);
  }
  void scores(NodeId node, std::span<double> scores) const override {
    if (labels_[node] == kNoLabel) return votes_.tally(node).scores(prior_, scores);
    std::fill(scores.begin(), scores.end(), 0.0);
    scores[labels_[node]] = 1;
  }
  std::size_t num_classes() const override { return votes_.num_classes(); }

 private:
  std::vector<Label> labels_;
  Votes votes_;
  ClassPrior prior_;
};

/// One tree's votes: every unlabelled position takes the label of the nearest labelled one of its tree,
/// of two as near the one the line says. Walks from one labelled position to the next: once to measure the
/// gap, once to vote in it.
template <class Integer>
void sweep(const Line& line, const ResistanceScale& scale, const std::vector<Label>& labels,
           std::uint32_t tree, Votes& votes) {
  const auto resistance = [&](NodeId position) {
    return line.weight.empty() ? Integer{1} : scale.resistance<Integer>(line.weight[position]);
  };
  const auto vote = [&](NodeId position, Label label, Integer distance) {
    votes.add(line.node[position], tree, label, static_cast<float>(scale.to_double(distance)));
  };
  for (std::size_t t = 0; t < line.starts.size(); ++t) {
    const NodeId begin = line.starts[t],
                 end = t + 1 < line.starts.size() ? line.starts[t + 1] : line.num_nodes();
    NodeId left = kNoNode;  // the labelled position before the gap
    for (NodeId gap = begin; gap < end;) {
      NodeId right = gap;
      while (right < end && labels[line.node[right]] == kNoLabel) ++right;
      const Label left_label = left == kNoNode ? kNoLabel : labels[line.node[left]];
      const Label right_label = right == end ? kNoLabel : labels[line.node[right]];
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

}  // namespace

BatchResult Wta::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const Options& options, const Execution& execution) {
  BatchResult result;
  const TreeSampler sampler(graph, options.tree, execution);
  const auto num_trees = static_cast<std::uint32_t>(sampler.is_random() ? options.num_trees : 1);
  if (num_trees != static_cast<std::uint32_t>(options.num_trees))
    result.notes.push_back(std::string("every ") + to_string(options.tree) +
                           " of this graph is the same: one tree votes, not " +
                           std::to_string(options.num_trees));
  const ResistanceScale scale = ResistanceScale::of(graph, options.weighted, execution.threads);
  auto answers = std::make_unique<CommitteeAnswers>(labels, num_classes, num_trees);

  std::atomic<std::uint64_t> done = 0, completed_by_keys = 0;
  parallel_for(execution.threads, num_trees, [&](std::size_t tree) {
    if (execution.cancelled()) return;
    TreeReport report;
    SpanningForest forest = sampler.tree(tree, &report);
    if (!options.weighted) forest.weight = {};
    const Line line = random_line(std::move(forest), execution.seed, tree);
    if (scale.wide)
      sweep<Uint128>(line, scale, answers->labels(), static_cast<std::uint32_t>(tree), answers->votes());
    else
      sweep<std::uint64_t>(line, scale, answers->labels(), static_cast<std::uint32_t>(tree),
                           answers->votes());
    if (report.path == TreePath::completed_by_keys) ++completed_by_keys;
    execution.report("trees", ++done, num_trees);
  });

  if (scale.num_clamped > 0)
    result.notes.push_back(with_commas(scale.num_clamped / 2) +
                           " weights below 2^-60 of the largest were taken as that in distances");
  if (completed_by_keys > 0)
    result.notes.push_back(with_commas(completed_by_keys) + " of " + with_commas(num_trees) +
                           " trees reached the step limit of the random walk and were completed by random "
                           "keys (docs/learners/wta.md)");
  result.units_done = done;
  result.units_asked = num_trees;
  result.interrupted = done < num_trees;
  result.predictor = std::move(answers);
  return result;
}

std::uint64_t Wta::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                         std::size_t num_classes, const Options& options, int threads) {
  const bool walks_by_weight = weighted && options.tree == TreeKind::rst;
  const std::uint64_t shared =
      sizeof(Label) + Votes::bytes_per_node(num_classes, static_cast<std::uint32_t>(options.num_trees));
  // A tree at its peak: forest (node, parent, weight) and the two words of the walks, or of linearize.
  const std::uint64_t a_tree = weighted ? 20 : 16;
  const auto at_once = static_cast<std::uint64_t>(std::min(threads, options.num_trees));
  return num_nodes * (shared + a_tree * at_once) + (walks_by_weight ? num_arcs / 4 : 0);
}

}  // namespace copse
