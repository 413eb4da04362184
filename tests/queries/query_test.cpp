// SPDX-License-Identifier: Apache-2.0
// Query strategies: against dense twins, and what every row promises.

#include "copse/queries/query.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <thread>

#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/spectral_embedding.hpp"
#include "copse/learners/registry.hpp"
#include "oracle/active_projection.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

struct QueryGame {
  Graph graph;
  std::vector<Label> truth;
};

QueryGame draw_query_game(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<NodeId>(3 + random() % 14);
  QueryGame game{
      oracle::random_connected_graph(
          {.num_nodes = n, .num_edges = n - 1 + random() % 12, .seed = seed, .weighted = random() % 2 == 0}),
      std::vector<Label>(n)};
  for (Label& label : game.truth) label = static_cast<Label>(random() % 2);
  return game;
}

double sign_of(Label label) { return label == 0 ? 1 : -1; }

// Ties and near-ties leave a choice: the node chosen must have the twin's best score, and the game goes on
// with it.
void play_against_twin(const char* name, std::uint64_t seed) {
  SCOPED_TRACE(seed);
  const QueryGame game = draw_query_game(seed);
  const auto strategy = query_row(name).make(game.graph, {}, {.seed = seed});
  oracle::DenseProjection twin(game.graph);
  const bool is_st = std::string(name) == "act_st";
  std::vector<bool> asked(game.truth.size());
  double progress = 0;
  for (std::size_t t = 0; t + 1 < game.truth.size(); ++t) {
    const std::vector<Query> next = strategy->next(1);
    ASSERT_EQ(next.size(), 1u);
    const NodeId node = next[0].node;
    ASSERT_FALSE(asked[node]);
    const auto twin_score = [&](std::size_t i) {
      return is_st ? twin.certain_progress(i) : 1 - std::fabs(twin.g[i]);
    };
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (!asked[i]) best = std::max(best, twin_score(i));
    const double slack = 1e-5 * (1 + std::fabs(best));
    ASSERT_NEAR(next[0].score, best, slack) << "trial " << t;
    ASSERT_NEAR(twin_score(node), best, slack) << "trial " << t;
    asked[node] = true;
    strategy->reveal(node, game.truth[node]);
    progress += twin.project(node, sign_of(game.truth[node]));
    ASSERT_NEAR(strategy->progress(), progress, 1e-5 * (1 + progress));
  }
}

TEST(ActSt, asks_what_the_dense_twin_asks_in_300_random_games) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) play_against_twin("act_st", seed);
}

TEST(ActMu, asks_what_the_dense_twin_asks_in_300_random_games) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) play_against_twin("act_mu", seed);
}

TEST(ActSt, asks_about_the_most_central_node_first) {
  const Graph graph = oracle::path(9);
  EXPECT_EQ(query_row("act_st").make(graph, {}, {})->next(1)[0].node, 4u);
}

TEST(ActSt, labels_known_from_the_start_are_interpolated_with_the_least_norm) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const QueryGame game = draw_query_game(seed);
    const auto n = game.graph.num_nodes();
    std::vector<Label> known(n, kNoLabel);
    std::vector<std::size_t> at;
    std::vector<double> y;
    for (NodeId u = 0; u < n / 2; ++u) {
      known[u] = game.truth[u];
      at.push_back(u);
      y.push_back(sign_of(game.truth[u]));
    }
    oracle::DenseProjection twin(game.graph);
    twin.g = oracle::dense_interpolant(twin.kernel, at, y);
    const auto strategy = query_row("act_st").make(game.graph, {}, {});
    strategy->start(known);
    const Query next = strategy->next(1)[0];
    double best = 0;
    for (NodeId u = n / 2; u < n; ++u) best = std::max(best, twin.certain_progress(u));
    EXPECT_NEAR(next.score, best, 1e-5 * (1 + best));
    EXPECT_EQ(strategy->progress(), 0);
  }
}

