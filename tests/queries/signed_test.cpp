// SPDX-License-Identifier: Apache-2.0
// What every learner promises on graphs with negative edges. The first promise is about switching: turn any
// set of nodes, their labels and the signs of the edges that leave it, and the answers of these nodes turn as
// well.

#include <gtest/gtest.h>

#include <random>

#include "copse/graph/components.hpp"
#include "copse/graph/signs.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/learners/registry.hpp"
#include "copse/learners/wta.hpp"
#include "copse/queries/query.hpp"
#include "copse/support/error.hpp"
#include "learners/some_labels.hpp"
#include "oracle/active_projection.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/signed.hpp"

namespace copse {
namespace {

/// A learner with options: its defaults, and trees where it has a choice.
struct Candidate {
  std::string name;
  OptionValues options;
  const LearnerRow& row() const { return learner_row(name); }
  bool takes_signs() const { return row().signed_graphs; }
};

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const LearnerRow& row : learner_rows()) {
    all.push_back({row.name, {}});
    for (const OptionInfo& option : row.options)
      if (option.name == "on") all.push_back({row.name, {{"on", "tree"}, {"num_trees", "7"}}});
  }
  all.push_back({"label_propagation", {{"shift", "none"}}});
  all.push_back({"graph_perceptron", {{"bias", "resistance_diameter"}, {"diagonal", "0.5"}}});
  all.push_back({"projection", {{"strategy", "all"}}});
  all.push_back({"nearest_neighbor", {{"distance", "resistance"}, {"num_neighbors", "3"}}});
  all.push_back({"pounce", {{"max_columns", "1"}}});
  all.push_back({"wta", {{"tree", "mst"}}});
  return all;
}

