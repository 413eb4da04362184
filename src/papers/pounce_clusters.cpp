// SPDX-License-Identifier: Apache-2.0
// Herbster 2008 (talk "Exploiting cluster-structure to predict the labeling of a graph"): Pounce.
#include <array>
#include <cmath>

#include "copse/graph/build.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/points/similarity_graph.hpp"
#include "copse/support/random.hpp"
#include "papers/opponents.hpp"

namespace copse {
namespace pounce_clusters {
namespace {

/// A graph, and labels 0 and 1 of the nodes that are played; kNoLabel elsewhere.
struct Task {
  Graph graph;
  std::vector<Label> labels;
};

// --- three clusters

/// Two m-cliques with l = m - 1 edges between them and opposite labels; a third, of the first one's label,
/// that hangs on it by two edges.
Task three_clusters(int m) {
  std::vector<Edge> edges;
  const auto add = [&edges](int u, int v) {
    edges.push_back({static_cast<NodeId>(u), static_cast<NodeId>(v), 1});
  };
  for (int first = 0; first < 3 * m; first += m)
    for (int u = 0; u < m; ++u)
      for (int v = 0; v < u; ++v) add(first + u, first + v);
  for (int k = 0; k < m - 1; ++k) add(k, m + k);
  for (int k = 0; k < 2; ++k) add(k, 2 * m + k);
  Task task{graph_from_pairs(static_cast<NodeId>(3 * m), edges), {}};
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
  void add(double x, double y, Label label) {
    points.push_back({static_cast<float>(x), static_cast<float>(y)});
    labels.push_back(label);
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
      plane.add(radius * std::cos(angle), radius * std::sin(angle), static_cast<Label>(ring));
    }
  }
  return plane;
}

/// The complete graph of exp(-a d).
Task heat_task(const Plane& plane, double a) {
  Buffer<float> values(plane.points.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = plane.points[i / 2][i % 2];
  SimilarityOptions options;
  options.rule = PairRule::complete;
  options.weighting = Weighting::heat;
  options.scale = 1 / a;
  return {similarity_graph(Points(plane.points.size(), 2, std::move(values)), options, {}), plane.labels};
}

// --- the value of unlabelled data

/// A row of m points with random labels, 1 apart. `aligned`: columns of unlabelled points lead those of one
/// class up to a dense row and those of the other down to another, so that each class is one component at
/// scale 0.2. The slide shows this as a picture only: the distances are ours.
Plane labelled_row(int m, bool aligned, std::uint64_t seed, std::uint64_t index) {
  constexpr double kGap = 0.2;  // between points of a column, where neighbours in the row are 1 apart
  constexpr int kColumn = 5;    // points of a column
  Plane plane;
  Stream coins(seed, Purpose::label_noise, index);
  for (int i = 0; i < m; ++i) plane.add(i, 0, static_cast<Label>(coins.next64() >> 63));
  if (!aligned) return plane;
  for (int i = 0; i < m; ++i)
    for (int k = 1; k <= kColumn; ++k)
      plane.add(i, (plane.labels[static_cast<std::size_t>(i)] == 1 ? kGap : -kGap) * k, kNoLabel);
  for (const double side : {1.0, -1.0})
    for (int k = 0; k <= (m - 1) * 5; ++k) plane.add(k / 5.0, side * kGap * (kColumn + 1), kNoLabel);
  return plane;
}

// --- runs

constexpr const char* kPounce = "pounce";
constexpr const char* kPerceptron = "graph_perceptron";
constexpr const char* kMethods[] = {kPounce, kPerceptron};
constexpr const char* kClusters = "three clusters";
constexpr const char* kHeat = "heat kernel";
constexpr const char* kAligned = "aligned";
constexpr const char* kAlone = "row alone";

double play(const std::string& method, const Task& task, const std::string& opponent,
            const Execution& execution) {
  const OptionValues options =
      method == kPerceptron ? OptionValues{{"bias", "resistance_diameter"}} : OptionValues{};
  const auto make = [&] { return learner_row(method).make(task.graph, options, execution); };
  return mistakes_against(opponent, make, task.labels, execution);
}

// --- what the report asks

double worst(const Results& results, const char* part, const char* method, double at) {
  return results.mean("mistakes", {{"part", part}, {"method", method}, {"opponent", "worst"}}, at);
}

std::string both(const Results& results, const char* part, const char* method, double at) {
  return mistakes_text(results, {{"part", part}, {"method", method}}, at);
}

std::vector<double> sizes_of(const Results& results, const char* part) {
  return results.places("mistakes", {{"part", part}});
}

/// The most mistakes of Pounce in any order of that size.
double most_of_pounce(const Results& results, const char* part, double at) {
  const auto all = results.values("mistakes", {{"part", part}, {"method", kPounce}}, at);
  return *std::max_element(all.begin(), all.end());
}

ReportTable cluster_table(const Results& results) {
  ReportTable table{"Three clusters: mistakes in the worst order found (in random orders, mean)",
                    {"nodes of a clique, m", "pounce", "its bound", "graph_perceptron, b = R", "its bound"},
                    {},
                    {}};
  for (const double m : results.places("pounce_bound"))
    table.rows.push_back(
        {fixed(m, 0), both(results, kClusters, kPounce, m), fixed(results.mean("pounce_bound", {}, m), 0),
         both(results, kClusters, kPerceptron, m), fixed(results.mean("perceptron_bound", {}, m), 0)});
  return table;
}

ReportTable heat_table(const Results& results) {
  ReportTable table{
      "Two rings of points, 0.1 apart on a ring and 1 between rings: complete graph of exp(-a d)",
      {"a", "pounce", "graph_perceptron, b = R"},
      {},
      "worst order found (random orders, mean); for large a the bound of Pounce is C + 1 = 3: two "
      "components"};
  for (const double a : sizes_of(results, kHeat))
    table.rows.push_back(table_row(fixed(a, 0), kMethods,
                                   [&](const char* method) { return both(results, kHeat, method, a); }));
  return table;
}

ReportTable value_table(const Results& results) {
  ReportTable table{"A row of m points with random labels: mistakes of Pounce, mean over draws and orders",
                    {"m", "aligned unlabelled points", "most in a draw", "row alone", "m / 2"},
                    {},
                    {}};
  for (const double m : sizes_of(results, kAligned))
    table.rows.push_back({fixed(m, 0), fixed(results.mean("mistakes", {{"part", kAligned}}, m), 1),
                          fixed(most_of_pounce(results, kAligned, m), 0),
                          fixed(results.mean("mistakes", {{"part", kAlone}}, m), 1), fixed(m / 2, 0)});
  return table;
}

std::vector<Chart> charts(const Results& results) {
  Chart clusters{.title = "Three clusters, worst order found",
                 .x_title = "nodes of a clique, m",
                 .y_title = "mistakes",
                 .log_x = true,
                 .log_y = true};
  Chart heat{.title = "Heat kernel of two rings, worst order found",
             .x_title = "scale a of exp(-a d)",
             .y_title = "mistakes",
             .log_x = true,
             .log_y = true};
  Chart value{.title = "The value of unlabelled data",
              .x_title = "labels in the row, m",
              .y_title = "mistakes of Pounce"};
  for (const auto& [chart, part] : {std::pair{&clusters, kClusters}, {&heat, kHeat}})
    for (const char* method : kMethods)
      chart->series.push_back(results.series(
          method, "mistakes", {{"part", part}, {"method", method}, {"opponent", "worst"}}, false));
  clusters.series.push_back(reference(results.series("pounce's bound", "pounce_bound", {}, false)));
  clusters.series.push_back(reference(results.series("perceptron's bound", "perceptron_bound", {}, false)));
  const auto three = [](double) { return 3.0; };
  heat.series.push_back(reference_line("pounce's bound for large a", sizes_of(results, kHeat), three));
  const std::vector<double> rows = sizes_of(results, kAligned);
  value.series = {results.series("with aligned unlabelled points", "mistakes", {{"part", kAligned}}),
                  results.series("row alone", "mistakes", {{"part", kAlone}}),
                  reference_line("m / 2", rows, [](double m) { return m / 2; }),
                  reference_line("pounce's bound with them", rows, three)};
  return {clusters, heat, value};
}

Finding bounded_on_clusters(const Results& results) {
  const double least = results.places("perceptron_bound").front(),
               most = results.places("perceptron_bound").back();
  const double mistakes = most_of_pounce(results, kClusters, most);
  const auto bound = [&](double m) { return fixed(results.mean("perceptron_bound", {}, m), 0); };
  const auto cost = [&](double m) { return fixed(worst(results, kClusters, kPerceptron, m), 0); };
  return {
      "On three clusters Pounce errs at most 20 times whatever their size, while the perceptron's bound "
      "grows with it.",
      verdict_of(mistakes <= 20),
      filled("at m = {} at most {} in any order; the perceptron's bound grows from {} to {}, its mistakes "
             "from {} to {}.",
             {fixed(most, 0), fixed(mistakes, 0), bound(least), bound(most), cost(least), cost(most)})};
}

Finding heat_limit(const Results& results) {
  const std::vector<double> all = sizes_of(results, kHeat);
  double from = 0;  // the smallest scale from which on no order costs more than 3
  for (auto a = all.rbegin(); a != all.rend() && most_of_pounce(results, kHeat, *a) <= 3; ++a) from = *a;
  return {
      "There is a scale of the heat kernel beyond which Pounce errs at most C + 1 times, C the number of "
      "components that separate the classes.",
      verdict_of(from > 0),
      from > 0 ? filled("two rings: at most 3 mistakes in every order from a = {} on; at a = {} the worst "
                        "order costs {}.",
                        {fixed(from, 0), fixed(all.front(), 0),
                         fixed(worst(results, kHeat, kPounce, all.front()), 0)})
               : "not up to a = " + fixed(all.back(), 0) + "."};
}

Finding unlabelled_value(const Results& results) {
  double most = 0;
  for (const double m : sizes_of(results, kAligned))
    most = std::max(most, most_of_pounce(results, kAligned, m));
  const double m = sizes_of(results, kAligned).back();
  const double alone = results.mean("mistakes", {{"part", kAlone}}, m);
  return {
      "A randomly labelled row of m costs m / 2 mistakes without unlabelled data, and Pounce at most 3 with "
      "it.",
      verdict_of(most <= 3 && std::abs(alone - m / 2) <= 0.15 * m, most > 3),
      filled("m = {}: {} without; with it at most {} in any draw and order.",
             {fixed(m, 0), fixed(alone, 1), fixed(most, 0)})};
}

std::string agreement(const Results& results, const std::vector<Finding>& findings) {
  const double m = results.places("pounce_bound").back();
  const auto random = [&](const char* method) {
    return fixed(mean(in_random_orders(results, {{"part", kClusters}, {"method", method}}, m)));
  };
  return filled(
      "{} With three clusters of {} nodes the perceptron's bound is {}, and the worst order that we find "
      "costs it {} mistakes, Pounce {}; in random orders {} and {}.",
      {confirmed_text(findings), fixed(m, 0), fixed(results.mean("perceptron_bound", {}, m), 0),
       fixed(worst(results, kClusters, kPerceptron, m), 0), fixed(worst(results, kClusters, kPounce, m), 0),
       random(kPerceptron), random(kPounce)});
}

}  // namespace
}  // namespace pounce_clusters

std::vector<Trial> plan_pounce_clusters(const ExperimentSetup& setup, const Execution& execution) {
  using namespace pounce_clusters;
  using Sizes = std::vector<int>;
  std::vector<Trial> trials;
  const auto add = [&](const char* part, int size, const Lazy<Task>& task) {
    add_games(trials, part, size, kMethods, worst_and_random(setup.quick ? 2 : 10),
              [task](const std::string& method, const std::string& opponent, const Execution& e) {
                return play(method, task(), opponent, e);
              });
  };
  for (const int m : setup.quick ? Sizes{10, 40} : Sizes{10, 20, 40, 80, 160}) {
    const Lazy<Task> task([m] { return three_clusters(m); });
    trials.push_back({{kClusters, std::to_string(m), "bounds", "-"},
                      [m, task](const Execution& e) { return cluster_bounds(m, task(), e); }});
    add(kClusters, m, task);
  }
  for (const int a : setup.quick ? Sizes{2, 20, 80} : Sizes{1, 2, 5, 10, 20, 40, 80, 160})
    add(kHeat, a, Lazy<Task>([a] { return heat_task(rings(), a); }));
  for (const int m : setup.quick ? Sizes{8, 16} : Sizes{8, 16, 32, 64})
    for (const bool aligned : {true, false})
      for (int repeat = 0; repeat < (setup.quick ? 3 : 20); ++repeat)
        add_games(trials, aligned ? kAligned : kAlone, m, std::array{kPounce}, {std::to_string(repeat)},
                  [=, seed = execution.seed](const std::string& method, const std::string& order,
                                             const Execution& e) {
                    const Plane plane = labelled_row(m, aligned, seed, static_cast<std::uint64_t>(repeat));
                    return play(method, heat_task(plane, 20), order, e);
                  });
  return trials;
}

Report report_pounce_clusters(const ExperimentSetup&, const Results& results) {
  using namespace pounce_clusters;
  Report report;
  report.title = "Pounce on clusters, heat kernels and unlabelled data";
  report.setting = {
      {"three clusters",
       "m-cliques; m - 1 edges between the first two, which differ in label; the third hangs by 2"},
      {"perceptron", "K = L^+ + R 11', R the resistance diameter"},
      {"rings", "radii 1 and 2, points 0.1 apart: 63 and 126; all pairs weighted exp(-a d)"},
      {"row",
       "m points 1 apart, labels by fair coins; columns of 5 points 0.2 apart lead to a row of points 0.2 "
       "apart above (+) or below (-); a = 20. The talk shows this as a picture: the distances are ours"},
      {"orders",
       "worst: always a node that is guessed wrong, while there is one, the most of 20 games; random orders "
       "besides"},
      {"first answer", "a learner that knows nothing gives none, which counts as a mistake"}};
  report.findings = {bounded_on_clusters(results), heat_limit(results), unlabelled_value(results)};
  report.tables = {cluster_table(results), heat_table(results), value_table(results)};
  report.charts = charts(results);
  report.agreement = agreement(results, report.findings);
  return report;
}

}  // namespace copse