TEST(ActSt, three_classes_are_three_functions) {
  // A node between two labelled ones of different classes is less sure than one beside a label.
  const Graph graph = oracle::path(7);
  const auto strategy = query_row("act_mu").make(graph, {}, {});
  strategy->reveal(0, 0);
  strategy->reveal(6, 2);
  const NodeId asked = strategy->next(1)[0].node;
  EXPECT_GT(asked, 1u);
  EXPECT_LT(asked, 5u);
}

TEST(ActSt, small_components_wait_unless_the_criterion_is_plain) {
  // A clique of 8 and a pair. K_ii is smaller in the clique; make the pair strong instead.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 8; ++u)
    for (NodeId v = u + 1; v < 8; ++v) edges.push_back({u, v, 1.0F});
  edges.push_back({8, 9, 100.0F});
  const Graph graph = graph_from_edges(10, edges);
  EXPECT_LT(query_row("act_st").make(graph, {}, {})->next(1)[0].node, 8u);
  EXPECT_GE(query_row("act_st").make(graph, {{"components", "plain"}}, {})->next(1)[0].node, 8u);
}

TEST(ActSt, with_estimated_diagonals_the_choice_is_nearly_the_best) {
  const Graph graph = oracle::grid(40, 40);
  const auto strategy = query_row("act_st").make(graph, {}, {});
  const Query first = strategy->next(1)[0];
  EXPECT_FALSE(strategy->notes().empty());  // it says that K_ii was estimated
  const std::vector<double> diagonal = exact_diagonal(graph, 1e-6, {}, {}).value;
  const double least = *std::min_element(diagonal.begin(), diagonal.end());
  EXPECT_NEAR(first.score * diagonal[first.node], 1, 1e-4);  // solved for, not estimated
  EXPECT_LT(diagonal[first.node], 1.1 * least);
}

TEST(Cover, mean_is_the_greedy_choice_of_the_dense_twin) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const QueryGame game = draw_query_game(seed);
    const std::size_t n = game.truth.size();
    const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(game.graph));
    const auto r = [&](std::size_t u, std::size_t v) { return k(u, u) + k(v, v) - 2 * k(u, v); };
    double cap = 0, total = 0;
    for (std::size_t u = 0; u < n; ++u) cap = std::max(cap, 4 * k(u, u));
    std::vector<double> degree;
    for (NodeId u = 0; u < n; ++u) total += degree.emplace_back(weighted_degree(game.graph, u));
    std::vector<double> nearest(n, cap);
    const auto queries = query_row("cover").make(game.graph, {}, {})->next(3);
    ASSERT_EQ(queries.size(), 3u);
    for (const Query& query : queries) {
      double best = 0;
      const auto gain = [&](std::size_t c) {
        double sum = 0;
        for (std::size_t u = 0; u < n; ++u) sum += degree[u] * std::max(0.0, nearest[u] - r(c, u));
        return sum / total;
      };
      for (std::size_t c = 0; c < n; ++c) best = std::max(best, gain(c));
      EXPECT_NEAR(gain(query.node), best, 1e-9 * (1 + best));
      EXPECT_NEAR(query.score, best, 1e-9 * (1 + best));
      for (std::size_t u = 0; u < n; ++u) nearest[u] = std::min(nearest[u], r(query.node, u));
    }
    // Answers are places that are taken, as those of the same batch are.
    const auto one_by_one = query_row("cover").make(game.graph, {}, {});
    for (const Query& query : queries) {
      EXPECT_EQ(one_by_one->next(1)[0].node, query.node);
      one_by_one->reveal(query.node, 0);
    }
  }
}

TEST(Cover, pendant_nodes_of_a_dense_graph_wait) {
  // Cliques of 12 joined by an edge, and a pendant node at every node.
  std::vector<Edge> edges{{0, 12}};
  for (NodeId u = 0; u < 24; ++u) {
    edges.push_back({u, 24 + u});
    for (NodeId v = u + 1; v < (u < 12 ? 12u : 24u); ++v) edges.push_back({u, v});
  }
  const Graph graph = graph_from_pairs(48, edges);
  for (const Query& query : query_row("cover").make(graph, {}, {})->next(8)) EXPECT_LT(query.node, 24u);
}