std::string name_of(const testing::TestParamInfo<Candidate>& info) {
  std::string name = info.param.name;
  for (const auto& [option, value] : info.param.options) name += "_" + option + "_" + value;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

void PrintTo(const Candidate& candidate, std::ostream* out) { *out << candidate.name; }

/// Whether equal distances and margins are decided by something that turns with the nodes. The others decide
/// by the more frequent class or by the order of nodes: they are asked where there are no ties.
bool turns_ties(const Candidate& candidate) {
  return candidate.options.empty() &&
         (candidate.name == "wta" || candidate.name == "tree_cut" || candidate.name == "label_propagation" ||
          candidate.name == "poisson" || candidate.name == "kernel_ridge" ||
          candidate.name == "min_norm_interpolation" || candidate.name == "majority_vote");
}

struct SignedCase {
  const char* name;
  NodeId num_nodes;
  std::vector<Edge> edges;
  bool has_ties = false;
};

std::vector<SignedCase> cases(std::uint64_t seed) {
  const auto connected = [&](NodeId n, std::uint64_t m, bool weighted) {
    return oracle::random_connected_edges(
        {.num_nodes = n, .num_edges = m, .seed = seed, .weighted = weighted});
  };
  std::vector<SignedCase> all;
  all.push_back({"unbalanced", 24, oracle::with_signs(connected(24, 50, false), seed), true});
  all.push_back({"unbalanced, weighted", 30, oracle::with_signs(connected(30, 70, true), seed)});
  all.push_back({"a tree", 25, oracle::with_signs(connected(25, 24, true), seed)});
  std::vector<bool> set(20);
  std::mt19937_64 random(seed);
  for (std::size_t u = 0; u < set.size(); ++u) set[u] = random() % 2 != 0;
  all.push_back({"balanced", 20, oracle::switched(connected(20, 45, true), set)});
  // One component of each kind, and a node alone.
  std::vector<Edge> both = all[1].edges;
  for (Edge edge : all[3].edges) both.push_back({edge.u + 30, edge.v + 30, edge.weight});
  all.push_back({"balanced beside unbalanced", 51, both});
  both = all[0].edges;
  for (Edge edge : all[0].edges) both.push_back({edge.u + 24, edge.v + 24, edge.weight});
  all.push_back({"twice the same", 48, both, true});
  return all;
}

/// A bit per arc whatever the signs: a graph that says itself signed, without a negative edge.
struct AllPositive {
  explicit AllPositive(const GraphView& graph) : bits(num_sign_words(graph.num_arcs())), view(graph) {
    view.negative = bits;
  }
  std::vector<std::uint64_t> bits;
  GraphView view;
};

std::vector<double> scores_of(const Predictor& predictor, NodeId n) {
  std::vector<double> all;
  for (NodeId u = 0; u < n; ++u) {
    std::vector<double> scores(predictor.num_classes());
    predictor.scores(u, scores);
    all.insert(all.end(), scores.begin(), scores.end());
  }
  return all;
}

std::vector<Label> both_classes(NodeId n, std::uint64_t seed) {
  std::vector<Label> labels = some_labels(n, 2, 0.3, seed);
  labels[0] = 0;
  labels[1] = 1;
  return labels;
}

class Signed : public testing::TestWithParam<Candidate> {};

TEST_P(Signed, switching_nodes_switches_their_answers_or_signs_are_refused) {
  if (!GetParam().takes_signs()) {
    const Graph graph = graph_from_signed_edges(3, {{0, 1, -1}, {1, 2, 1}});
    EXPECT_THROW(GetParam().row().make(graph, GetParam().options, {}), UsageError);
    EXPECT_THROW(GetParam().row().fit(graph, std::vector<Label>{0, 1, kNoLabel}, 2, GetParam().options, {}),
                 UsageError);
    return;
  }
  int num_sure = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (const SignedCase& c : cases(seed)) {
      if (c.has_ties && !turns_ties(GetParam())) continue;
      SCOPED_TRACE(std::string(c.name) + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed + 500);
      std::vector<bool> set(c.num_nodes);
      for (std::size_t u = 0; u < set.size(); ++u) set[u] = random() % 2 != 0;
      const auto labels = both_classes(c.num_nodes, seed);
      const Graph one = graph_from_signed_edges(c.num_nodes, c.edges);
      const Graph other = graph_from_signed_edges(c.num_nodes, oracle::switched(c.edges, set));
      const auto fit = [&](const GraphView& graph, const std::vector<Label>& told) {
        return GetParam().row().fit(graph, told, 2, GetParam().options, {.seed = seed});
      };
      const auto a = fit(one, labels), b = fit(other, oracle::switched(labels, set));
      for (NodeId u = 0; u < c.num_nodes; ++u) {
        const Prediction before = a.predictor->predict(u), after = b.predictor->predict(u);
        EXPECT_EQ(before.reached, after.reached);
        if (!before.reached) continue;
        std::vector<double> scores(2), turned(2);
        a.predictor->scores(u, scores);
        b.predictor->scores(u, turned);
        if (set[u]) std::swap(turned[0], turned[1]);
        EXPECT_NEAR(scores[0], turned[0], 1e-5) << u;
        if (std::fabs(scores[0] - scores[1]) < 1e-5) continue;  // a tie
        ++num_sure;
        EXPECT_EQ(before.label, set[u] ? 1 - after.label : after.label) << u;
      }
    }
  }
  EXPECT_GT(num_sure, 200);
}

TEST_P(Signed, without_negative_edges_answers_are_those_without_signs) {
  if (!GetParam().takes_signs()) return;
  const bool has_own_ties = GetParam().name == "tree_cut";  // with signs, the smaller node decides
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = 30, .num_edges = 60, .seed = seed, .weighted = has_own_ties || seed % 2 == 0});
    const AllPositive positive(graph);
    const auto labels = both_classes(30, seed);
    const auto a = GetParam().row().fit(graph, labels, 2, GetParam().options, {.seed = seed});
    const auto b = GetParam().row().fit(positive.view, labels, 2, GetParam().options, {.seed = seed});
    const auto plain = scores_of(*a.predictor, 30), with_signs = scores_of(*b.predictor, 30);
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(plain[i], with_signs[i], 1e-5) << i;
  }
}

TEST_P(Signed, batch_and_online_agree_and_retract_undoes_reveal) {
  if (!GetParam().takes_signs() || GetParam().row().depends_on_order) return;
  for (const SignedCase& c : cases(3)) {
    SCOPED_TRACE(c.name);
    const Graph graph = graph_from_signed_edges(c.num_nodes, c.edges);
    const auto labels = both_classes(c.num_nodes, 4);
    const auto batch = GetParam().row().fit(graph, labels, 2, GetParam().options, {.seed = 1, .threads = 3});
    const auto learner = GetParam().row().make(graph, GetParam().options, {.seed = 1});
    EXPECT_EQ(learner->num_classes(), 2u);
    EXPECT_EQ(learner->predict(0).label, kNoLabel);
    for (NodeId u = c.num_nodes; u-- > 0;)
      if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
    EXPECT_EQ(scores_of(*batch.predictor, c.num_nodes), scores_of(*learner, c.num_nodes));
    for (NodeId u = 0; u < c.num_nodes; ++u) {
      learner->reveal(u, 1);
      learner->reveal(u, 0);
      learner->retract(u);
      learner->retract(u);
      if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
    }
    EXPECT_EQ(scores_of(*batch.predictor, c.num_nodes), scores_of(*learner, c.num_nodes));
  }
}

