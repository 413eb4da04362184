// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/laplacian_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "oracle/dense_laplacian.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

constexpr SolveMethod kMethods[] = {SolveMethod::automatic, SolveMethod::jacobi,
                                    SolveMethod::approximate_cholesky, SolveMethod::approximate_cholesky2,
                                    SolveMethod::exact};

std::vector<double> random_values(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(size);
  for (double& value : values) value = static_cast<double>(random() % 2000001) / 1e6 - 1;
  return values;
}

std::vector<NodeId> random_nodes(NodeId num_nodes, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(static_cast<NodeId>(random() % num_nodes));
  return nodes;
}

struct Solved {
  std::vector<double> x;
  SolveReport report;
};

Solved solve(const GraphView& graph, const std::vector<double>& b, const SolveOptions& options,
             std::size_t columns = 1, const std::vector<NodeId>& grounded = {},
             const Execution& execution = {}) {
  Solved solved;
  solved.x.assign(b.size(), 17);  // what was there before must not matter
  LaplacianSolver solver(graph, options, execution, grounded);
  solved.report = solver.solve(b, solved.x, columns);
  return solved;
}

/// Shallow, so that nothing tells beforehand that the degrees take long: expanders on a star, each by an edge
/// that is a thousandth of its others.
Graph bridged_expanders() {
  constexpr NodeId kParts = 40, kSize = 100;
  std::vector<Edge> edges;
  std::mt19937_64 random(4);
  for (NodeId part = 0; part < kParts; ++part) {
    for (NodeId i = 0; i < kSize; ++i)
      for (int k = 0; k < 4; ++k) {
        const auto j = static_cast<NodeId>(random() % kSize);
        if (j != i) edges.push_back({part * kSize + i, part * kSize + j, 1});
      }
    if (part > 0) edges.push_back({0, part * kSize, 1e-3F});
  }
  return graph_from_edges(kParts * kSize, edges);
}

void expect_twin(const GraphView& graph, std::size_t columns, const std::vector<NodeId>& grounded,
                 std::uint64_t seed) {
  const auto b = random_values(graph.num_nodes() * columns, seed);
  const auto wanted = oracle::multiply(oracle::grounded_pseudoinverse(graph, grounded), b, columns);
  for (const SolveMethod method : kMethods) {
    SCOPED_TRACE("method " + std::to_string(static_cast<int>(method)));
    const Solved solved = solve(graph, b, {.method = method, .tolerance = 1e-14}, columns, grounded);
    EXPECT_LE(oracle::relative_difference(solved.x, wanted, columns), 1e-9);
    EXPECT_LE(solved.report.backward_error, 1e-12);
  }
}

TEST(LaplacianSolver, every_method_agrees_with_the_dense_pseudoinverse_on_connected_graphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    expect_twin(oracle::random_connected_graph(
                    {.num_nodes = 60, .num_edges = 70 + 20 * seed, .seed = seed, .weighted = seed % 2 == 0}),
                1 + seed % 9, {}, seed);
  }
}

TEST(LaplacianSolver, every_method_agrees_with_the_dense_pseudoinverse_on_graphs_of_several_components) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    expect_twin(oracle::random_graph(
                    {.num_nodes = 70, .num_edges = 50 + 5 * seed, .seed = seed, .weighted = seed % 2 == 0}),
                3, {}, seed);
  }
}

TEST(LaplacianSolver, every_method_agrees_with_the_dense_inverse_on_grounded_systems) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 60, .num_edges = 55 + 10 * seed, .seed = seed, .weighted = seed % 2 == 0});
    expect_twin(graph, 2, random_nodes(60, 1 + seed, seed), seed);
  }
}

TEST(LaplacianSolver, every_method_agrees_with_the_dense_pseudoinverse_on_every_kind_of_small_graph) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    expect_twin(graph, 2, {}, 1);
    expect_twin(graph, 1, {0}, 2);
  }
}