TEST(Cover, farthest_first_is_within_twice_the_best_radius) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const QueryGame game = draw_query_game(seed);
    const std::size_t n = game.truth.size();
    const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(game.graph));
    const auto r = [&](std::size_t u, std::size_t v) { return k(u, u) + k(v, v) - 2 * k(u, v); };
    const auto radius = [&](std::size_t a, std::size_t b) {
      double worst = 0;
      for (std::size_t u = 0; u < n; ++u) worst = std::max(worst, std::min(r(a, u), r(b, u)));
      return worst;
    };
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < a; ++b) best = std::min(best, radius(a, b));
    const auto queries = query_row("cover").make(game.graph, {{"goal", "farthest"}}, {})->next(2);
    EXPECT_LE(radius(queries[0].node, queries[1].node), 2 * best * (1 + 1e-9));
  }
}

TEST(Cover, hops_reach_the_other_end_of_a_path) {
  const Graph graph = oracle::path(20);
  const auto strategy = query_row("cover").make(graph, {{"goal", "hops"}}, {});
  strategy->reveal(0, 0);
  const auto queries = strategy->next(2);
  EXPECT_EQ(queries[0].node, 19u);
  EXPECT_EQ(queries[0].score, 19);
  EXPECT_TRUE(queries[1].node == 9 || queries[1].node == 10);
}

TEST(Cover, isolated_nodes_wait) {
  std::vector<Edge> edges;
  for (NodeId u = 1; u < 10; ++u) edges.push_back({u - 1, u});
  const Graph graph = graph_from_pairs(30, edges);
  for (const char* goal : {"mean", "farthest", "hops"}) {
    SCOPED_TRACE(goal);
    for (const Query& query : query_row("cover").make(graph, {{"goal", goal}}, {})->next(3))
      EXPECT_LT(query.node, 10u);
  }
}

