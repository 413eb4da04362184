// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// What the memory of a run depends on.
struct ProblemSize {
  std::uint64_t num_nodes = 0, num_arcs = 0;
  bool weighted = false;
  std::size_t num_classes = 2;
  int threads = 1;

  static ProblemSize of(const GraphView& graph, std::size_t num_classes, int threads) {
    return {graph.num_nodes(), graph.num_arcs(), graph.is_weighted(), num_classes, threads};
  }
};

/// What a learner does with the signs of a graph: refuses them, learns from them itself, or learns on the
/// graph's double cover, which has none (docs/signed.md). Every learner says it, by a static kSigns or, where
/// it depends on the options, signs(options).
enum class SignUse { refused, itself, cover };

/// An answer for one node.
struct Prediction {
  Label label = kNoLabel;  // kNoLabel only while no label at all is known
  double confidence = 0;   // score of that label, in [0, 1]; what it means is on the learner's page
  bool reached = false;  // some label reaches the node (by this method); otherwise the answer is the prior's
  bool operator==(const Prediction&) const = default;
};

/// Why: a labelled node that took part in the answer.
struct Reason {
  NodeId node = kNoNode;
  Label label = kNoLabel;
  double share = 0;  // of the vote (or of the weight) it carried
  double resistance =
      0;  // to the node asked about, on average over the trees it decided; 1/weight for a neighbour
};

/// explain() stops there where every label has a part in the answer.
inline constexpr std::size_t kMostReasons = 16;

/// What labelled nodes would be answered if their own label alone were not known.
struct LeaveOneOut {
  std::vector<NodeId> nodes;       // ascending; without those that no other label reaches
  std::vector<double> raw_scores;  // one row per node of `nodes`, num_classes() columns
  bool is_sampled = false;         // some of it was estimated by random forests, otherwise it is exact
};

/// Reads only: any number of threads may call these while nobody reveals or retracts.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual Prediction predict(NodeId node) const = 0;
  /// One score per class, non-negative, summing to 1 (the class prior where no label reaches the node; all
  /// 0 while there is no label at all). `scores` has num_classes() places.
  virtual void scores(NodeId node, std::span<double> scores) const = 0;
  /// Scores to rank nodes by: of any size, neither clipped nor divided by their sum.
  virtual void raw_scores(NodeId node, std::span<double> scores) const { this->scores(node, scores); }
  /// Nothing where a learner would have to be fitted again without each label.
  virtual std::optional<LeaveOneOut> leave_one_out(const Execution&) const { return std::nullopt; }
  virtual std::size_t num_classes() const = 0;
};

/// Answers for all nodes at once from a fixed labelling, and how the run went.
struct BatchResult {
  std::unique_ptr<Predictor> predictor;
  std::uint64_t units_done = 0;  // trees that voted, where the learner is a committee
  std::uint64_t units_asked = 0;
  bool interrupted = false;        // cancelled, but what was done is usable
  std::vector<std::string> notes;  // what a user should know: weights clamped, trees completed by keys, ...
};

/// Learns one label at a time. The answer is a function of the labels known now, in whatever order they
/// came, unless the learner's row says it depends on the order.
class Learner : public Predictor {
 public:
  /// Learns that `node` has `label`; replaces a label it had. Classes grow as labels arrive.
  virtual void reveal(NodeId node, Label label) = 0;
  /// The same for a label that the learner's side asked for (active learning). One that learns from its
  /// mistakes only may learn from this one whatever it would have answered: nobody asks to be told nothing.
  virtual void reveal_queried(NodeId node, Label label) { reveal(node, label); }
  /// Learns the labels of a batch: one per node, kNoLabel where unknown. Returns how that went, without a
  /// predictor. In the order of the nodes, but for learners to whom the order matters (fit_order.hpp).
  virtual BatchResult reveal_all(std::span<const Label> labels);
  /// Forgets the label of `node` exactly, as if never revealed. No effect on an unlabelled node.
  virtual void retract(NodeId node) = 0;
  /// The labelled nodes behind predict(node), most important first.
  virtual std::vector<Reason> explain(NodeId node) const = 0;
  /// What the method itself says of a node that comes again, perhaps with another label (label noise), where
  /// it corrects itself by mistakes; else the label that it was told.
  virtual Prediction guess(NodeId node) const { return predict(node); }
  /// What a user should know of the answers: a solve that fell short, sweeps that were cut short.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Trees that vote, a score being their share; 0 where scores are something else.
  virtual std::size_t num_voters() const { return 0; }
};

/// Batch by a learner that has no labels yet: it is told them, and asked from then on.
BatchResult fit_by_revealing(std::unique_ptr<Learner> learner, std::span<const Label> labels,
                             std::size_t num_classes);

/// The batch of a learner L with options O that has no faster one.
template <class L, class O>
struct FitsByRevealing {
  using Options = O;
  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const O& options, const Execution& execution) {
    return fit_by_revealing(std::make_unique<L>(graph, options, execution), labels, num_classes);
  }
};

}  // namespace copse