TEST_P(Signed, the_first_label_leads_to_the_other_class_across_a_negative_edge) {
  if (!GetParam().takes_signs()) return;
  const Graph graph = graph_from_signed_edges(4, {{0, 1, -1}, {1, 2, 1}, {2, 3, -1}});
  for (const Label first : {Label{0}, Label{1}}) {
    const auto learner = GetParam().row().make(graph, GetParam().options, {});
    learner->reveal(0, first);
    const Prediction answer = learner->predict(1);
    if (GetParam().name == "halving") continue;  // counts labellings of both classes from the start: a tie
    EXPECT_EQ(answer.label, 1 - first);
    EXPECT_TRUE(answer.reached);
    std::vector<double> scores(learner->num_classes());
    learner->scores(1, scores);
    EXPECT_NEAR(scores[0] + scores[1], 1, 1e-12);
    EXPECT_GT(scores[static_cast<std::size_t>(1 - first)], scores[first]);
  }
}

TEST_P(Signed, a_third_class_and_a_single_one_are_refused) {
  if (!GetParam().takes_signs()) return;
  const Graph graph = graph_from_signed_edges(4, {{0, 1, -1}, {1, 2, 1}, {2, 3, -1}});
  const auto learner = GetParam().row().make(graph, GetParam().options, {});
  learner->reveal(0, 0);
  EXPECT_THROW(learner->reveal(1, 2), UsageError);
  EXPECT_EQ(learner->predict(0).label, 0);
  const std::vector<Label> labels{0, 1, kNoLabel, kNoLabel};
  EXPECT_THROW(GetParam().row().fit(graph, labels, 3, GetParam().options, {}), InputError);
  EXPECT_THROW(GetParam().row().fit(graph, std::vector<Label>{0, kNoLabel, kNoLabel, kNoLabel}, 1,
                                    GetParam().options, {}),
               InputError);
  const std::vector<Label> none(4, kNoLabel);
  const auto empty = GetParam().row().fit(graph, none, 2, GetParam().options, {});
  for (NodeId u = 0; u < 4; ++u) EXPECT_EQ(empty.predictor->predict(u).label, kNoLabel);
}