// The twin of auto, vopt and uncertainty: the posterior of the regression by a dense inverse for every label
// known or made up.
class DenseRegression {
 public:
  explicit DenseRegression(const GraphView& graph) : x_(graph.num_nodes(), 8) {
    SpectralOptions options;
    options.dimension = 8;
    const SpectralEmbedding embedding = spectral_embedding(graph, options, {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      for (Eigen::Index a = 0; a < 8; ++a) x_(u, a) = embedding.row(u)[static_cast<std::size_t>(a)];
  }
  void fit(const std::vector<Label>& labels) {
    Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(8, 8);
    Eigen::MatrixXd wanted = Eigen::MatrixXd::Zero(x_.rows(), 3), known = Eigen::MatrixXd::Zero(x_.rows(), 8);
    for (Eigen::Index u = 0; u < x_.rows(); ++u) {
      const Label label = labels[static_cast<std::size_t>(u)];
      if (label == kNoLabel) continue;
      known.row(u) = x_.row(u);
      wanted(u, label) = 1;
    }
    precision += known.transpose() * known;
    const Eigen::MatrixXd covariance = precision.inverse();
    scores_ = x_ * covariance * known.transpose() * wanted;
    kernel_ = x_ * covariance * x_.transpose();
  }
  double score(const std::string& name, NodeId node) const {
    const double variance =
        kernel_.col(node).squaredNorm() / static_cast<double>(x_.rows()) / (1 + kernel_(node, node));
    std::vector<double> values{0, 0};
    for (Eigen::Index c = 0; c < 3; ++c) values.push_back(scores_(node, c));
    std::sort(values.begin(), values.end(), std::greater<>());
    const double doubt = 1 - (values[0] - values[1]);
    return name == "vopt" ? variance : name == "auto" ? variance * doubt : doubt;
  }
  Label best(NodeId node) const {
    Eigen::Index best = 0;
    return scores_.row(node).maxCoeff(&best) > 0 ? static_cast<Label>(best) : Label{0};
  }

 private:
  Eigen::MatrixXd x_, scores_, kernel_;
};

TEST(SpectralQueries, ask_what_the_dense_twin_asks) {
  for (const std::string name : {"auto", "vopt", "uncertainty"}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(name + std::to_string(seed));
      const Graph graph = oracle::random_connected_graph({.num_nodes = 40, .num_edges = 90, .seed = seed});
      DenseRegression twin(graph);
      std::vector<Label> labels(40, kNoLabel);
      for (NodeId u = 0; u < seed; ++u) labels[4 * u] = static_cast<Label>(u % 3);
      const auto strategy = query_row(name).make(graph, {{"dimension", "8"}}, {});
      strategy->start(labels);
      double highest = std::numeric_limits<double>::infinity();
      for (const Query& query : strategy->next(5)) {
        twin.fit(labels);
        double best = 0;
        for (NodeId u = 0; u < 40; ++u)
          if (labels[u] == kNoLabel) best = std::max(best, twin.score(name, u));
        EXPECT_NEAR(twin.score(name, query.node), best, 2e-3 * best);  // rows are rounded to 1 / 65536
        EXPECT_NEAR(query.score, std::min(best, highest), 2e-3 * best);
        highest = query.score;
        labels[query.node] = twin.best(query.node);  // as expected
      }
    }
  }
}

TEST(SpectralQueries, unlabelled_cliques_come_before_second_labels_and_before_small_components) {
  std::vector<Edge> edges;
  for (NodeId side = 0; side < 3; ++side)
    for (NodeId u = 0; u < 10; ++u)
      for (NodeId v = u + 1; v < 10; ++v) edges.push_back({side * 10 + u, side * 10 + v});
  edges.insert(edges.end(), {{9, 10}, {19, 20}, {30, 31}, {31, 32}});
  const Graph graph = graph_from_pairs(34, edges);
  for (const char* name : {"auto", "vopt"}) {
    SCOPED_TRACE(name);
    std::set<NodeId> cliques;
    for (const Query& query : query_row(name).make(graph, {}, {})->next(3)) cliques.insert(query.node / 10);
    EXPECT_EQ(cliques, (std::set<NodeId>{0, 1, 2}));
  }
}

TEST(SpectralQueries, candidates_are_a_part_of_the_nodes) {
  const Graph graph = oracle::grid(20, 20);
  std::set<NodeId> asked;
  for (std::uint64_t seed = 1; seed < 9; ++seed)
    asked.insert(query_row("auto").make(graph, {{"num_candidates", "5"}}, {.seed = seed})->next(1)[0].node);
  EXPECT_GT(asked.size(), 4u);
  EXPECT_EQ(query_row("auto").make(graph, {{"num_candidates", "5"}}, {})->next(30).size(), 30u);
}

TEST(Random, goes_on_where_it_was) {
  const Graph graph = oracle::path(50);
  const auto strategy = query_row("random").make(graph, {}, {.seed = 4});
  const auto six = strategy->next(6);
  for (std::size_t i = 0; i < 3; ++i) strategy->reveal(six[i].node, 0);
  const auto three = strategy->next(3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(three[i].node, six[3 + i].node);
}

TEST(Disagreement, asks_at_the_border_of_two_labels) {
  const Graph graph = oracle::path(41);
  const auto strategy = query_row("disagreement").make(graph, {{"num_trees", "101"}}, {});
  strategy->reveal(0, 0);
  strategy->reveal(40, 1);
  const Query next = strategy->next(1)[0];
  EXPECT_GT(next.node, 15u);
  EXPECT_LT(next.node, 25u);
}

TEST(Disagreement, scores_are_measures_of_the_votes_of_a_committee) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 20, .num_edges = 30, .seed = 3});
  const auto committee = learner_row("wta").make(graph, {{"num_trees", "15"}}, {.seed = 9});
  for (NodeId u = 0; u < 6; ++u) committee->reveal(u, static_cast<Label>(u % 3));
  const auto expected = [&](const std::string& measure, NodeId node) {
    std::vector<double> votes(3);
    committee->scores(node, votes);
    std::sort(votes.begin(), votes.end(), std::greater<>());
    if (measure == "margin") return 1 - (votes[0] - votes[1]);
    if (measure == "confidence") return 1 - votes[0];
    double entropy = 0;
    for (const double vote : votes) entropy -= vote > 0 ? vote * std::log(vote) : 0;
    return entropy / std::log(3.0);  // an even vote scores 1
  };
  for (const char* measure : {"entropy", "margin", "confidence"}) {
    SCOPED_TRACE(measure);
    const auto strategy =
        query_row("disagreement").make(graph, {{"num_trees", "15"}, {"measure", measure}}, {.seed = 9});
    for (NodeId u = 0; u < 6; ++u) strategy->reveal(u, static_cast<Label>(u % 3));
    const Query next = strategy->next(1)[0];
    EXPECT_NEAR(next.score, expected(measure, next.node), 1e-12);
    for (NodeId u = 6; u < 20; ++u) EXPECT_LE(expected(measure, u), next.score + 1e-12);
  }
}

