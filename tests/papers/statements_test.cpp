// SPDX-License-Identifier: Apache-2.0
// What the papers say their methods do on certain graphs, and bounds that no game may break.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "copse/learners/graph_perceptron.hpp"
#include "copse/learners/nearest_neighbor.hpp"
#include "copse/learners/pounce.hpp"
#include "copse/learners/projection.hpp"
#include "copse/learners/wta.hpp"
#include "oracle/graphs.hpp"
#include "oracle/online_kernel.hpp"
#include "papers/generators.hpp"
#include "papers/opponents.hpp"

namespace copse {
namespace {

struct PlayedGraph {
  Graph graph;
  std::vector<Label> labels;
};

PlayedGraph family(const std::string& name, const std::vector<std::pair<std::string, double>>& parameters) {
  GeneratedGraph made = generate_any_graph(name, parameters, {});
  return {std::move(made.graph), std::move(made.labels.of_node)};
}

std::uint64_t mistakes(Learner& learner, const std::vector<Label>& labels, const std::vector<NodeId>& order) {
  return play_online(learner, labels, order).mistakes();
}

std::vector<NodeId> shuffled(NodeId n, std::uint64_t seed) {
  std::vector<NodeId> order(n);
  for (NodeId u = 0; u < n; ++u) order[u] = u;
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

std::uint64_t worst_mistakes(Learner& learner, const std::vector<Label>& labels, std::uint64_t seed) {
  return mistakes_where_wrong(learner, labels, shuffled(static_cast<NodeId>(labels.size()), seed));
}

double num_cut(const GraphView& graph, const std::vector<Label>& labels) {
  double cut = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (labels[u] != labels[graph.neighbors[arc]]) cut += graph.weight(arc) / 2.0;
  return cut;
}

double resistance_diameter_of(const GraphView& graph) {
  const auto pinv = oracle::pseudoinverse(oracle::laplacian(graph));
  double most = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (NodeId v = 0; v < u; ++v) most = std::max(most, oracle::effective_resistance(pinv, u, v));
  return most;
}

double balance(const std::vector<Label>& labels) {
  double sum = 0;
  for (const Label label : labels) sum += label == 1 ? 1 : -1;
  return std::pow(sum / static_cast<double>(labels.size()), 2);
}

TEST(Papers, on_an_octopus_nearest_neighbors_err_at_every_tip_and_the_perceptron_a_constant_number_of_times) {
  constexpr NodeId p = 3;
  for (const NodeId m : {5u, 10u, 20u}) {
    const NodeId head = m * p + 1;  // the clique, then the root, then tentacle after tentacle, the tips last
    const PlayedGraph octopus = family("octopus", {{"head", head}, {"tentacles", m}, {"length", p}});
    std::vector<NodeId> order;
    for (NodeId i = 0; i < m; ++i) {
      order.push_back(i);
      order.push_back(head + (i + 1) * p);
    }
    for (const auto distance :
         {NearestNeighborOptions::Distance::geodesic, NearestNeighborOptions::Distance::resistance}) {
      NearestNeighbor nearest(octopus.graph, {.distance = distance}, {});
      EXPECT_EQ(mistakes(nearest, octopus.labels, order),
                m + 1);  // and the first node, of which nothing is known
    }
    GraphPerceptron perceptron(octopus.graph, {}, {});
    EXPECT_LE(mistakes(perceptron, octopus.labels, order), 10 * p + 5);
    GraphPerceptron other(octopus.graph, {}, {});
    EXPECT_LE(worst_mistakes(other, octopus.labels, m), 10 * p + 5);
  }
}

TEST(Papers, on_a_barbell_the_perceptron_errs_no_more_however_large_the_cliques) {
  for (const NodeId m : {4u, 10u, 30u}) {
    const PlayedGraph barbell = family("barbell", {{"clique", m}});
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      GraphPerceptron learner(barbell.graph, {}, {});
      EXPECT_LE(worst_mistakes(learner, barbell.labels, seed), 4 * (1 + 4.0 / m + 1));  // eq. 16
    }
  }
}

TEST(Papers, on_a_thick_barbell_it_errs_at_most_20_times_however_many_bridges) {
  for (const NodeId bridges : {2u, 8u, 24u}) {
    const NodeId m = 25;
    const PlayedGraph thick = family("thick_barbell", {{"clique", m}, {"bridges", bridges}});
    GraphPerceptronOptions options;
    options.bias.number = 1 / (4.0 * 2 * m);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      GraphPerceptron learner(thick.graph, options, {});
      EXPECT_LE(worst_mistakes(learner, thick.labels, seed), 20.5);  // 4 l (5 / l + b)
    }
  }
}

TEST(Papers, labels_flipped_in_a_barbell_cost_the_perceptron_a_number_of_mistakes_each) {
  for (const NodeId m : {10u, 30u}) {
    const PlayedGraph noisy = family("noisy_barbell", {{"clique", m}, {"noisy", 2}});
    GraphPerceptron learner(noisy.graph, {.diagonal = 1}, {});
    const double z =
        (4 * 1 + 4 * 2) * (resistance_diameter_of(noisy.graph) + 1 + 1);  // eq. 15, u' = the cliques
    EXPECT_LE(worst_mistakes(learner, noisy.labels, 1), z);
  }
}

TEST(Papers, a_star_with_a_flipped_centre_costs_a_constant_number_of_mistakes) {
  for (const NodeId n : {10u, 100u, 1000u}) {
    std::vector<Label> labels(n, 1);
    labels[0] = 0;
    const Graph star = oracle::star(n);
    GraphPerceptron perceptron(star, {.diagonal = 1}, {});
    EXPECT_LE(mistakes(perceptron, labels, shuffled(n, n)), (1 + 4) * (2 + 1 + 1));  // eq. 15 with k = 1
    std::size_t in_all = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Wta wta(star, {.num_trees = 1}, {.seed = seed});
      in_all += mistakes(wta, labels, shuffled(n, n + seed));
    }
    EXPECT_LE(in_all, 50 * 4u);  // 3 on average: the first answer, the centre, a leaf beside it
  }
}

