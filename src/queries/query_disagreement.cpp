// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "copse/graph/components.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "queries/query_row.hpp"

namespace copse {
namespace {

struct DisagreementOptions {
  enum class Committee { wta, tree_cut };
  enum class Measure { entropy, margin, confidence };
  Committee committee = Committee::wta;
  Measure measure = Measure::entropy;
  TreeKind tree = TreeKind::rst;
  int num_trees = kDefaultTrees;
  int num_candidates = 16384;

  static Fields fields() {
    return {
        choice("committee", &DisagreementOptions::committee, "the learner whose trees vote",
               {{"wta", Committee::wta}, {"tree_cut", Committee::tree_cut}}),
        choice("measure", &DisagreementOptions::measure,
               "of the votes: entropy, best against second (margin), or best against all (confidence)",
               {{"entropy", Measure::entropy},
                {"margin", Measure::margin},
                {"confidence", Measure::confidence}}),
        tree_field(&DisagreementOptions::tree),
        field("num_trees", &DisagreementOptions::num_trees, "trees in the committee", between(2, 65535)),
        field("num_candidates", &DisagreementOptions::num_candidates,
              "nodes whose votes are counted for a question, at most; drawn at random", between(1, 1 << 30))};
  }
};

const LearnerRow& committee_row(const DisagreementOptions& options) {
  return learner_row(options.committee == DisagreementOptions::Committee::wta ? "wta" : "tree_cut");
}

OptionValues committee_values(const DisagreementOptions& options) {
  return {{"tree", to_string(options.tree)}, {"num_trees", std::to_string(options.num_trees)}};
}

/// Query by committee (Seung, Opper & Sompolinsky 1992): the node on whose label the trees agree least, 1
/// where votes are spread evenly over all classes. A node that no label reaches scores the share of the
/// nodes that lie in its component.
class Disagreement final : public QueryStrategy {
 public:
  using Options = DisagreementOptions;
  static constexpr bool kTakesSigns = true;

  Disagreement(const GraphView& graph, const Options& options, const Execution& execution)
      : QueryStrategy(graph, execution),
        options_(options),
        components_(connected_components(graph, execution)),
        learner_(committee_row(options).make(graph, committee_values(options), execution)) {}

  static std::uint64_t bytes(const ProblemSize& size, const Options& options) {
    return committee_row(options).online_bytes(size, committee_values(options)) +
           size.num_nodes * (kBytesPerNode + sizeof(NodeId));  // beside the trees candidates are few
  }

 private:
  struct Candidate {
    double score;
    std::uint64_t key;
    NodeId node;
    std::uint32_t asked;  // picks of the batch that the score knows of
    // The heap's top is the largest: the highest score, then the smallest key.
    bool operator<(const Candidate& other) const {
      if (score != other.score) return score < other.score;
      return key != other.key ? key > other.key : node > other.node;
    }
  };

  void learn(NodeId node, Label label) override { learner_->reveal(node, label); }
  void forget(NodeId node, Label) override { learner_->retract(node); }

  double score(NodeId node, std::vector<double>& votes) const {
    if (!learner_->predict(node).reached) {
      const double size = components_.sizes[components_.of_node[node]];
      return size / graph().num_nodes();
    }
    // The learner remembers classes that no label has any more; they get no votes.
    votes.assign(std::max<std::size_t>(learner_->num_classes(), 2), 0.0);
    learner_->scores(node, std::span(votes).first(learner_->num_classes()));
    votes.resize(std::max<std::size_t>(num_classes(), 2));
    if (options_.measure == Options::Measure::entropy) {
      double entropy = 0;
      for (const double vote : votes)
        if (vote > 0) entropy += vote * negative_log(vote);
      return entropy / negative_log(1 / static_cast<double>(votes.size()));
    }
    std::partial_sort(votes.begin(), votes.begin() + 2, votes.end(), std::greater<>());
    return options_.measure == Options::Measure::margin ? 1 - (votes[0] - votes[1]) : 1 - votes[0];
  }

  // Candidates are scored once. A pick is then taken as answered by the majority, which settles the nodes
  // around it: a candidate is scored again when it comes to the top, and goes back if it has lost (lazy
  // greedy, Minoux 1978).
  std::vector<Query> choose(std::size_t count, std::vector<char> left) override {
    const auto most = static_cast<std::size_t>(options_.num_candidates);
    std::vector<Candidate> heap = score_all(draw(std::max(count, most), left));
    std::make_heap(heap.begin(), heap.end());
    std::vector<Query> queries;
    std::vector<double> votes;
    MadeUpAnswers answers{*learner_, {}};
    while (queries.size() < count) {
      execution().throw_if_cancelled();
      std::pop_heap(heap.begin(), heap.end());
      Candidate top = heap.back();
      heap.pop_back();
      if (top.asked < queries.size()) {
        const double now = score(top.node, votes);
        const bool has_lost = now < top.score;
        top.asked = static_cast<std::uint32_t>(queries.size());
        top.score = std::min(now, top.score);
        if (has_lost) {
          heap.push_back(top);
          std::push_heap(heap.begin(), heap.end());
          continue;
        }
      }
      queries.push_back({top.node, top.score});
      if (queries.size() < count) answers.give(top.node, expected_answer(top.node));
    }
    return queries;
  }

  /// Taken back at the end, also where a question is cancelled.
  struct MadeUpAnswers {
    Learner& learner;
    std::vector<NodeId> nodes;
    void give(NodeId node, Label label) {
      nodes.push_back(node);
      learner.reveal(node, label);
    }
    ~MadeUpAnswers() {
      for (const NodeId node : nodes) learner.retract(node);
    }
  };

  Label expected_answer(NodeId node) const {
    const Label label = learner_->predict(node).label;
    return label == kNoLabel ? Label{0} : label;
  }

  std::vector<Candidate> score_all(const std::vector<NodeId>& nodes) const {
    std::vector<Candidate> all(nodes.size());
    parallel_blocks(execution(), all.size(), 1024, [&](std::size_t begin, std::size_t end, std::size_t) {
      std::vector<double> votes;
      for (std::size_t i = begin; i < end; ++i)
        all[i] = {score(nodes[i], votes), tie_key(nodes[i]), nodes[i], 0};
    });
    return all;
  }

  Options options_;
  Components components_;
  std::unique_ptr<Learner> learner_;
};

}  // namespace

QueryRow disagreement_row() {
  return make_query_row<Disagreement>(
      "disagreement", "where the votes of a committee of trees are split",
      "O(16384) per tree and O(n) for a call, little more for a batch; all trees stay in memory",
      "Seung, Opper & Sompolinsky 1992; trees of Cesa-Bianchi et al. 2013");
}

}  // namespace copse
