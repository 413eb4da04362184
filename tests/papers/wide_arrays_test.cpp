// SPDX-License-Identifier: Apache-2.0
// What every algorithm promises about arrays of twice the width: the same answer to the last bit.

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>

#include "papers/tree_cut.hpp"
#include "papers/bounds.hpp"
#include "copse/graph/balance.hpp"
#include "copse/graph/statistics.hpp"
#include "copse/laplacian/interpolation.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/queries/query.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/error.hpp"
#include "copse/trees/biconnected.hpp"
#include "copse/trees/diameter.hpp"
#include "copse/trees/parity.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/signed.hpp"
#include "oracle/wide_copy.hpp"

namespace copse {
namespace {

constexpr std::size_t kClasses = 2;
const Execution kExecution{.seed = 5, .threads = 2};

/// Everything an algorithm said, bit by bit.
class Answer {
 public:
  void add(double value) { bits_.push_back(std::bit_cast<std::uint64_t>(value)); }
  template <class Range>
  void add_all(const Range& values) {
    for (const auto& value : values) add(static_cast<double>(value));
  }
  void add(const std::string& text) { texts_ += text + '\n'; }
  bool operator==(const Answer&) const = default;
  std::size_t size() const { return bits_.size() + texts_.size(); }

 private:
  std::vector<std::uint64_t> bits_;
  std::string texts_;
};

struct Algorithm {
  std::string name;
  std::function<void(const GraphView&, Answer&)> run;
};

std::vector<Label> some_labels(NodeId n) {
  std::mt19937_64 random(n);
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels)
    if (random() % 3 == 0) label = static_cast<Label>(random() % kClasses);
  return labels;
}

void add_tree_algorithms(std::vector<Algorithm>& all) {
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst,
                              TreeKind::spt, TreeKind::dfst, TreeKind::bfst})
    all.push_back({std::string("tree_") + to_string(kind), [kind](const GraphView& graph, Answer& answer) {
                     const TreeSampler sampler(graph, kind, kExecution);
                     for (std::uint64_t index = 0; index < 5; ++index) {
                       const SpanningForest forest = sampler.tree(index);
                       check_forest(graph, forest);
                       answer.add_all(forest.node), answer.add_all(forest.parent),
                           answer.add_all(forest.weight);
                       const TreeParity parity(graph, forest);
                       for (NodeId u = 0; u < graph.num_nodes(); ++u) answer.add(parity.is_other_side(u));
                     }
                   }});
  all.push_back({"diameters", [](const GraphView& graph, Answer& answer) {
                   for (const NodeId exact_nodes : {NodeId{0}, kExactDiameterNodes})
                     for (const Interval& interval : {geodesic_diameter(graph, kExecution, exact_nodes),
                                                      structural_diameter(graph, kExecution, exact_nodes)})
                       answer.add(interval.lower), answer.add(interval.upper);
                 }});
  all.push_back({"blocks", [](const GraphView& graph, Answer& answer) {
                   for_each_block(graph, [&](const Block& block) {
                     answer.add_all(block.nodes), answer.add_all(block.neighbors),
                         answer.add_all(block.weights);
                   });
                 }});
}

void add_graph_algorithms(std::vector<Algorithm>& all) {
  all.push_back({"degrees_and_labels", [](const GraphView& graph, Answer& answer) {
                   for (NodeId u = 0; u < graph.num_nodes(); ++u) answer.add(weighted_degree(graph, u));
                   const LabelStatistics facts =
                       label_statistics(graph, some_labels(graph.num_nodes()), kExecution.threads);
                   answer.add(facts.cut_weight), answer.add(facts.judged_weight);
                   answer.add_all(sign_balance(graph, connected_components(graph)).side);
                 }});
}

void add_kernel_algorithms(std::vector<Algorithm>& all) {
  for (const SolveMethod method :
       {SolveMethod::automatic, SolveMethod::jacobi, SolveMethod::approximate_cholesky,
        SolveMethod::approximate_cholesky2, SolveMethod::exact})
    for (const std::size_t columns : {1, 2, 9})
      all.push_back({"solve_" + std::to_string(static_cast<int>(method)) + "_" + std::to_string(columns),
                     [method, columns](const GraphView& graph, Answer& answer) {
                       std::vector<double> b(graph.num_nodes() * columns), x(b.size());
                       std::mt19937_64 random(3);
                       for (double& value : b) value = static_cast<double>(random() % 1000) - 500;
                       const std::vector<NodeId> grounded(graph.num_nodes() > 3 && columns == 2 ? 1 : 0, 3);
                       LaplacianSolver solver(graph, {.method = method}, kExecution, grounded);
                       answer.add(solver.solve(b, x, columns).iterations);
                       answer.add_all(x);
                     }});
  all.push_back(
      {"resistances", [](const GraphView& graph, Answer& answer) {
         if (graph.num_nodes() < 4) return;
         answer.add_all(
             exact_resistances(graph, std::vector<NodePair>{{0, 1}, {2, 3}}, 1e-8, {}, kExecution).value);
         answer.add_all(exact_diagonal(graph, 1e-8, {}, kExecution, 0).value);
         answer.add_all(tree_diagonal(graph, {.max_trees = 20}, kExecution).value);
         answer.add_all(dense_pseudoinverse(graph));
         const ResistanceSketch sketch(graph, 8, {}, kExecution);
         answer.add(sketch.resistance(0, 1));
         answer.add(resistance_diameter(graph, {}, kExecution).upper);
         answer.add_all(minimum_norm_interpolation(graph, std::vector<NodeId>{0, 2},
                                                   std::vector<double>{1, -1}, {}, kExecution)
                            .value);
       }});
}