TEST_P(Signed, explains_by_labelled_nodes_and_their_own_labels) {
  if (!GetParam().takes_signs()) return;
  for (const SignedCase& c : cases(5)) {
    SCOPED_TRACE(c.name);
    const Graph graph = graph_from_signed_edges(c.num_nodes, c.edges);
    const auto labels = both_classes(c.num_nodes, 6);
    const auto learner = GetParam().row().make(graph, GetParam().options, {});
    for (NodeId u = 0; u < c.num_nodes; ++u)
      if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
    for (NodeId u = 0; u < c.num_nodes; ++u) {
      if (labels[u] != kNoLabel) continue;
      const auto reasons = learner->explain(u);
      EXPECT_EQ(reasons.empty(), !learner->predict(u).reached) << u;
      double total = 0;
      for (const Reason& reason : reasons) {
        EXPECT_EQ(reason.label, labels[reason.node]);
        EXPECT_GT(reason.share, 0);
        EXPECT_GT(reason.resistance, 0);
        total += reason.share;
      }
      EXPECT_LE(total, 1 + 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Learners, Signed, testing::ValuesIn(candidates()), name_of);

// Twins.

TEST(SignedLearners, label_propagation_is_harmonic_for_the_signed_laplacian) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto edges = oracle::with_signs(
        oracle::random_connected_edges({.num_nodes = 25, .num_edges = 60, .seed = seed, .weighted = true}),
        seed);
    const auto labels = both_classes(25, seed);
    const Graph graph = graph_from_signed_edges(25, edges);
    const auto result = learner_row("label_propagation")
                            .fit(graph, labels, 2, {{"shift", "none"}, {"tolerance", "1e-12"}}, {});
    const std::vector<double> f = oracle::signed_harmonic(25, edges, labels);
    const auto scores = scores_of(*result.predictor, 25);
    for (std::size_t u = 0; u < 25; ++u) EXPECT_NEAR(scores[2 * u] - scores[2 * u + 1], f[u], 1e-7);
  }
}

TEST(SignedLearners, kernel_ridge_is_ridge_regression_in_the_signed_kernel) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 20;
    const auto edges = oracle::with_signs(
        oracle::random_connected_edges({.num_nodes = n, .num_edges = 50, .seed = seed, .weighted = true}),
        seed);
    const auto labels = both_classes(n, seed);
    // Not balanced: the Laplacian is regular, and the kernel its inverse, in units of the mean weight.
    double mean = 0;
    for (const Edge& edge : edges) mean += std::fabs(edge.weight) / static_cast<double>(edges.size());
    oracle::DenseMatrix l = oracle::signed_laplacian(n, edges);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) l(i, j) /= mean;
    const oracle::DenseMatrix kernel = oracle::inverse(l);
    std::vector<std::size_t> known;
    for (std::size_t u = 0; u < n; ++u)
      if (labels[u] != kNoLabel) known.push_back(u);
    const double ridge = 0.1;
    oracle::DenseMatrix gram(known.size(), known.size()), alpha(known.size(), 1);
    for (std::size_t i = 0; i < known.size(); ++i) {
      for (std::size_t j = 0; j < known.size(); ++j)
        gram(i, j) = kernel(known[i], known[j]) + (i == j ? ridge : 0);
      alpha(i, 0) = labels[known[i]] == 0 ? 1 : -1;
    }
    oracle::eliminate(gram, alpha);
    const auto result = learner_row("kernel_ridge")
                            .fit(graph_from_signed_edges(n, edges), labels, 2,
                                 {{"ridge", "0.1"}, {"diagonal", "0"}, {"tolerance", "1e-12"}}, {});
    const auto scores = scores_of(*result.predictor, n);
    for (std::size_t u = 0; u < n; ++u) {
      if (labels[u] != kNoLabel) continue;
      double f = 0;
      for (std::size_t i = 0; i < known.size(); ++i) f += alpha(i, 0) * kernel(u, known[i]);
      EXPECT_NEAR(scores[2 * u] - scores[2 * u + 1], f, 1e-6);
    }
  }
}

TEST(SignedLearners, the_perceptron_plays_the_game_of_the_signed_kernel) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 20;
    const auto edges = oracle::with_signs(
        oracle::random_connected_edges({.num_nodes = n, .num_edges = 50, .seed = seed}), seed);
    const oracle::DenseMatrix kernel = oracle::inverse(oracle::signed_laplacian(n, edges));
    const auto learner = learner_row("graph_perceptron").make(graph_from_signed_edges(n, edges), {}, {});
    std::vector<double> w(n);
    std::mt19937_64 random(seed);
    for (NodeId u = 0; u < n; ++u) {
      const Label label = static_cast<Label>(random() % 2);
      const double y = label == 0 ? 1 : -1;
      const Prediction answer = learner->predict(u);
      if (u > 0 && std::fabs(w[u]) > 1e-5) {
        EXPECT_EQ(answer.label, w[u] > 0 ? 0 : 1) << u;
      }
      if (y * w[u] <= 1e-5)
        for (NodeId v = 0; v < n; ++v) w[v] += y * kernel(v, u);
      learner->reveal(u, label);
    }
  }
}

TEST(SignedLearners, tree_cut_answers_with_the_least_signed_cut_at_hinges_of_trees) {
  // On a tree the committee is one tree. Where the least cut prefers a label at a node with three labelled
  // branches, or all labelled neighbours around it, that is the answer.
  int num_judged = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Edge> edges;
    std::mt19937_64 random(seed);
    for (NodeId u = 1; u < 6; ++u) edges.push_back({0, u, oracle::random_weight(random)});
    edges = oracle::with_signs(edges, seed);
    std::vector<Label> labels(6, kNoLabel);
    for (NodeId u = 1; u < 6; ++u) labels[u] = static_cast<Label>(random() % 2);
    labels[1] = 0, labels[2] = 1;
    const double zero = oracle::least_signed_cut(labels, edges, 0, 0),
                 one = oracle::least_signed_cut(labels, edges, 0, 1);
    const auto result =
        learner_row("tree_cut").fit(graph_from_signed_edges(6, edges), labels, 2, {{"num_trees", "1"}}, {});
    if (std::fabs(zero - one) < 1e-6) continue;
    ++num_judged;
    EXPECT_EQ(result.predictor->predict(0).label, zero < one ? 0 : 1);
  }
  EXPECT_GT(num_judged, 20);
}

