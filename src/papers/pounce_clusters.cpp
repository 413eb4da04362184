// SPDX-License-Identifier: Apache-2.0
// Herbster 2008 (talk "Exploiting cluster-structure to predict the labeling of a graph"): Pounce.
#include <array>
#include <cmath>

#include "papers/bounds.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/graph/build.hpp"
#include "copse/points/similarity_graph.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/random.hpp"
#include "papers/experiments.hpp"
#include "papers/findings.hpp"
#include "papers/lazy.hpp"
#include "papers/worst_order.hpp"

namespace copse {
namespace pounce_clusters {
namespace {

/// A graph, and labels 0 and 1 of the nodes that are played; kNoLabel elsewhere.
struct Task {
  Graph graph;
  std::vector<Label> labels;
};

// --- three clusters

void add_clique(EdgeChunk& edges, int first, int size) {
  for (int u = 0; u < size; ++u)
    for (int v = 0; v < u; ++v) {
      edges.u.push_back(static_cast<NodeId>(first + u));
      edges.v.push_back(static_cast<NodeId>(first + v));
    }
}

/// Two m-cliques with l = m - 1 edges between them and opposite labels; a third, of the first one's label,
/// that hangs on it by two edges.
Task three_clusters(int m) {
  EdgeChunk edges;
  const auto add = [&edges](int u, int v) {
    edges.u.push_back(static_cast<NodeId>(u));
    edges.v.push_back(static_cast<NodeId>(v));
  };
  for (int k = 0; k < 3; ++k) add_clique(edges, k * m, m);
  for (int k = 0; k < m - 1; ++k) add(k, m + k);
  for (int k = 0; k < 2; ++k) add(k, 2 * m + k);
  Task task{build_graph({edges}, 3 * static_cast<std::uint64_t>(m), {}, {}, "three clusters"), {}};
  for (int u = 0; u < 3 * m; ++u) task.labels.push_back(u >= m && u < 2 * m);
  return task;
}

/// 2 |u|^2 R + 2 for the perceptron with b = R, and N + |u|^2 rho + 1 with three sets of diameter 2 / (m - 1)
/// for Pounce. |u|^2 is 4 times the cut.
std::vector<Measurement> cluster_bounds(int m, const Task& task, const Execution& execution) {
  const double norm = 4.0 * (m - 1), diameter = resistance_diameter(task.graph, {}, execution).upper;
  return {{"perceptron_bound", double(m), 2 * norm * diameter + 2},
          {"pounce_bound", double(m), 3 + norm * 2 / (m - 1) + 1}};
}

// --- heat kernels

struct Plane {
  std::vector<std::array<float, 2>> points;
  std::vector<Label> labels;
  Points matrix() const {
    Buffer<float> values(points.size() * 2);
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t k = 0; k < 2; ++k) values[2 * i + k] = points[i][k];
    return {points.size(), 2, std::move(values)};
  }
};

/// Two rings, one in the other, each a component at the scale of its gaps (0.1), 1 apart.
Plane rings() {
  Plane plane;
  constexpr double kPi = 3.14159265358979323846;
  for (const int ring : {0, 1}) {
    const double radius = ring + 1;
    const int count = static_cast<int>(std::lround(2 * kPi * radius / 0.1));
    for (int i = 0; i < count; ++i) {
      const double angle = 2 * kPi * i / count;
      plane.points.push_back(
          {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))});
      plane.labels.push_back(static_cast<Label>(ring));
    }
  }
  return plane;
}

/// The complete graph of exp(-a d).
Graph heat_graph(const Plane& plane, double a) {
  SimilarityOptions options;
  options.rule = PairRule::complete;
  options.weighting = Weighting::heat;
  options.scale = 1 / a;
  return similarity_graph(plane.matrix(), options, {});
}

// --- the value of unlabelled data

constexpr double kGap = 0.2;       // between points of a column, where neighbours in the row are 1 apart
constexpr int kColumn = 5;         // points of a column
constexpr double kHeatScale = 20;  // a

/// A row of m points with random labels, 1 apart. `aligned`: columns of unlabelled points lead those of one
/// class up to a dense row and those of the other down to another, so that each class is one component at
/// scale 0.2. The slide shows this as a picture only: the distances are ours.
Plane labelled_row(int m, bool aligned, std::uint64_t seed, std::uint64_t index) {
  Plane plane;
  Stream coins(seed, Purpose::label_noise, index);
  for (int i = 0; i < m; ++i) {
    plane.points.push_back({static_cast<float>(i), 0});
    plane.labels.push_back(static_cast<Label>(coins.next64() >> 63));
  }
  if (!aligned) return plane;
  const auto add = [&plane](double x, double y) {
    plane.points.push_back({static_cast<float>(x), static_cast<float>(y)});
    plane.labels.push_back(kNoLabel);
  };
  for (int i = 0; i < m; ++i)
    for (int k = 1; k <= kColumn; ++k)
      add(i, (plane.labels[static_cast<std::size_t>(i)] == 1 ? kGap : -kGap) * k);
  for (const double side : {1.0, -1.0})
    for (int k = 0; k <= (m - 1) * 5; ++k) add(k / 5.0, side * kGap * (kColumn + 1));
  return plane;
}