TEST(Batches, take_one_node_of_each_clique) {
  std::vector<Edge> edges;
  for (NodeId side = 0; side < 2; ++side)
    for (NodeId u = 0; u < 8; ++u)
      for (NodeId v = u + 1; v < 8; ++v) edges.push_back({side * 8 + u, side * 8 + v});
  edges.push_back({7, 8});
  const Graph graph = graph_from_pairs(16, edges);
  for (const char* name : {"act_st", "cover"}) {
    SCOPED_TRACE(name);
    const auto queries = query_row(name).make(graph, {}, {.seed = 2})->next(2);
    EXPECT_NE(queries[0].node < 8, queries[1].node < 8);
  }
  // Least margin goes to the bridge instead, where the two sides meet.
  const auto queries = query_row("act_mu").make(graph, {}, {.seed = 2})->next(2);
  EXPECT_TRUE(queries[1].node == 7 || queries[1].node == 8) << queries[1].node;
}

// --- what every row promises

class QueryContract : public testing::TestWithParam<QueryRow> {};

TEST_P(QueryContract, has_a_row_that_can_be_read) {
  EXPECT_FALSE(GetParam().idea.empty() || GetParam().cost.empty() || GetParam().paper.empty());
  for (const OptionInfo& option : GetParam().options)
    EXPECT_FALSE(option.help.empty() || option.type.empty() || option.default_value.empty()) << option.name;
}

TEST_P(QueryContract, never_asks_twice_never_about_a_label_and_goes_on_to_the_last_node) {
  for (const oracle::NamedTestGraph& named : oracle::small_graphs()) {
    SCOPED_TRACE(named.name);
    const NodeId n = named.graph.num_nodes();
    const auto strategy = GetParam().make(named.graph, {}, {});
    std::vector<Label> known(n, kNoLabel);
    for (NodeId u = 0; u < n; u += 5) known[u] = static_cast<Label>(u % 3);
    strategy->start(known);
    if (n > 1) strategy->exclude(1);
    std::set<NodeId> asked;
    while (true) {
      const auto queries = strategy->next(3);
      EXPECT_EQ(queries.size(), std::min<std::uint64_t>(3, strategy->num_open()));
      if (queries.empty()) break;
      std::set<NodeId> batch;
      double highest = queries[0].score;
      for (const Query& query : queries) {
        EXPECT_LE(query.score, highest);
        highest = query.score;
        ASSERT_LT(query.node, n);
        EXPECT_TRUE(std::isfinite(query.score));
        EXPECT_EQ(known[query.node], kNoLabel);
        EXPECT_NE(query.node, 1u);
        EXPECT_TRUE(batch.insert(query.node).second);
      }
      EXPECT_TRUE(asked.insert(queries[0].node).second);
      strategy->reveal(queries[0].node, static_cast<Label>(queries[0].node % 4));
    }
    EXPECT_EQ(strategy->num_open(), 0u);
  }
}

TEST_P(QueryContract, works_without_any_label) {
  for (const oracle::NamedTestGraph& named : oracle::small_graphs()) {
    SCOPED_TRACE(named.name);
    const auto queries = GetParam().make(named.graph, {}, {})->next(1000);
    EXPECT_EQ(queries.size(), named.graph.num_nodes());
  }
}