TEST(LaplacianSolver, factors_exactly_of_its_own_accord_where_that_fills_little) {
  // Cliques in a row, every two joined by an edge: too many nodes to be tiny, slow for iterations.
  constexpr NodeId kCliques = 60, kSize = 10;
  std::vector<Edge> edges;
  for (NodeId c = 0; c < kCliques; ++c) {
    for (NodeId i = 0; i < kSize; ++i) {
      for (NodeId j = i + 1; j < kSize; ++j) edges.push_back({c * kSize + i, c * kSize + j, 1});
    }
    if (c > 0) edges.push_back({c * kSize - 1, c * kSize, 1});
  }
  const Graph row = graph_from_edges(kCliques * kSize, edges);
  const auto b = random_values(std::size_t{kCliques * kSize} * 3, 5);
  const Solved solved = solve(row, b, {.tolerance = 1e-12}, 3);
  EXPECT_EQ(solved.report.method, SolveMethod::exact);
  EXPECT_LE(
      oracle::relative_difference(solved.x, oracle::multiply(oracle::grounded_pseudoinverse(row), b, 3), 3),
      1e-9);
  const Graph expander = oracle::random_connected_graph({.num_nodes = 2000, .num_edges = 8000, .seed = 3});
  EXPECT_EQ(solve(expander, random_values(2000, 6), {}).report.method, SolveMethod::jacobi);
}

TEST(LaplacianSolver, takes_the_degrees_for_an_expander_however_few_nodes_are_grounded) {
  // The constant has a tiny eigenvalue there, which conjugate gradients are done with in a few iterations.
  const Graph expander = oracle::random_connected_graph({.num_nodes = 20000, .num_edges = 100000, .seed = 3});
  for (const std::size_t count : {1, 2, 30, 300}) {
    const auto grounded = random_nodes(20000, count, count);
    for (const bool is_balanced : {false, true}) {
      // Weights to the grounded nodes, as a harmonic problem has them; and with their constant taken out.
      std::vector<double> b(20000), to_ground(20000);
      for (const NodeId u : grounded) {
        for (const NodeId v : expander.view().neighbors_of(u)) {
          b[v] += u % 2;
          to_ground[v] += 1;
        }
      }
      for (const NodeId u : grounded) b[u] = to_ground[u] = 0;
      double sum = 0, ground = 0;
      for (std::size_t u = 0; u < b.size(); ++u) sum += b[u], ground += to_ground[u];
      if (is_balanced)
        for (std::size_t u = 0; u < b.size(); ++u) b[u] -= sum / ground * to_ground[u];
      const Solved solved = solve(expander, b, {}, 1, grounded);
      EXPECT_EQ(solved.report.method, SolveMethod::jacobi) << count << ' ' << is_balanced;
      EXPECT_TRUE(solved.report.converged);
    }
  }
}

TEST(LaplacianSolver, factors_a_grid_exactly_for_many_columns) {
  const Graph grid = oracle::grid(150, 150);
  const std::size_t n = 150 * 150;
  const auto b = random_values(n * 9, 5);
  const Solved solved = solve(grid, b, {.tolerance = 1e-10}, 9);
  EXPECT_EQ(solved.report.method, SolveMethod::exact);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 1);
}

TEST(LaplacianSolver, a_column_is_the_same_bits_alone_or_beside_others_for_a_named_method) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 300, .num_edges = 900, .seed = 5, .weighted = true});
  const auto b = random_values(300 * 11, 3);
  for (const SolveMethod method :
       {SolveMethod::jacobi, SolveMethod::approximate_cholesky, SolveMethod::exact}) {
    const Solved together = solve(graph, b, {.method = method}, 11);
    for (const std::size_t column : {0, 7, 10}) {
      std::vector<double> own;
      for (std::size_t u = 0; u < 300; ++u) own.push_back(b[u * 11 + column]);
      const Solved alone = solve(graph, own, {.method = method});
      for (std::size_t u = 0; u < 300; ++u) ASSERT_EQ(alone.x[u], together.x[u * 11 + column]) << column;
    }
  }
}