TEST(SignedLearners, wta_follows_the_signs_along_a_path) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Edge> edges;
    for (NodeId u = 1; u < 30; ++u) edges.push_back({u - 1, u});
    edges = oracle::with_signs(edges, seed, 0.5);
    std::vector<Label> labels(30, kNoLabel);
    labels[0] = 0;
    // Far to the right, and what the signs say: no answer depends on which of the two is nearer.
    Label at = 0;
    std::vector<Label> wanted{0};
    for (const Edge& edge : edges) wanted.push_back(at = edge.weight < 0 ? static_cast<Label>(1 - at) : at);
    labels[29] = wanted[29];
    const auto result = learner_row("wta").fit(graph_from_signed_edges(30, edges), labels, 2, {}, {});
    for (NodeId u = 0; u < 30; ++u) EXPECT_EQ(result.predictor->predict(u).label, wanted[u]);
  }
}

TEST(SignedLearners, direct_use_of_what_needs_the_cover_is_refused) {
  const Graph graph = graph_from_signed_edges(3, {{0, 1, -1}, {1, 2, 1}});
  EXPECT_THROW(LaplacianSolver(graph, {}, {}), UsageError);
}

TEST(SignedQueries, take_signs_or_refuse_them) {
  const auto edges =
      oracle::with_signs(oracle::random_connected_edges({.num_nodes = 40, .num_edges = 90, .seed = 1}), 1);
  const Graph graph = graph_from_signed_edges(40, edges);
  std::vector<Label> labels(40, kNoLabel);
  labels[3] = 0, labels[5] = 1;
  for (const QueryRow& row : query_rows()) {
    SCOPED_TRACE(row.name);
    if (!row.signed_graphs) {
      EXPECT_THROW(row.make(graph, {}, {}), UsageError);
      continue;
    }
    const auto strategy = row.make(graph, {}, {});
    strategy->start(labels);
    EXPECT_EQ(strategy->next(5).size(), 5u);
  }
}

/// Criterion 15 and least margins in the kernel of the signed Laplacian, whose pseudoinverse is dense here.
TEST(SignedQueries, act_st_and_act_mu_ask_what_the_dense_twin_asks) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const std::string name : {"act_st", "act_mu"}) {
      SCOPED_TRACE(name + " " + std::to_string(seed));
      std::mt19937_64 random(seed);
      const NodeId n = 10;
      const Graph plain = oracle::random_connected_graph({.num_nodes = n, .num_edges = 16, .seed = seed});
      std::vector<Edge> edges;
      const GraphView view = plain;
      for (NodeId u = 0; u < n; ++u)
        for (const NodeId v : view.neighbors_of(u))
          if (u < v) edges.push_back({u, v, 1});
      edges = oracle::with_signs(edges, seed);
      const Graph graph = graph_from_signed_edges(n, edges);
      oracle::DenseProjection twin(plain);
      if (sign_balance(graph, connected_components(graph, 1)).is_all_balanced()) continue;  // G has no inverse
      twin.kernel = oracle::inverse(oracle::signed_laplacian(n, edges));
      const auto strategy = query_row(name).make(graph, {}, {.seed = seed});
      std::vector<bool> asked(n);
      for (NodeId t = 0; t + 1 < n; ++t) {
        const Query next = strategy->next(1).at(0);
        const auto score = [&](std::size_t i) {
          return name == "act_st" ? twin.certain_progress(i) : 1 - std::fabs(twin.g[i]);
        };
        double best = -1e300;
        for (std::size_t i = 0; i < n; ++i)
          if (!asked[i]) best = std::max(best, score(i));
        ASSERT_NEAR(next.score, best, 1e-5 * (1 + std::fabs(best))) << "trial " << t;
        ASSERT_NEAR(score(next.node), best, 1e-5 * (1 + std::fabs(best))) << "trial " << t;
        const auto label = static_cast<Label>(random() % 2);
        asked[next.node] = true;
        strategy->reveal(next.node, label);
        twin.project(next.node, label == 0 ? 1 : -1);
      }
    }
}

}  // namespace
}  // namespace copse