// --- runs

constexpr std::uint64_t kWorstTries = 20;
constexpr const char* kPounce = "pounce";
constexpr const char* kPerceptron = "graph_perceptron";
constexpr const char* kMethods[] = {kPounce, kPerceptron};

std::unique_ptr<Learner> make_method(const std::string& method, const GraphView& graph,
                                     const Execution& execution) {
  if (method == kPounce) return learner_row(kPounce).make(graph, {}, execution);
  return learner_row(kPerceptron).make(graph, {{"bias", "resistance_diameter"}}, execution);
}

double mistakes(const std::string& method, const Task& task, const std::string& opponent,
                const Execution& execution) {
  const auto make = [&] { return make_method(method, task.graph, execution); };
  if (opponent == "worst")
    return static_cast<double>(worst_mistakes(make, task.labels, execution.seed, kWorstTries));
  const auto order = random_order(task.labels, execution.seed, std::stoull(opponent));
  return static_cast<double>(play_online(*make(), task.labels, order, execution).mistakes());
}

std::vector<int> cluster_sizes(bool quick) {
  return quick ? std::vector{10, 40} : std::vector{10, 20, 40, 80, 160};
}
std::vector<double> scales(bool quick) {
  return quick ? std::vector<double>{2, 20, 80} : std::vector<double>{1, 2, 5, 10, 20, 40, 80, 160};
}
std::vector<int> row_lengths(bool quick) { return quick ? std::vector{8, 16} : std::vector{8, 16, 32, 64}; }

std::vector<Trial> plan(const ExperimentSetup& setup, const Execution& execution) {
  std::vector<Trial> trials;
  const std::uint64_t seed = execution.seed;
  std::vector<std::string> opponents = {"worst"};
  for (int i = 0; i < (setup.quick ? 2 : 10); ++i) opponents.push_back(std::to_string(i));
  const auto add_games = [&](const std::string& part, double size, const Lazy<Task>& task) {
    for (const char* method : kMethods)
      for (const std::string& opponent : opponents)
        trials.push_back(
            {{part, fixed(size, 0), method, opponent}, [=](const Execution& e) -> std::vector<Measurement> {
               return {{"mistakes", size, mistakes(method, task(), opponent, e)}};
             }});
  };
  for (const int m : cluster_sizes(setup.quick)) {
    const Lazy<Task> task([m] { return three_clusters(m); });
    trials.push_back({{"three clusters", std::to_string(m), "bounds", "-"},
                      [m, task](const Execution& e) { return cluster_bounds(m, task(), e); }});
    add_games("three clusters", m, task);
  }
  for (const double a : scales(setup.quick))
    add_games("heat kernel", a, Lazy<Task>([a] {
                const Plane plane = rings();
                return Task{heat_graph(plane, a), plane.labels};
              }));
  for (const int m : row_lengths(setup.quick))
    for (const bool aligned : {true, false})
      for (int repeat = 0; repeat < (setup.quick ? 3 : 20); ++repeat)
        trials.push_back(
            {{aligned ? "aligned" : "row alone", std::to_string(m), kPounce, std::to_string(repeat)},
             [=](const Execution& e) -> std::vector<Measurement> {
               const auto index = static_cast<std::uint64_t>(repeat);
               const Plane plane = labelled_row(m, aligned, seed, index);
               const Task task{heat_graph(plane, kHeatScale), plane.labels};
               return {{"mistakes", double(m), mistakes(kPounce, task, std::to_string(repeat), e)}};
             }});
  return trials;
}

// --- the report

double worst(const Results& results, const char* part, const char* method, double at) {
  return results.mean("mistakes", {{"part", part}, {"method", method}, {"opponent", "worst"}}, at);
}

double in_random_orders(const Results& results, const char* part, const char* method, double at) {
  double sum = 0, count = 0;
  for (const std::string& opponent : results.levels("opponent", {{"part", part}, {"method", method}}))
    if (opponent != "worst")
      sum += results.mean("mistakes", {{"part", part}, {"method", method}, {"opponent", opponent}}, at),
          ++count;
  return sum / count;
}

std::string both(const Results& results, const char* part, const char* method, double at) {
  return fixed(worst(results, part, method, at), 0) + " (" +
         fixed(in_random_orders(results, part, method, at), 1) + ")";
}