void add_learners(std::vector<Algorithm>& all) {
  for (const LearnerRow& row : learner_rows()) {
    all.push_back({"fit_" + row.name, [&row](const GraphView& graph, Answer& answer) {
                     const BatchResult result =
                         row.fit(graph, some_labels(graph.num_nodes()), kClasses, {}, kExecution);
                     std::vector<double> scores(kClasses);
                     for (NodeId u = 0; u < graph.num_nodes(); ++u) {
                       result.predictor->scores(u, scores);
                       answer.add(result.predictor->predict(u).label), answer.add_all(scores);
                     }
                   }});
    all.push_back({"online_" + row.name, [&row](const GraphView& graph, Answer& answer) {
                     const auto learner = row.make(graph, {}, kExecution);
                     for (NodeId u = 0; u < graph.num_nodes(); u += 3) {
                       const Prediction said = learner->predict(u);
                       answer.add(said.label), answer.add(said.confidence);
                       learner->reveal(u, static_cast<Label>(u % kClasses));
                     }
                   }});
  }
  for (const QueryRow& row : query_rows())
    all.push_back({"query_" + row.name, [&row](const GraphView& graph, Answer& answer) {
                     const auto strategy = row.make(graph, {}, kExecution);
                     strategy->start(some_labels(graph.num_nodes()));
                     for (const Query& query : strategy->next(4))
                       answer.add(query.node), answer.add(query.score);
                   }});
}

void add_evaluation(std::vector<Algorithm>& all) {
  all.push_back({"bounds", [](const GraphView& graph, Answer& answer) {
                   const BoundReport report =
                       mistake_bounds(graph, some_labels(graph.num_nodes()), {.num_trees = 5}, kExecution);
                   for (const Bound& bound : report.bounds) answer.add(bound.value);
                   answer.add_all(report.diagonal);
                   answer.add(report.facts.expected_cut), answer.add(report.facts.energy);
                 }});
  all.push_back({"adversary", [](const GraphView& graph, Answer& answer) {
                   const Adversary adversary = adversarial_labelling(graph, 3, kExecution);
                   answer.add_all(adversary.labels.of_node), answer.add(adversary.expected_cut);
                 }});
}

std::vector<Algorithm> algorithms() {
  std::vector<Algorithm> all;
  add_graph_algorithms(all);
  add_tree_algorithms(all);
  add_kernel_algorithms(all);
  add_learners(all);
  add_evaluation(all);
  return all;
}

const std::vector<Graph>& graphs() {
  static const std::vector<Graph> all = [] {
    std::vector<Graph> made;
    made.push_back(graph_from_pairs(1, {}));
    made.push_back(oracle::random_graph({.num_nodes = 40, .num_edges = 45, .seed = 2}));
    made.push_back(oracle::random_graph({.num_nodes = 40, .num_edges = 45, .seed = 3, .weighted = true}));
    for (std::uint64_t seed = 4; seed < 7; ++seed)  // rows of more than a block of the sampler, at the last
      made.push_back(oracle::random_connected_graph(
          {.num_nodes = 90, .num_edges = seed == 6 ? 3600U : 200U, .seed = seed, .weighted = true}));
    made.push_back(graph_from_signed_edges(
        50, oracle::with_signs(oracle::random_connected_edges(
                                   {.num_nodes = 50, .num_edges = 120, .seed = 8, .weighted = true}),
                               1)));
    return made;
  }();
  return all;
}

// A refusal is an answer as well: halving wants small graphs, some learners no signs.
Answer answer_of(const Algorithm& algorithm, const GraphView& graph) {
  Answer answer;
  try {
    algorithm.run(graph, answer);
  } catch (const Error& error) {
    answer.add(std::string(error.what()));
  }
  return answer;
}

class WideArrays : public testing::TestWithParam<Algorithm> {};

TEST_P(WideArrays, give_the_answer_of_narrow_ones_to_the_last_bit) {
  std::size_t size = 0;
  for (std::size_t g = 0; g < graphs().size(); ++g) {
    SCOPED_TRACE("graph " + std::to_string(g));
    const Answer narrow = answer_of(GetParam(), graphs()[g]);
    size += narrow.size();
    const oracle::WideCopy wide(graphs()[g]);
    for (const auto& [neighbors, weights] : oracle::kWidths)
      EXPECT_TRUE(narrow == answer_of(GetParam(), wide.view(neighbors, weights)))
          << (neighbors ? "wide neighbors " : "") << (weights ? "wide weights" : "");
  }
  EXPECT_GT(size, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, WideArrays, testing::ValuesIn(algorithms()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace copse