TEST_P(QueryContract, is_the_same_on_any_number_of_threads_and_when_asked_again) {
  const Graph graph =
      oracle::random_graph({.num_nodes = 1700, .num_edges = 3500, .seed = 5, .weighted = true});
  std::vector<Label> known(1700, kNoLabel);
  for (NodeId u = 0; u < 1700; u += 100) known[u] = static_cast<Label>(u / 100 % 3);
  const auto one = GetParam().make(graph, {}, {.seed = 9, .threads = 1});
  const auto four = GetParam().make(graph, {}, {.seed = 9, .threads = 4});
  one->start(known);
  four->start(known);
  const auto a = one->next(4), b = four->next(4), again = one->next(4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(a[i].node, b[i].node);
    EXPECT_EQ(a[i].score, b[i].score);
    EXPECT_EQ(a[i].node, again[i].node);
    EXPECT_EQ(a[i].score, again[i].score);
  }
}

TEST_P(QueryContract, a_batch_begins_with_what_it_would_ask_alone) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 60, .num_edges = 120, .seed = 8});
  const auto strategy = GetParam().make(graph, {}, {});
  strategy->reveal(3, 0);
  strategy->reveal(40, 1);
  EXPECT_EQ(strategy->next(1)[0].node, strategy->next(7)[0].node);
}

// The oracle of everything incremental: a fresh strategy that is told what is known now, in the same order.
void expect_same_queries(const std::vector<Query>& a, const std::vector<Query>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].node, b[i].node) << i;
    EXPECT_EQ(a[i].score, b[i].score) << i;
  }
}

TEST_P(QueryContract, after_any_reveals_and_retracts_it_answers_as_a_fresh_one) {
  const Graph graph = oracle::random_graph({.num_nodes = 70, .num_edges = 150, .seed = 11, .weighted = true});
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Label> from_start(70, kNoLabel);
    for (NodeId u = 0; u < 70; u += 10) from_start[u] = static_cast<Label>(u / 10 % 3);
    const auto strategy = GetParam().make(graph, {}, {.seed = seed});
    strategy->start(from_start);
    std::vector<std::pair<NodeId, Label>> since;
    std::set<NodeId> excluded, skipped;
    for (int step = 0; step < 40; ++step) {
      const auto u = static_cast<NodeId>(random() % 70);
      const auto label = static_cast<Label>(random() % 4);
      const auto forget = [&] {
        from_start[u] = kNoLabel;
        std::erase_if(since, [&](const auto& one) { return one.first == u; });
      };
      switch (random() % 5) {
        case 0:
          strategy->retract(u), forget();
          break;
        case 1:
          strategy->exclude(u), excluded.insert(u);
          break;
        case 2:
          strategy->readmit(u), excluded.erase(u);
          break;
        default: {
          const bool is_known = from_start[u] == label || std::ranges::count(since, std::pair{u, label}) > 0;
          strategy->reveal(u, label);
          if (!is_known) forget(), since.emplace_back(u, label);
        }
      }
      if (random() % 3 == 0) skipped.insert(u);
      if (step % 8 != 7) continue;
      const auto fresh = GetParam().make(graph, {}, {.seed = seed});
      std::vector<Label> known = from_start;
      if (GetParam().depends_on_order) {
        fresh->start(known);
        for (const auto& [node, its] : since) fresh->reveal(node, its);
      } else {  // the set alone counts
        for (const auto& [node, its] : since) known[node] = its;
        fresh->start(known);
      }
      for (const NodeId node : excluded) fresh->exclude(node);
      expect_same_queries(strategy->next(3), fresh->next(3));
      EXPECT_EQ(strategy->progress(), fresh->progress());
      EXPECT_EQ(strategy->num_open(), fresh->num_open());
      // Skipped once and excluded for good are the same to one answer.
      const std::vector<NodeId> skip(skipped.begin(), skipped.end());
      for (const NodeId node : skip) fresh->exclude(node);
      expect_same_queries(strategy->next(3, skip), fresh->next(3));
      expect_same_queries(strategy->next(3), strategy->next(3));
    }
  }
}