ReportTable cluster_table(const Results& results) {
  ReportTable table{"Three clusters: mistakes in the worst order found (in random orders, mean)",
                    {"nodes of a clique, m", "pounce", "its bound", "graph_perceptron, b = R", "its bound"},
                    {},
                    {}};
  for (const double m : results.places("pounce_bound"))
    table.rows.push_back({fixed(m, 0), both(results, "three clusters", kPounce, m),
                          fixed(results.mean("pounce_bound", {}, m), 0),
                          both(results, "three clusters", kPerceptron, m),
                          fixed(results.mean("perceptron_bound", {}, m), 0)});
  return table;
}

ReportTable heat_table(const Results& results) {
  ReportTable table{
      "Two rings of points, 0.1 apart on a ring and 1 between rings: complete graph of exp(-a d)",
      {"a", "pounce", "graph_perceptron, b = R"},
      {},
      "worst order found (random orders, mean); for large a the bound of Pounce is C + 1 = 3: two "
      "components"};
  for (const double a : results.places("mistakes", {{"part", "heat kernel"}}))
    table.rows.push_back({fixed(a, 0), both(results, "heat kernel", kPounce, a),
                          both(results, "heat kernel", kPerceptron, a)});
  return table;
}

ReportTable value_table(const Results& results) {
  ReportTable table{"A row of m points with random labels: mistakes of Pounce, mean over draws and orders",
                    {"m", "aligned unlabelled points", "most in a draw", "row alone", "m / 2"},
                    {},
                    {}};
  for (const double m : results.places("mistakes", {{"part", "aligned"}})) {
    const std::vector<double> aligned = results.values("mistakes", {{"part", "aligned"}}, m);
    table.rows.push_back({fixed(m, 0), fixed(mean(aligned), 1),
                          fixed(*std::max_element(aligned.begin(), aligned.end()), 0),
                          fixed(results.mean("mistakes", {{"part", "row alone"}}, m), 1), fixed(m / 2, 0)});
  }
  return table;
}

ChartSeries reference(ChartSeries series) {
  series.is_reference = true;
  return series;
}

std::vector<Chart> charts(const Results& results) {
  Chart clusters{
      .title = "Three clusters, worst order found", .x_title = "nodes of a clique, m", .y_title = "mistakes"};
  Chart heat{.title = "Heat kernel of two rings, worst order found",
             .x_title = "scale a of exp(-a d)",
             .y_title = "mistakes"};
  for (const char* method : kMethods) {
    clusters.series.push_back(results.series(
        method, "mistakes", {{"part", "three clusters"}, {"method", method}, {"opponent", "worst"}}, false));
    heat.series.push_back(results.series(
        method, "mistakes", {{"part", "heat kernel"}, {"method", method}, {"opponent", "worst"}}, false));
  }
  clusters.series.push_back(reference(results.series("pounce's bound", "pounce_bound", {}, false)));
  clusters.series.push_back(reference(results.series("perceptron's bound", "perceptron_bound", {}, false)));
  clusters.log_x = clusters.log_y = heat.log_x = heat.log_y = true;
  ChartSeries limit{"pounce's bound for large a", {}, true};
  for (const double a : results.places("mistakes", {{"part", "heat kernel"}})) limit.points.push_back({a, 3});
  heat.series.push_back(limit);
  Chart value{.title = "The value of unlabelled data",
              .x_title = "labels in the row, m",
              .y_title = "mistakes of Pounce"};
  value.series.push_back(results.series("with aligned unlabelled points", "mistakes", {{"part", "aligned"}}));
  value.series.push_back(results.series("row alone", "mistakes", {{"part", "row alone"}}));
  ChartSeries half{"m / 2", {}, true}, three{"pounce's bound with them", {}, true};
  for (const double m : results.places("mistakes", {{"part", "aligned"}})) {
    half.points.push_back({m, m / 2});
    three.points.push_back({m, 3});
  }
  value.series.push_back(half);
  value.series.push_back(three);
  return {clusters, heat, value};
}

Finding bounded_on_clusters(const Results& results) {
  double most = 0;
  for (const double value : results.values("mistakes", {{"part", "three clusters"}, {"method", kPounce}},
                                           results.places("pounce_bound").back()))
    most = std::max(most, value);
  const std::vector<double> sizes = results.places("perceptron_bound");
  return {
      "On three clusters Pounce errs at most 20 times whatever their size, while the perceptron's bound "
      "grows with it.",
      most <= 20 ? Verdict::confirmed : Verdict::contradicted,
      "at m = " + fixed(sizes.back(), 0) + " at most " + fixed(most, 0) +
          " in any order; the perceptron's bound grows from " +
          fixed(results.mean("perceptron_bound", {}, sizes.front()), 0) + " to " +
          fixed(results.mean("perceptron_bound", {}, sizes.back()), 0) + ", its mistakes from " +
          fixed(worst(results, "three clusters", kPerceptron, sizes.front()), 0) + " to " +
          fixed(worst(results, "three clusters", kPerceptron, sizes.back()), 0) + "."};
}

