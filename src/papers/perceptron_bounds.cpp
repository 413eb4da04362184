// SPDX-License-Identifier: Apache-2.0
// Herbster & Pontil 2006: graphs on which their bounds say something that others' do not.
#include <cmath>

#include "papers/bounds.hpp"
#include "copse/evaluation/protocols.hpp"
#include "papers/generators.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/trees/sample.hpp"
#include "papers/experiments.hpp"
#include "papers/findings.hpp"
#include "papers/lazy.hpp"
#include "papers/worst_order.hpp"

namespace copse {
namespace perceptron_bounds {
namespace {

/// A graph of a family, the labelling to learn, and what the paper says about it.
struct Instance {
  GeneratedGraph made;
  double cut = 0;              // of the labelling that the bound compares with
  double num_flips = 0;        // where the labelling to learn differs from that
  double bias = 1, ridge = 0;  // b and c of the kernel
};

struct Family {
  std::string name, parameter;  // "thick barbell", "bridges"
  std::vector<int> sizes, quick_sizes;
  Instance (*make)(int size, const Execution& execution);
  double (*paper_bound)(int size);  // the closed form that the paper gives for the perceptron
};

constexpr int kClique = 40;
constexpr std::uint64_t kWorstTries = 20;

Instance barbell(int m, const Execution& execution) {
  return {generate_any_graph("barbell", {{"clique", m}}, execution), 1};
}
Instance noisy_barbell(int k, const Execution& execution) {
  return {generate_any_graph("noisy_barbell", {{"clique", kClique}, {"noisy", k}}, execution), 1, double(k), 1,
          1};
}
Instance thick_barbell(int l, const Execution& execution) {
  return {generate_any_graph("thick_barbell", {{"clique", kClique}, {"bridges", l}}, execution), double(l), 0,
          1 / (4.0 * 2 * kClique)};
}
Instance octopus(int m, const Execution& execution) {
  return {generate_any_graph("octopus", {{"head", 3 * m + 1}, {"tentacles", m}, {"length", 3}}, execution), 1};
}
Instance line(int n, const Execution& execution) {
  Instance instance{generate_any_graph("path", {{"nodes", n}}, execution), 1};
  Labels& labels = instance.made.labels;
  const Label first = labels.classes.intern("+1"), second = labels.classes.intern("-1");
  for (int u = 0; u < n; ++u) labels.of_node[static_cast<std::size_t>(u)] = u < n / 3 ? first : second;
  return instance;
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"barbell",
       "nodes of a clique, m",
       {5, 10, 20, 40, 80, 160},
       {5, 10, 20, 40},
       barbell,
       [](int) { return 16.0; }},  // eq. 16 with the diameter 3
      {"noisy barbell",
       "flipped labels, k",
       {0, 1, 2, 4, 8, 16},
       {0, 2, 8},
       noisy_barbell,
       [](int k) { return (4.0 + 4 * k) * (3 + 1 + 1); }},  // eq. 15 with b = c = 1: O(k)
      {"thick barbell",
       "bridges, l",
       {1, 2, 4, 8, 16, 32},
       {1, 4, 16},
       thick_barbell,
       [](int) { return 20.0; }},
      {"octopus",
       "tentacles, m",
       {5, 10, 20, 40, 80},
       {5, 10, 20},
       octopus,
       [](int) { return 10.0 * 3 + 5; }},  // 10 p + 5
      {"line",
       "nodes, n",
       {16, 32, 64, 128, 256, 512},
       {16, 64, 256},
       line,
       [](int n) { return 5.0 * n + 5; }},
  };
  return all;
}

constexpr const char* kPerceptron = "graph_perceptron";
constexpr const char* kGeodesic = "nearest neighbour, geodesic";
constexpr const char* kResistance = "nearest neighbour, resistance";
constexpr const char* kHalving = "halving";
constexpr const char* kMethods[] = {kPerceptron, kGeodesic, kResistance, kHalving};

std::unique_ptr<Learner> make_method(const std::string& method, const Instance& instance,
                                     const Execution& execution) {
  const GraphView& graph = instance.made.graph;
  if (method == kPerceptron)
    return learner_row(kPerceptron)
        .make(graph, {{"bias", std::to_string(instance.bias)}, {"diagonal", std::to_string(instance.ridge)}},
              execution);
  if (method == kHalving) return learner_row(kHalving).make(graph, {}, execution);
  return learner_row("nearest_neighbor")
      .make(graph, {{"distance", method == kGeodesic ? "geodesic" : "resistance"}}, execution);
}

/// c_1, tip 1, c_2, tip 2, ...: the sequence of the paper on which nearest neighbours err at every tip.
std::vector<NodeId> octopus_sequence(const GraphView& graph) {
  std::vector<NodeId> order;
  const NodeId m = (graph.num_nodes() - 2) / 6;  // 3 m + 1 of the head, the root, 3 m of the tentacles
  const NodeId root = 3 * m + 1;
  std::vector<NodeId> tips;
  for (NodeId u = root + 1; u < graph.num_nodes(); ++u)
    if (graph.degree(u) == 1) tips.push_back(u);
  for (NodeId i = 0; i < m; ++i) {
    order.push_back(i);
    order.push_back(tips.at(i));
  }
  return order;
}

std::vector<Measurement> play(const Family& family, int size, const Instance& instance,
                              const std::string& method, const std::string& opponent,
                              const Execution& execution) {
  const auto make = [&] { return make_method(method, instance, execution); };
  const std::vector<Label>& labels = instance.made.labels.of_node;
  std::uint64_t mistakes = 0;
  if (family.name == "octopus") {
    mistakes = play_online(*make(), labels, octopus_sequence(instance.made.graph), execution).mistakes();
  } else if (opponent == "worst") {
    mistakes = worst_mistakes(make, labels, execution.seed, kWorstTries);
  } else {
    const std::uint64_t index = std::stoull(opponent);
    mistakes =
        play_online(*make(), labels, random_order(labels, execution.seed, index), execution).mistakes();
  }
  return {{"mistakes", double(size), double(mistakes)}};
}

/// Eq. 15 for this graph: with its true resistance diameter, and b and c as played.
std::vector<Measurement> bound_of(const Family& family, int size, const Instance& instance,
                                  const Execution& execution) {
  const GraphView& graph = instance.made.graph;
  const double diameter = resistance_diameter(graph, {}, execution).upper;
  double sum = 0;
  for (const Label label : instance.made.labels.of_node) sum += label == 0 ? 1 : -1;
  // The labelling compared with has the flipped nodes as their clique has them.
  const double balance = std::pow((std::abs(sum) - 2 * instance.num_flips) / graph.num_nodes(), 2);
  const double z = (4 * instance.cut + balance / instance.bias +
                    (instance.num_flips > 0 ? 4 * instance.num_flips / instance.ridge : 0)) *
                   (diameter + instance.bias + instance.ridge);
  std::vector<Measurement> measured = {{"bound", double(size), z},
                                       {"resistance_diameter", double(size), diameter},
                                       {"paper_bound", double(size), family.paper_bound(size)}};
  if (family.name == "line")
    measured.push_back({"halving_bound", double(size), halving_bound(std::uint64_t(size), 1)});
  return measured;
}

constexpr int kStem = 10;

std::vector<Measurement> flower(int petals, const Execution& execution) {
  const GeneratedGraph made = generate_any_graph("flower", {{"stem", kStem}, {"petals", petals}}, execution);
  const TreeKernel kernel(TreeSampler(made.graph, TreeKind::bfst, execution).tree(0));
  const double p = kStem;
  return {{"norm", double(petals), kernel.diagonal(0)},
          {"upper_bound", double(petals), p},
          {"lower_bound", double(petals), (p - 1) - (p - 1) * (p - 1) * p * p / (4.0 * petals)}};
}

std::vector<int> petals(bool quick) {
  return quick ? std::vector<int>{100, 10'000} : std::vector<int>{100, 1'000, 10'000, 100'000, 1'000'000};
}

std::vector<Trial> plan(const ExperimentSetup& setup, const Execution& execution) {
  std::vector<Trial> trials;
  const std::uint64_t seed = execution.seed;
  const int repeats = setup.quick ? 2 : 20;
  for (const Family& family : families()) {
    for (const int size : setup.quick ? family.quick_sizes : family.sizes) {
      const Lazy<Instance> instance([&family, size, seed] { return family.make(size, {seed}); });
      const std::string text = std::to_string(size);
      trials.push_back({{family.name, text, "bound", "-"}, [&family, size, instance](const Execution& e) {
                          return bound_of(family, size, instance(), e);
                        }});
      for (const char* method : kMethods) {
        std::vector<std::string> opponents = {"paper"};
        if (family.name != "octopus") {
          opponents = {"worst"};
          for (int i = 0; i < repeats; ++i) opponents.push_back(std::to_string(i));
        }
        for (const std::string& opponent : opponents)
          trials.push_back({{family.name, text, method, opponent},
                            [&family, size, instance, method, opponent](const Execution& e) {
                              return play(family, size, instance(), method, opponent, e);
                            }});
      }
    }
  }
  for (const int count : petals(setup.quick))
    trials.push_back({{"flower", std::to_string(count), "norm", "-"},
                      [count](const Execution& e) { return flower(count, e); }});
  return trials;
}

std::string game_of(const Family& family) { return family.name == "octopus" ? "paper" : "worst"; }

ReportTable family_table(const Family& family, const Results& results) {
  ReportTable table{family.name + ": mistakes in the worst order found (in random orders, mean)",
                    {family.parameter, "eq. 15 or 16, exact R", "paper's closed form"},
                    {},
                    {}};
  if (family.name == "octopus") table.title = "octopus: mistakes in the paper's sequence, p = 3";
  for (const char* method : kMethods) table.columns.emplace_back(method);
  for (const double size : results.places("bound", {{"family", family.name}})) {
    std::vector<std::string> row = {fixed(size, 0),
                                    fixed(results.mean("bound", {{"family", family.name}}, size), 1),
                                    fixed(results.mean("paper_bound", {{"family", family.name}}, size), 0)};
    for (const char* method : kMethods) {
      double random = 0, count = 0;
      for (const std::string& opponent :
           results.levels("opponent", {{"family", family.name}, {"method", method}})) {
        if (opponent == game_of(family)) continue;
        const double mistakes = results.mean(
            "mistakes", {{"family", family.name}, {"method", method}, {"opponent", opponent}}, size);
        random += mistakes, ++count;
      }
      std::string cell = fixed(
          results.mean("mistakes",
                       {{"family", family.name}, {"method", method}, {"opponent", game_of(family)}}, size),
          0);
      if (count > 0) cell += " (" + fixed(random / count, 1) + ")";
      row.push_back(cell);
    }
    table.rows.push_back(row);
  }
  return table;
}

Chart family_chart(const Family& family, const Results& results) {
  Chart chart{.title = family.name, .x_title = family.parameter, .y_title = "mistakes"};
  for (const char* method : kMethods)
    chart.series.push_back(
        results.series(method, "mistakes",
                       {{"family", family.name}, {"method", method}, {"opponent", game_of(family)}}, false));
  ChartSeries bound =
      results.series("perceptron's bound, exact R", "bound", {{"family", family.name}}, false);
  ChartSeries paper =
      results.series("perceptron's bound in the paper", "paper_bound", {{"family", family.name}}, false);
  bound.is_reference = paper.is_reference = true;
  chart.series.push_back(bound);
  chart.series.push_back(paper);
  chart.log_x = family.name != "noisy barbell";
  chart.log_y = family.name == "line";
  return chart;
}

ReportTable flower_table(const Results& results) {
  ReportTable table{"flower: squared norm of the kernel's column at the end of the stem, p = 10",
                    {"petals, m", "lower bound", "L^+_11", "upper bound"},
                    {},
                    "the lower bound is (p - 1) - (p - 1)^2 p^2 / 4m, the upper one the diameter p"};
  for (const double m : results.places("norm"))
    table.rows.push_back({fixed(m, 0), fixed(results.mean("lower_bound", {}, m), 3),
                          fixed(results.mean("norm", {}, m), 3),
                          fixed(results.mean("upper_bound", {}, m), 0)});
  return table;
}

/// Mistakes in the game that the bound speaks of, at the smallest and the largest size.
std::pair<double, double> ends(const Results& results, const char* family, const char* method,
                               const char* opponent) {
  const Results::Where where = {{"family", family}, {"method", method}, {"opponent", opponent}};
  const std::vector<double> sizes = results.places("mistakes", where);
  return {results.mean("mistakes", where, sizes.front()), results.mean("mistakes", where, sizes.back())};
}

Finding no_violation(const Results& results) {
  int games = 0, violated = 0;
  for (const Family& family : families())
    for (const double size : results.places("bound", {{"family", family.name}})) {
      const double bound = results.mean("bound", {{"family", family.name}}, size);
      for (const double mistakes :
           results.values("mistakes", {{"family", family.name}, {"method", kPerceptron}}, size))
        ++games, violated += mistakes > bound + 1;  // before the first label there is no answer to be right
    }
  return {"The perceptron errs at most (4 cut + balance/b + 4 flips/c)(R + b + c) times (eqs. 15 and 16).",
          violated == 0 ? Verdict::confirmed : Verdict::contradicted,
          std::to_string(violated) + " of " + std::to_string(games) +
              " games have more mistakes, the first node, of which nothing is known, aside."};
}

Finding stays_constant(const Results& results, const char* family, const char* statement,
                       const char* opponent) {
  const auto [first, last] = ends(results, family, kPerceptron, opponent);
  return {statement, last <= first + 3 ? Verdict::confirmed : Verdict::contradicted,
          "worst order found: " + fixed(first, 0) + " mistakes at the smallest size, " + fixed(last, 0) +
              " at the largest."};
}

Finding neighbors_fail(const Results& results) {
  const auto [few, many] = ends(results, "octopus", kGeodesic, "paper");
  const auto [few_r, many_r] = ends(results, "octopus", kResistance, "paper");
  const std::vector<double> sizes = results.places("bound", {{"family", "octopus"}});
  const bool linear =
      few >= sizes.front() && many >= sizes.back() && few_r >= sizes.front() && many_r >= sizes.back();
  const auto perceptron = ends(results, "octopus", kPerceptron, "paper");
  return {
      "On an octopus nearest neighbours, geodesic or by resistance, err at every one of the m tips; the "
      "perceptron "
      "at most 10 p + 5 = 35 times.",
      linear && perceptron.second <= 35 ? Verdict::confirmed : Verdict::contradicted,
      "m = " + fixed(sizes.back(), 0) + ": " + fixed(many, 0) + " (geodesic) and " + fixed(many_r, 0) +
          " (resistance) against " + fixed(perceptron.second, 0) + "."};
}

Finding halving_on_lines(const Results& results) {
  const std::vector<double> sizes = results.places("bound", {{"family", "line"}});
  const auto halving = ends(results, "line", kHalving, "worst");
  const auto perceptron = ends(results, "line", kPerceptron, "worst");
  const double log_n = std::ceil(std::log2(sizes.back()));
  return {
      "On a line of n nodes with one cut, halving errs at most log2 n times, rounded up, while the "
      "perceptron's bound "
      "is 5 n + 5.",
      halving.second <= log_n + 1 ? Verdict::confirmed : Verdict::contradicted,
      "n = " + fixed(sizes.back(), 0) + ", log2 n = " + fixed(log_n, 0) + ": halving " +
          fixed(halving.second, 0) + " (the first node, of which nothing is known, included), perceptron " +
          fixed(perceptron.second, 0) + "."};
}

Finding flower_is_tight(const Results& results) {
  bool holds = true;
  for (const double m : results.places("norm")) {
    const double norm = results.mean("norm", {}, m);
    holds = holds && norm <= results.mean("upper_bound", {}, m) && norm >= results.mean("lower_bound", {}, m);
  }
  const double last = results.places("norm").back();
  return {"On a flower the norm is at most p and, as petals grow, at least p - 1 in the limit.",
          holds ? Verdict::confirmed : Verdict::contradicted,
          fixed(last, 0) + " petals: " + fixed(results.mean("lower_bound", {}, last), 3) +
              " <= " + fixed(results.mean("norm", {}, last), 4) + " <= 10."};
}

Report report(const ExperimentSetup& setup, const Results& results) {
  Report report;
  report.title = "Mistakes and bounds of the graph perceptron";
  report.setting = {
      {"kernel", "L^+ + b 11' + c I; b = 1, c = 0; noisy barbell c = 1; thick barbell b = 1/4n"},
      {"cliques", "40 nodes each in noisy and thick barbells; octopi are balanced, with tentacles of 3"},
      {"line", "one cut, a third of the way"},
      {"orders",
       std::string(
           "worst: always a node that is guessed wrong, while there is one, the most of 20 games; random: ") +
           (setup.quick ? "2" : "20") + " orders; octopus: the paper's sequence"},
      {"first answer", "a learner that knows nothing gives none, which counts as a mistake"}};
  for (const Family& family : families()) {
    report.tables.push_back(family_table(family, results));
    report.charts.push_back(family_chart(family, results));
  }
  report.tables.push_back(flower_table(results));
  report.findings = {
      no_violation(results),
      stays_constant(results, "barbell",
                     "On a barbell the perceptron's mistakes do not grow with the cliques.", "worst"),
      stays_constant(results, "thick barbell",
                     "On a thick barbell they do not grow with the bridges either (bound 20; by the diameter "
                     "it would be "
                     "16 l).",
                     "worst"),
      neighbors_fail(results),
      halving_on_lines(results),
      flower_is_tight(results)};
  const auto noisy = ends(results, "noisy barbell", kPerceptron, "worst");
  const std::vector<double> flips = results.places("bound", {{"family", "noisy barbell"}});
  double most_used = 0;
  std::string where;
  for (const Family& family : families())
    for (const double size : results.places("bound", {{"family", family.name}})) {
      const double used =
          results.mean("mistakes",
                       {{"family", family.name}, {"method", kPerceptron}, {"opponent", game_of(family)}},
                       size) /
          results.mean("bound", {{"family", family.name}}, size);
      if (used > most_used) most_used = used, where = family.name + " at " + fixed(size, 0);
    }
  report.agreement =
      confirmed_text(report.findings) + " The bounds leave room: the worst orders that we find use " +
      percent(most_used, 0) + " % of one at the most (" + where + "). Flipped labels cost the perceptron " +
      fixed((noisy.second - noisy.first) / (flips.back() - flips.front()), 1) +
      " mistakes each in the worst order, of the 20 that eq. 15 allows. On the line, where its bound grows "
      "with n and halving's with log n, it makes " +
      fixed(ends(results, "line", kPerceptron, "worst").second, 0) + " mistakes at the largest n, halving " +
      fixed(ends(results, "line", kHalving, "worst").second, 0) + ".";
  return report;
}

}  // namespace
}  // namespace perceptron_bounds

ExperimentRow perceptron_bounds_experiment() {
  using namespace perceptron_bounds;  // of its own: plan and report are in every one of these files
  return {"perceptron-bounds",
          "How many mistakes does the graph perceptron make beside its bounds, nearest neighbours and "
          "halving, as graphs grow?",
          "Herbster & Pontil 2006, sections 3 to 5",
          "makes its graphs itself",
          {"family", "size", "method", "opponent"},
          plan,
          report};
}

}  // namespace copse