TEST(LaplacianSolver, an_answer_does_not_depend_on_earlier_ones) {
  const Graph slow = bridged_expanders(),
              fast = oracle::random_connected_graph({.num_nodes = 2000, .num_edges = 8000, .seed = 3});
  for (const Graph* graph : {&slow, &fast}) {
    const std::size_t n = graph->num_nodes();
    for (const std::size_t expected : {std::size_t{1}, kManySolves}) {
      const auto wide = random_values(n * 8, 1), b = random_values(n, 2);
      LaplacianSolver fresh(*graph, SolveOptions{}.expecting(expected), {});
      LaplacianSolver used(*graph, SolveOptions{}.expecting(expected), {});
      std::vector<double> x(n), y(n), before(n * 8);
      used.solve(wide, before, 8);
      for (int i = 0; i < 3; ++i) used.solve(random_values(n, 3), x);
      fresh.solve(b, x);
      used.solve(b, y);
      EXPECT_EQ(x, y) << n << ' ' << expected;
    }
  }
}

TEST(LaplacianSolver, a_column_is_the_same_bits_alone_or_beside_others_where_many_are_expected) {
  const Graph slow = bridged_expanders();
  const std::size_t n = slow.num_nodes();
  const SolveOptions options = SolveOptions{}.expecting(kManySolves);
  const auto b = random_values(n * 8, 3);
  const Solved together = solve(slow, b, options, 8);
  std::vector<double> own;
  for (std::size_t u = 0; u < n; ++u) own.push_back(b[u * 8 + 5]);
  const Solved alone = solve(slow, own, options);
  for (std::size_t u = 0; u < n; ++u) ASSERT_EQ(alone.x[u], together.x[u * 8 + 5]) << u;
}

TEST(LaplacianSolver, the_number_of_threads_changes_no_bit) {
  const Graph graph = oracle::grid(200, 210);
  const auto b = random_values(200 * 210 * 3, 3);
  const auto grounded = random_nodes(200 * 210, 300, 1);
  for (const double tolerance : {1e-6, 1e-4}) {
    for (const SolveMethod method : kMethods) {
      const SolveOptions options{.method = method, .tolerance = tolerance};
      const Solved one = solve(graph, b, options, 3, grounded);
      const Solved three = solve(graph, b, options, 3, grounded, {.threads = 3});
      EXPECT_EQ(one.x, three.x) << static_cast<int>(method);
      EXPECT_TRUE(one.report.converged);
    }
  }
}

TEST(LaplacianSolver, the_relative_residual_is_small_where_it_is_the_measure) {
  // A star of stars and weights far apart: the scaled norms are far from the plain ones.
  std::mt19937_64 random(4);
  std::vector<Edge> edges;
  for (NodeId u = 1; u < 5000; ++u)
    edges.push_back({u, static_cast<NodeId>(random() % (1 + u / 50)),
                     static_cast<Weight>(std::exp2(static_cast<double>(random() % 12)))});
  for (NodeId u = 200; u < 5000; ++u) edges.push_back({u, u - 1, 1.0F});
  const Graph graph = graph_from_edges(5000, edges);
  const auto b = random_values(5000 * 3, 3);
  const auto grounded = random_nodes(5000, 30, 1);
  for (const SolveMethod method : kMethods) {
    for (const double tolerance : {1e-3, 1e-4, 1e-8}) {
      const SolveOptions options{
          .method = method, .tolerance = tolerance, .measure = SolveMeasure::relative_residual};
      const Solved solved = solve(graph, b, options, 3, grounded);
      EXPECT_TRUE(solved.report.converged) << static_cast<int>(method) << " " << tolerance;
      for (std::size_t c = 0; c < 3; ++c) {
        double rr = 0, bb = 0;
        for (NodeId u = 0; u < 5000; ++u) {
          if (std::find(grounded.begin(), grounded.end(), u) != grounded.end()) continue;
          double row = b[u * 3 + c];
          bb += row * row;
          for (EdgeIndex arc = graph.view().offsets[u]; arc < graph.view().offsets[u + 1]; ++arc)
            row -= graph.view().weight(arc) *
                   (solved.x[u * 3 + c] - solved.x[graph.view().neighbors[arc] * 3 + c]);
          rr += row * row;
        }
        EXPECT_LE(std::sqrt(rr / bb), tolerance * (1 + 1e-6));
      }
    }
  }
}