Finding heat_limit(const Results& results) {
  const std::vector<double> all = results.places("mistakes", {{"part", "heat kernel"}});
  double from = 0;  // the smallest scale from which on no order costs more than 3
  for (auto a = all.rbegin(); a != all.rend(); ++a) {
    const auto values = results.values("mistakes", {{"part", "heat kernel"}, {"method", kPounce}}, *a);
    if (*std::max_element(values.begin(), values.end()) > 3) break;
    from = *a;
  }
  return {
      "There is a scale of the heat kernel beyond which Pounce errs at most C + 1 times, C the number of "
      "components that "
      "separate the classes.",
      from > 0 ? Verdict::confirmed : Verdict::contradicted,
      from > 0 ? "two rings: at most 3 mistakes in every order from a = " + fixed(from, 0) +
                     " on; at a = " + fixed(all.front(), 0) + " the worst order costs " +
                     fixed(worst(results, "heat kernel", kPounce, all.front()), 0) + "."
               : "not up to a = " + fixed(all.back(), 0) + "."};
}

Finding unlabelled_value(const Results& results) {
  double most = 0;
  for (const double m : results.places("mistakes", {{"part", "aligned"}}))
    for (const double value : results.values("mistakes", {{"part", "aligned"}}, m))
      most = std::max(most, value);
  const double m = results.places("mistakes", {{"part", "aligned"}}).back();
  const double alone = results.mean("mistakes", {{"part", "row alone"}}, m);
  return {
      "A randomly labelled row of m costs m / 2 mistakes without unlabelled data, and Pounce at most 3 with "
      "it.",
      most <= 3 && std::abs(alone - m / 2) <= 0.15 * m ? Verdict::confirmed
      : most <= 3                                      ? Verdict::mixed
                                                       : Verdict::contradicted,
      "m = " + fixed(m, 0) + ": " + fixed(alone, 1) + " without; with it at most " + fixed(most, 0) +
          " in any draw and order."};
}

Report report(const ExperimentSetup&, const Results& results) {
  Report report;
  report.title = "Pounce on clusters, heat kernels and unlabelled data";
  report.setting = {
      {"three clusters",
       "m-cliques; m - 1 edges between the first two, which differ in label; the third hangs by 2"},
      {"perceptron", "K = L^+ + R 11', R the resistance diameter"},
      {"rings", "radii 1 and 2, points 0.1 apart: 63 and 126; all pairs weighted exp(-a d)"},
      {"row",
       "m points 1 apart, labels by fair coins; columns of 5 points 0.2 apart lead to a row of points 0.2 "
       "apart above "
       "(+) or below (-); a = 20. The talk shows this as a picture: the distances are ours"},
      {"orders",
       "worst: always a node that is guessed wrong, while there is one, the most of 20 games; random orders "
       "besides"},
      {"first answer", "a learner that knows nothing gives none, which counts as a mistake"}};
  report.findings = {bounded_on_clusters(results), heat_limit(results), unlabelled_value(results)};
  report.tables = {cluster_table(results), heat_table(results), value_table(results)};
  report.charts = charts(results);
  const double largest = results.places("pounce_bound").back();
  report.agreement = confirmed_text(report.findings) + " With three clusters of " + fixed(largest, 0) +
                     " nodes the perceptron's bound is " +
                     fixed(results.mean("perceptron_bound", {}, largest), 0) +
                     ", and the worst order that we find costs it " +
                     fixed(worst(results, "three clusters", kPerceptron, largest), 0) + " mistakes, Pounce " +
                     fixed(worst(results, "three clusters", kPounce, largest), 0) + "; in random orders " +
                     fixed(in_random_orders(results, "three clusters", kPerceptron, largest), 1) + " and " +
                     fixed(in_random_orders(results, "three clusters", kPounce, largest), 1) + ".";
  return report;
}

}  // namespace
}  // namespace pounce_clusters

ExperimentRow pounce_clusters_experiment() {
  using namespace pounce_clusters;  // of its own: plan and report are in every one of these files
  return {
      "pounce-clusters",
      "Does Pounce pay for clusters only, whatever hangs between them, and what are unlabelled points worth?",
      "Herbster 2008, the talk's examples",
      "makes its graphs itself",
      {"part", "size", "method", "opponent"},
      plan,
      report};
}

}  // namespace copse