TEST_P(QueryContract, answers_while_labels_arrive_on_another_thread) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 200, .num_edges = 500, .seed = 2});
  const auto strategy = GetParam().make(graph, {}, {});
  std::thread writer([&] {
    for (NodeId u = 0; u < 60; ++u) {
      strategy->reveal(u, static_cast<Label>(u % 3));
      if (u % 4 == 3) strategy->retract(u - 1);
      if (u % 7 == 6) strategy->exclude(100 + u);
    }
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(strategy->next(2).size(), 2u);
  writer.join();
  const auto fresh = GetParam().make(graph, {}, {});
  for (NodeId u = 0; u < 60; ++u) {
    if (u % 4 != 2 || u == 59) fresh->reveal(u, static_cast<Label>(u % 3));
    if (u % 7 == 6) fresh->exclude(100 + u);
  }
  expect_same_queries(strategy->next(2), fresh->next(2));
}

TEST_P(QueryContract, refuses_nodes_and_labels_that_are_none) {
  const Graph graph = oracle::path(3);
  const auto strategy = GetParam().make(graph, {}, {});
  EXPECT_THROW(strategy->reveal(3, 0), UsageError);
  EXPECT_THROW(strategy->retract(3), UsageError);
  EXPECT_THROW(strategy->exclude(3), UsageError);
  EXPECT_THROW(strategy->reveal(0, kNoLabel), UsageError);
  EXPECT_EQ(strategy->next(5, std::vector<NodeId>{0, 0, 77}).size(), 2u);  // a node to skip may be any
}

TEST_P(QueryContract, a_question_that_is_cancelled_changes_nothing) {
  struct Cancels final : Progress {
    void report(std::string_view, std::uint64_t, std::uint64_t) override {}
    bool cancelled() const override { return steps >= 0 && steps-- == 0; }
    mutable std::atomic<int> steps = -1;
  } progress;
  const Graph graph = oracle::random_connected_graph({.num_nodes = 60, .num_edges = 120, .seed = 8});
  const auto strategy = GetParam().make(graph, {}, {.seed = 1, .threads = 1, .progress = &progress});
  const auto fresh = GetParam().make(graph, {}, {});
  for (NodeId u = 0; u < 5; ++u) {
    strategy->reveal(u, static_cast<Label>(u % 2));
    fresh->reveal(u, static_cast<Label>(u % 2));
  }
  for (int steps = 0; steps < 12; ++steps) {
    progress.steps = steps;
    try {
      strategy->next(4);
    } catch (const Cancelled&) {
    }
  }
  progress.steps = -1;
  expect_same_queries(strategy->next(4), fresh->next(4));
}

TEST_P(QueryContract, says_how_much_memory_it_takes) {
  const auto bytes = [&](std::uint64_t nodes) {
    return GetParam().bytes({nodes, 16 * nodes, true, 5, 2}, {});
  };
  EXPECT_GT(bytes(1000), 0u);
  EXPECT_EQ(bytes(200'000'000'000), 200 * bytes(1'000'000'000));
}

TEST_P(QueryContract, refuses_unknown_options_bad_values_and_labels_of_another_graph) {
  const Graph graph = oracle::path(3);
  EXPECT_THROW(GetParam().make(graph, {{"no_such_option", "1"}}, {}), UsageError);
  for (const OptionInfo& option : GetParam().options)
    EXPECT_THROW(GetParam().make(graph, {{option.name, "nonsense"}}, {}), UsageError) << option.name;
  EXPECT_THROW(GetParam().make(graph, {}, {})->start(std::vector<Label>(2)), UsageError);
}

TEST(QueryRegistry, an_unknown_strategy_names_the_known_ones) {
  try {
    query_row("act_sst");
    FAIL();
  } catch (const UsageError& error) {
    for (const QueryRow& row : query_rows())
      EXPECT_NE(std::string(error.what()).find(row.name), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, QueryContract, testing::ValuesIn(query_rows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace copse