/// Herbster 2008: two cliques with l edges between them, l of the order of m, and a third that hangs by two.
PlayedGraph three_clusters(NodeId m, NodeId bridges) {
  std::vector<Edge> edges;
  for (NodeId first = 0; first < 3 * m; first += m)
    for (NodeId u = 0; u < m; ++u)
      for (NodeId v = 0; v < u; ++v) edges.push_back({first + u, first + v});
  for (NodeId k = 0; k < bridges; ++k) edges.push_back({k, m + k});
  edges.push_back({0, 2 * m});
  edges.push_back({1, 2 * m + 1});
  PlayedGraph result{graph_from_pairs(3 * m, edges), std::vector<Label>(3 * m)};
  for (NodeId u = m; u < 2 * m; ++u) result.labels[u] = 1;
  return result;
}

TEST(Papers, on_three_clusters_pounce_errs_at_most_20_times_while_the_bound_of_the_perceptron_grows) {
  double last_bound = 0;
  for (const NodeId m : {10u, 20u, 40u}) {
    const PlayedGraph clusters = three_clusters(m, m - 1);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      Pounce pounce(clusters.graph, {}, {});
      EXPECT_LE(worst_mistakes(pounce, clusters.labels, seed), 20u);
    }
    const double bound =
        2 * 4 * num_cut(clusters.graph, clusters.labels) * resistance_diameter_of(clusters.graph) + 2;
    EXPECT_GT(bound, 1.5 * last_bound);
    last_bound = bound;
  }
}

TEST(Papers, unlabelled_points_that_show_the_classes_leave_pounce_3_mistakes) {
  // A row of points, each with a random label; columns of unlabelled points, close together, lead those of
  // one class up to a dense row and those of the other down to another. Herbster 2008, the last example.
  constexpr NodeId kRow = 12, kColumn = 5, kBetween = 5;
  std::mt19937_64 random(5);
  struct Point {
    double x, y;
  };
  std::vector<Point> points;
  std::vector<Label> labels(kRow);
  for (NodeId i = 0; i < kRow; ++i) points.push_back({static_cast<double>(i), 0});
  for (NodeId i = 0; i < kRow; ++i) {
    labels[i] = static_cast<Label>(random() % 2);
    for (NodeId k = 1; k <= kColumn; ++k)
      points.push_back({static_cast<double>(i), (labels[i] == 1 ? 0.2 : -0.2) * k});
  }
  for (const double y : {0.2 * (kColumn + 1), -0.2 * (kColumn + 1)})
    for (NodeId k = 0; k <= (kRow - 1) * kBetween; ++k)
      points.push_back({static_cast<double>(k) / kBetween, y});
  std::vector<Edge> edges;
  for (NodeId u = 0; u < points.size(); ++u)
    for (NodeId v = 0; v < u; ++v) {
      const double d = std::hypot(points[u].x - points[v].x, points[u].y - points[v].y);
      if (d < 1.05) edges.push_back({u, v, static_cast<Weight>(std::exp(-20 * d))});
    }
  const Graph graph = graph_from_edges(static_cast<NodeId>(points.size()), edges);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Pounce pounce(graph, {}, {});
    EXPECT_LE(mistakes(pounce, labels, shuffled(kRow, seed)), 3u);
  }
}

// Bounds. Random games of two classes on random graphs, the adversary above, every node once.

PlayedGraph random_binary(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<NodeId>(4 + random() % 12);
  PlayedGraph result{oracle::random_connected_graph({n, n + random() % (2 * n), seed, random() % 2 == 0}),
                     {}};
  result.labels.resize(n);
  for (Label& label : result.labels) label = static_cast<Label>(random() % 2);
  for (int smoothing = static_cast<int>(random() % 3); smoothing > 0; --smoothing)
    for (NodeId u = 0; u < n; ++u) {
      const auto near = result.graph.view().neighbors_of(u);
      result.labels[u] = result.labels[near[random() % near.size()]];
    }
  return result;
}