TEST(LaplacianSolver, few_digits_are_kept_on_floats_as_on_doubles) {
  for (const Weight unit : {1.0F, 1e-37F, 1e37F}) {  // the last two are at the end of the range of floats
    SCOPED_TRACE(unit);
    auto edges =
        oracle::random_connected_edges({.num_nodes = 3000, .num_edges = 12'000, .seed = 3, .weighted = true});
    for (Edge& edge : edges) edge.weight *= unit;
    const Graph graph = graph_from_edges(3000, edges);
    const auto grounded = random_nodes(3000, 30, 1);
    const auto b = random_values(3000 * 4, 3);
    for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
      const Solved solved = solve(graph, b, {.tolerance = tolerance}, 4, grounded);
      EXPECT_TRUE(solved.report.converged);
      EXPECT_LE(solved.report.backward_error, tolerance);
      EXPECT_EQ(solved.report.method, SolveMethod::jacobi);
    }
  }
}

TEST(LaplacianSolver, right_hand_sides_may_be_overwritten_by_the_answer) {
  const Graph graph = oracle::grid(20, 20);
  auto b = random_values(400 * 10, 3);
  const Solved apart = solve(graph, b, {}, 10);
  LaplacianSolver solver(graph, {}, {});
  solver.solve(b, b, 10);
  EXPECT_EQ(apart.x, b);
}

TEST(LaplacianSolver, no_nodes_no_columns_and_no_free_nodes_are_fine) {
  std::vector<double> none;
  for (const SolveMethod method : kMethods) {
    const SolveOptions options{.method = method};
    EXPECT_TRUE(solve(graph_from_pairs(0, {}), none, options).report.converged);
    EXPECT_TRUE(solve(oracle::path(5), none, options, 0).report.converged);
    const Solved fixed = solve(oracle::path(3), {1, 2, 3}, options, 1, {0, 1, 2, 1});
    EXPECT_TRUE(fixed.report.converged);
    EXPECT_EQ(fixed.x, std::vector<double>(3));
    EXPECT_EQ(solve(oracle::single_node(), {3}, options).x, std::vector<double>(1));
    EXPECT_EQ(solve(oracle::isolated_nodes(3), {3, 1, 2}, options).x, std::vector<double>(3));
    const Solved zero = solve(oracle::grid(4, 4), std::vector<double>(16), options);
    EXPECT_EQ(zero.x, std::vector<double>(16));
    EXPECT_TRUE(zero.report.converged);
    EXPECT_EQ(zero.report.backward_error, 0);
  }
}

TEST(LaplacianSolver, a_constant_right_hand_side_of_a_singular_system_gives_zero) {
  for (const SolveMethod method : kMethods) {
    const Solved solved = solve(oracle::grid(5, 5), std::vector<double>(25, 4.0), {.method = method});
    for (const double value : solved.x) EXPECT_NEAR(value, 0, 1e-12);
    EXPECT_TRUE(solved.report.converged);
  }
}

TEST(LaplacianSolver, wrong_calls_say_what_is_wrong) {
  const Graph graph = oracle::path(3);
  const std::vector<double> nan{1, std::numeric_limits<double>::quiet_NaN(), 0}, four(4);
  EXPECT_THROW(solve(graph, nan, {}), UsageError);
  EXPECT_THROW(solve(graph, {1, std::numeric_limits<double>::infinity(), 0}, {}), UsageError);
  EXPECT_THROW(solve(graph, four, {}), UsageError);
  EXPECT_THROW(solve(graph, {1, 0, -1}, {.tolerance = 0}), UsageError);
  EXPECT_THROW(solve(graph, {1, 0, -1}, {.tolerance = std::numeric_limits<double>::quiet_NaN()}), UsageError);
  EXPECT_THROW(solve(graph, {1, 0, -1}, {.max_iterations = 0}), UsageError);
  EXPECT_THROW(solve(graph, {1, 0, -1}, {}, 1, {3}), UsageError);
}

TEST(LaplacianSolver, huge_and_tiny_right_hand_sides_do_not_overflow) {
  const Graph graph = oracle::path(4);
  for (const double scale : {1e-300, 1e300}) {
    for (const SolveMethod method : kMethods) {
      const Solved solved = solve(graph, {scale, 0, 0, -scale}, {.method = method, .tolerance = 1e-12});
      EXPECT_NEAR(solved.x[0] / scale, 1.5, 1e-9);
      EXPECT_NEAR(solved.x[3] / scale, -1.5, 1e-9);
    }
  }
}

/// Two grids joined by one edge of weight `bridge`.
Graph bridged_grids(NodeId side, Weight bridge) {
  std::vector<Edge> edges;
  for (NodeId part = 0; part < 2; ++part) {
    for (NodeId r = 0; r < side; ++r) {
      for (NodeId c = 0; c < side; ++c) {
        const NodeId u = part * side * side + r * side + c;
        if (c + 1 < side) edges.push_back({u, u + 1, 1});
        if (r + 1 < side) edges.push_back({u, u + side, 1});
      }
    }
  }
  edges.push_back({side * side - 1, side * side, bridge});
  return graph_from_edges(2 * side * side, edges);
}

TEST(LaplacianSolver, a_bridge_twelve_orders_lighter_carries_what_it_must) {
  const NodeId side = 12, n = 2 * side * side;
  const Graph graph = bridged_grids(side, 1e-12F);
  std::vector<double> b(n);
  b[3] = 1;
  b[n - 5] = -1;
  const double bridge = static_cast<double>(1e-12F);
  for (const SolveMethod method : kMethods) {
    SCOPED_TRACE(static_cast<int>(method));
    const Solved solved = solve(graph, b, {.method = method, .tolerance = 1e-12});
    for (const double value : solved.x) ASSERT_TRUE(std::isfinite(value));
    if (!solved.report.converged) continue;  // said so: that is the promise
    EXPECT_LE(solved.report.backward_error, 1e-12);
    if (method == SolveMethod::approximate_cholesky) {
      // All the current crosses the bridge: the potential drops there by 1 / weight.
      const double drop = solved.x[side * side - 1] - solved.x[side * side];
      EXPECT_NEAR(drop * bridge, 1, 1e-3);
    }
  }
}

TEST(LaplacianSolver, too_few_iterations_are_reported_not_hidden) {
  const Graph graph = oracle::grid(60, 60);
  const auto b = random_values(3600, 1);
  const Solved solved =
      solve(graph, b, {.method = SolveMethod::jacobi, .tolerance = 1e-12, .max_iterations = 5});
  EXPECT_FALSE(solved.report.converged);
  EXPECT_TRUE(solved.report.stagnated);
  EXPECT_EQ(solved.report.iterations, 5);
  EXPECT_GT(solved.report.backward_error, 1e-12);
  EXPECT_FALSE(solved.report.note().empty());
}

class StopAtOnce final : public Progress {
 public:
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return true; }
};

TEST(LaplacianSolver, stops_when_asked_to) {
  StopAtOnce stop;
  const Graph graph = oracle::grid(60, 60);
  const auto b = random_values(3600, 1);
  for (const SolveMethod method : kMethods)
    EXPECT_THROW(solve(graph, b, {.method = method}, 1, {}, {.progress = &stop}), Cancelled);
}

}  // namespace
}  // namespace copse