/// In the papers' sense, where both classes are known from the start: a negative margin speaks for the other
/// class even while that has no label and cannot be named. 0 is a mistake.
bool is_mistake(const SequentialLearner& learner, NodeId node, Label label) {
  std::vector<double> margins(learner.num_classes());
  learner.margins(node, margins);
  const auto known = [&](std::size_t c) { return c < margins.size() && !std::isinf(margins[c]); };
  if (known(label)) return margins[label] <= 1e-9;
  return !known(1 - label) || margins[1 - label] >= -1e-9;
}

double mean_weight_of(const GraphView& graph) {
  double sum = 0;
  for (EdgeIndex arc = 0; arc < graph.neighbors.size(); ++arc) sum += graph.weight(arc);
  return sum / static_cast<double>(graph.neighbors.size());
}

TEST(Papers, the_perceptron_keeps_its_bound_in_random_games_with_label_noise) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const PlayedGraph game = random_binary(seed);
    const NodeId n = game.graph.num_nodes();
    const double mean = mean_weight_of(game.graph);
    const auto kernel = oracle::online_kernel(game.graph, {.b = 1});
    GraphPerceptron learner(game.graph, {}, {});
    std::mt19937_64 random(seed);
    double num_mistakes = 0, both = 0, largest = 0;  // both: mistakes where the label was not the true one
    for (int t = 0; t < 60; ++t) {
      const auto node = static_cast<NodeId>(random() % n);
      const bool is_noise = seed % 2 == 1 && random() % 8 == 0;
      const auto label = static_cast<Label>(game.labels[node] ^ (is_noise ? 1 : 0));
      if (is_mistake(learner, node, label)) {
        ++num_mistakes;
        both += is_noise;
        largest = std::max(largest, kernel(node, node));
      }
      learner.reveal(node, label);
    }
    const double z = (4 * num_cut(game.graph, game.labels) / mean + balance(game.labels)) * largest;
    EXPECT_LE(num_mistakes, 2 * both + z / 2 + std::sqrt(2 * both * z + z * z / 4) + 1e-9);  // eqs. 5 and 13
  }
}

TEST(Papers, projections_keep_their_bound_in_random_games) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const PlayedGraph game = random_binary(seed);
    const NodeId n = game.graph.num_nodes();
    // The least norm of functions that take the labels at the nodes played, one fewer than there are.
    const auto order = shuffled(n, seed);
    const auto kernel = oracle::online_kernel(game.graph, {});
    oracle::DenseMatrix gram(n - 1, n - 1), solution(n - 1, 1);
    std::vector<double> y(n - 1);
    for (NodeId i = 0; i + 1 < n; ++i) {
      y[i] = solution(i, 0) = game.labels[order[i]] == 1 ? 1 : -1;
      for (NodeId j = 0; j + 1 < n; ++j) gram(i, j) = kernel(order[i], order[j]);
    }
    oracle::eliminate(gram, solution);
    double norm = 0;
    for (NodeId i = 0; i + 1 < n; ++i) norm += y[i] * solution(i, 0);
    using Strategy = ProjectionOptions::Strategy;
    for (const Strategy strategy : {Strategy::last, Strategy::all}) {
      for (const bool cyclic : {false, true}) {
        for (const bool aggressive : {false, true}) {
          Projection learner(game.graph, {.strategy = strategy, .cyclic = cyclic, .aggressive = aggressive},
                             {});
          double count = 0, inverse = 0;
          for (NodeId i = 0; i + 1 < n; ++i) {
            if (is_mistake(learner, order[i], game.labels[order[i]])) {
              ++count;
              inverse += 1 / kernel(order[i], order[i]);
            }
            learner.reveal(order[i], game.labels[order[i]]);
          }
          EXPECT_LE(inverse, norm * (1 + 1e-6) + 1e-9) << count;  // theorem 3.2: |M| <= ||u||^2 |M| / inverse
        }
      }
    }
  }
}

TEST(Papers, pounce_keeps_its_bound_in_random_games) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const PlayedGraph game = random_binary(seed);
    const NodeId n = game.graph.num_nodes();
    const auto pinv = oracle::pseudoinverse(oracle::laplacian(game.graph));
    const double norm = 4 * num_cut(game.graph, game.labels);
    Pounce learner(game.graph, {}, {});
    const auto count = static_cast<double>(worst_mistakes(learner, game.labels, seed));
    for (NodeId u = 0; u < n; ++u) {
      for (NodeId v = 0; v < u; ++v) {
        // A cover by sets of this diameter, greedily: not fewer than the smallest, so the bound still holds.
        const double diameter = oracle::effective_resistance(pinv, u, v) * (1 + 1e-9);
        std::vector<std::vector<NodeId>> sets;
        for (NodeId i = 0; i < n; ++i) {
          const auto fits = std::ranges::find_if(sets, [&](const auto& set) {
            return std::ranges::all_of(
                set, [&](NodeId j) { return oracle::effective_resistance(pinv, i, j) <= diameter; });
          });
          if (fits == sets.end())
            sets.push_back({i});
          else
            fits->push_back(i);
        }
        EXPECT_LE(count, static_cast<double>(sets.size()) + norm * diameter + 1 + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace copse
