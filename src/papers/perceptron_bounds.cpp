// SPDX-License-Identifier: Apache-2.0
// Herbster & Pontil 2006: graphs on which their bounds say something that others' do not.
#include <cmath>

#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/sample.hpp"
#include "papers/bounds.hpp"
#include "papers/generators.hpp"
#include "papers/opponents.hpp"

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
  const char* opponent = "worst";   // of whom the table and the chart tell first
};

constexpr int kClique = 40;

Instance barbell(int m, const Execution& execution) {
  return {generate_any_graph("barbell", {{"clique", m}}, execution), 1};
}
Instance noisy_barbell(int k, const Execution& execution) {
  return {generate_any_graph("noisy_barbell", {{"clique", kClique}, {"noisy", k}}, execution), 1, double(k),
          1, 1};
}
Instance thick_barbell(int l, const Execution& execution) {
  return {generate_any_graph("thick_barbell", {{"clique", kClique}, {"bridges", l}}, execution), double(l), 0,
          1 / (4.0 * 2 * kClique)};
}
Instance octopus(int m, const Execution& execution) {
  return {generate_any_graph("octopus", {{"head", 3 * m + 1}, {"tentacles", m}, {"length", 3}}, execution),
          1};
}
Instance line(int n, const Execution& execution) {
  Instance instance{generate_any_graph("path", {{"nodes", n}}, execution), 1};
  Labels& labels = instance.made.labels;
  const Label first = labels.classes.intern("+1"), second = labels.classes.intern("-1");
  for (int u = 0; u < n; ++u) labels.of_node[static_cast<std::size_t>(u)] = u < n / 3 ? first : second;
  return instance;
}

double barbell_bound(int) { return 16; }                           // eq. 16 with the diameter 3
double noisy_bound(int k) { return (4.0 + 4 * k) * (3 + 1 + 1); }  // eq. 15 with b = c = 1: O(k)
double thick_bound(int) { return 20; }
double octopus_bound(int) { return 10.0 * 3 + 5; }  // 10 p + 5
double line_paper_bound(int n) { return 5.0 * n + 5; }

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"barbell", "nodes of a clique, m", {5, 10, 20, 40, 80, 160}, {5, 10, 20, 40}, barbell, barbell_bound},
      {"noisy barbell", "flipped labels, k", {0, 1, 2, 4, 8, 16}, {0, 2, 8}, noisy_barbell, noisy_bound},
      {"thick barbell", "bridges, l", {1, 2, 4, 8, 16, 32}, {1, 4, 16}, thick_barbell, thick_bound},
      {"octopus", "tentacles, m", {5, 10, 20, 40, 80}, {5, 10, 20}, octopus, octopus_bound, "paper"},
      {"line", "nodes, n", {16, 32, 64, 128, 256, 512}, {16, 64, 256}, line, line_paper_bound},
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
  const NodeId m = (graph.num_nodes() - 2) / 6;  // 3 m + 1 of the head, the root, 3 m of the tentacles
  const NodeId root = 3 * m + 1;
  std::vector<NodeId> order;
  for (NodeId u = root + 1; u < graph.num_nodes(); ++u)
    if (graph.degree(u) == 1) {
      order.push_back(static_cast<NodeId>(order.size() / 2));
      order.push_back(u);
    }
  return order;
}

double play(const Instance& instance, const std::string& method, const std::string& opponent,
            const Execution& execution) {
  const auto make = [&] { return make_method(method, instance, execution); };
  const std::vector<Label>& labels = instance.made.labels.of_node;
  if (opponent != "paper") return mistakes_against(opponent, make, labels, execution);
  const std::vector<NodeId> order = octopus_sequence(instance.made.graph);
  return static_cast<double>(play_online(*make(), labels, order, execution).mistakes());
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
  const double z =
      kernel_bound(instance.cut, balance, instance.num_flips, diameter, instance.bias, instance.ridge);
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

// --- label noise: nodes come again, and some trials have the wrong label

constexpr const char* kNoise = "label noise";
constexpr int kVisits = 3;  // of every node

std::vector<int> noisy_trials(bool quick) {
  return quick ? std::vector<int>{0, 8} : std::vector<int>{0, 2, 4, 8, 16, 32};
}

/// Eq. 15 with noise: a barbell, every node three times in random order, `wrong` of the trials with the other
/// label. The bound counts those wrong trials in which the perceptron errs: |M_A and M_u|.
std::vector<Measurement> play_noise(int wrong, std::uint64_t index, const Execution& execution) {
  const Instance instance = barbell(kClique, execution);
  const std::vector<Label>& labels = instance.made.labels.of_node;
  const GraphView& graph = instance.made.graph;
  std::vector<std::pair<NodeId, Label>> trials;
  for (int visit = 0; visit < kVisits; ++visit)
    for (NodeId u = 0; u < graph.num_nodes(); ++u) trials.emplace_back(u, labels[u]);
  Stream stream{execution.seed, Purpose::label_noise, index};
  const auto shuffle = [&] {
    for (std::size_t i = trials.size(); i > 1; --i) std::swap(trials[i - 1], trials[stream.below(i)]);
  };
  shuffle();
  for (int i = 0; i < wrong; ++i) trials[static_cast<std::size_t>(i)].second ^= 1;
  shuffle();
  const auto learner = make_method(kPerceptron, instance, execution);
  double mistakes = 0, on_wrong = 0;
  for (const auto& [node, label] : trials) {
    if (learner->guess(node).label != label) {
      ++mistakes;
      on_wrong += label != labels[node];
    }
    learner->reveal(node, label);
  }
  const double z = kernel_bound(instance.cut, 0, 0, resistance_diameter(graph, {}, execution).upper, 1, 0);
  return {{"noisy_mistakes", double(wrong), mistakes},
          {"noisy_bound", double(wrong), perceptron_bound(z, on_wrong)},
          {"bound_before", double(wrong), perceptron_bound(z, wrong)}};
}

// --- what the report asks

double bound_at(const Results& results, const std::string& family, double size) {
  return results.mean("bound", {{"family", family}}, size);
}

std::vector<double> sizes_of(const Results& results, const std::string& family) {
  return results.places("bound", {{"family", family}});
}

/// Mistakes in the game that the bound speaks of.
Results::Where bound_game(const Family& family, const char* method) {
  return {{"family", family.name}, {"method", method}, {"opponent", family.opponent}};
}

/// The same at the smallest and the largest size.
struct Ends {
  double first, last;
};
Ends ends(const Results& results, const std::string& name, const char* method) {
  const auto family =
      std::find_if(families().begin(), families().end(), [&](const Family& one) { return one.name == name; });
  const Results::Where where = bound_game(*family, method);
  const std::vector<double> sizes = results.places("mistakes", where);
  return {results.mean("mistakes", where, sizes.front()), results.mean("mistakes", where, sizes.back())};
}

ReportTable family_table(const Family& family, const Results& results) {
  ReportTable table{family.name + ": mistakes in the worst order found (in random orders, mean)",
                    {family.parameter, "eq. 15 or 16, exact R", "paper's closed form"},
                    {},
                    {}};
  if (family.name == "octopus") table.title = "octopus: mistakes in the paper's sequence, p = 3";
  for (const char* method : kMethods) table.columns.emplace_back(method);
  for (const double size : sizes_of(results, family.name)) {
    std::vector<std::string> row = {fixed(size, 0), fixed(bound_at(results, family.name, size), 1),
                                    fixed(results.mean("paper_bound", {{"family", family.name}}, size), 0)};
    for (const char* method : kMethods)
      row.push_back(
          mistakes_text(results, {{"family", family.name}, {"method", method}}, size, family.opponent));
    table.rows.push_back(row);
  }
  return table;
}

Chart family_chart(const Family& family, const Results& results) {
  Chart chart{.title = family.name, .x_title = family.parameter, .y_title = "mistakes"};
  for (const char* method : kMethods)
    chart.series.push_back(results.series(method, "mistakes", bound_game(family, method), false));
  for (const auto& [name, measure] : {std::pair{"perceptron's bound, exact R", "bound"},
                                      {"perceptron's bound in the paper", "paper_bound"}})
    chart.series.push_back(reference(results.series(name, measure, {{"family", family.name}}, false)));
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

Finding no_violation(const Results& results) {
  int games = 0, violated = 0;
  for (const Family& family : families())
    for (const double size : sizes_of(results, family.name))
      for (const double mistakes :
           results.values("mistakes", {{"family", family.name}, {"method", kPerceptron}}, size)) {
        ++games;
        // Before the first label there is no answer to be right.
        violated += mistakes > bound_at(results, family.name, size) + 1;
      }
  return {"The perceptron errs at most (4 cut + balance/b + 4 flips/c)(R + b + c) times (eqs. 15 and 16).",
          verdict_of(violated == 0),
          filled("{} of {} games have more mistakes, the first node, of which nothing is known, aside.",
                 {std::to_string(violated), std::to_string(games)})};
}

Finding noise_kept(const Results& results) {
  std::size_t games = 0, violated = 0;
  double used = 0;
  for (const double wrong : results.places("noisy_mistakes")) {
    const std::vector<double> mistakes = results.values("noisy_mistakes", {}, wrong),
                              bounds = results.values("noisy_bound", {}, wrong);
    games += mistakes.size();
    for (std::size_t i = 0; i < mistakes.size(); ++i) {
      violated += mistakes[i] > bounds[i] + 1;
      used = std::max(used, mistakes[i] / bounds[i]);
    }
  }
  const double most = results.places("noisy_mistakes").back();
  return {
      "With label noise it errs at most 2 m + z/2 + sqrt(2 m z + z^2/4) times, m the wrong labels it errs at "
      "(eqs. 5 and 15)",
      verdict_of(violated == 0),
      filled(
          "{} of {} games have more mistakes; they use up to {} % of the bound. {} wrong labels of {} cost "
          "{} mistakes in the mean",
          {std::to_string(violated), std::to_string(games), percent(used, 0), fixed(most, 0),
           std::to_string(kVisits * 2 * kClique), fixed(results.mean("noisy_mistakes", {}, most))})};
}

ReportTable noise_table(const Results& results) {
  ReportTable table{
      "label noise on a barbell: every node comes three times, some trials have the wrong label",
      {"wrong labels", "mistakes", "eq. 15 for the game", "eq. 15 before the game"},
      {},
      "mean ± standard deviation over random orders"};
  for (const double wrong : results.places("noisy_mistakes"))
    table.rows.push_back({fixed(wrong, 0), plus_minus(results.values("noisy_mistakes", {}, wrong)),
                          fixed(results.mean("noisy_bound", {}, wrong)),
                          fixed(results.mean("bound_before", {}, wrong))});
  return table;
}

Finding stays_constant(const Results& results, const char* family, const char* statement) {
  const auto [first, last] = ends(results, family, kPerceptron);
  return {statement, verdict_of(last <= first + 3),
          filled("worst order found: {} mistakes at the smallest size, {} at the largest.",
                 {fixed(first, 0), fixed(last, 0)})};
}

Finding neighbors_fail(const Results& results) {
  const Ends geodesic = ends(results, "octopus", kGeodesic),
             resistance = ends(results, "octopus", kResistance);
  const double perceptron = ends(results, "octopus", kPerceptron).last;
  const std::vector<double> sizes = sizes_of(results, "octopus");
  const bool linear = std::min(geodesic.first, resistance.first) >= sizes.front() &&
                      std::min(geodesic.last, resistance.last) >= sizes.back();
  return {
      "On an octopus nearest neighbours, geodesic or by resistance, err at every one of the m tips; the "
      "perceptron at most 10 p + 5 = 35 times.",
      verdict_of(linear && perceptron <= 35),
      filled("m = {}: {} (geodesic) and {} (resistance) against {}.",
             {fixed(sizes.back(), 0), fixed(geodesic.last, 0), fixed(resistance.last, 0),
              fixed(perceptron, 0)})};
}

Finding halving_on_lines(const Results& results) {
  const double n = sizes_of(results, "line").back(), log_n = std::ceil(std::log2(n));
  const double halving = ends(results, "line", kHalving).last;
  return {
      "On a line of n nodes with one cut, halving errs at most log2 n times, rounded up, while the "
      "perceptron's bound is 5 n + 5.",
      verdict_of(halving <= log_n + 1),
      filled("n = {}, log2 n = {}: halving {} (the first node, of which nothing is known, included), "
             "perceptron {}.",
             {fixed(n, 0), fixed(log_n, 0), fixed(halving, 0),
              fixed(ends(results, "line", kPerceptron).last, 0)})};
}

Finding flower_is_tight(const Results& results) {
  bool holds = true;
  for (const double m : results.places("norm")) {
    const double norm = results.mean("norm", {}, m);
    holds = holds && norm <= results.mean("upper_bound", {}, m) && norm >= results.mean("lower_bound", {}, m);
  }
  const double last = results.places("norm").back();
  return {
      "On a flower the norm is at most p and, as petals grow, at least p - 1 in the limit.",
      verdict_of(holds),
      filled("{} petals: {} <= {} <= 10.", {fixed(last, 0), fixed(results.mean("lower_bound", {}, last), 3),
                                            fixed(results.mean("norm", {}, last), 4)})};
}

/// How much of its bound the perceptron uses at the most.
std::string room_text(const Results& results) {
  double most_used = 0;
  std::string where;
  for (const Family& family : families())
    for (const double size : sizes_of(results, family.name)) {
      const double used = results.mean("mistakes", bound_game(family, kPerceptron), size) /
                          bound_at(results, family.name, size);
      if (used > most_used) most_used = used, where = family.name + " at " + fixed(size, 0);
    }
  return filled("The bounds leave room: the worst orders that we find use {} % of one at the most ({}).",
                {percent(most_used, 0), where});
}

}  // namespace
}  // namespace perceptron_bounds

std::vector<Trial> plan_perceptron_bounds(const ExperimentSetup& setup, const Execution& execution) {
  using namespace perceptron_bounds;
  std::vector<Trial> trials;
  for (const Family& family : families())
    for (const int size : setup.quick ? family.quick_sizes : family.sizes) {
      const Lazy<Instance> instance(
          [&family, size, seed = execution.seed] { return family.make(size, {seed}); });
      trials.push_back(
          {{family.name, std::to_string(size), "bound", "-"},
           [&family, size, instance](const Execution& e) { return bound_of(family, size, instance(), e); }});
      std::vector<std::string> opponents{family.opponent};
      if (opponents[0] == "worst") opponents = worst_and_random(setup.quick ? 2 : 20);
      add_games(trials, family.name, size, kMethods, opponents,
                [instance](const std::string& method, const std::string& opponent, const Execution& e) {
                  return play(instance(), method, opponent, e);
                });
    }
  for (const int wrong : noisy_trials(setup.quick))
    for (int i = 0; i < (setup.quick ? 2 : 20); ++i)
      trials.push_back({{kNoise, std::to_string(wrong), kPerceptron, std::to_string(i)},
                        [wrong, i](const Execution& e) { return play_noise(wrong, std::uint64_t(i), e); }});
  for (const int count : petals(setup.quick))
    trials.push_back({{"flower", std::to_string(count), "norm", "-"},
                      [count](const Execution& e) { return flower(count, e); }});
  return trials;
}

Report report_perceptron_bounds(const ExperimentSetup& setup, const Results& results) {
  using namespace perceptron_bounds;
  Report report;
  report.title = "Mistakes and bounds of the graph perceptron";
  report.setting = {
      {"kernel", "L^+ + b 11' + c I; b = 1, c = 0; noisy barbell c = 1; thick barbell b = 1/4n"},
      {"cliques", "40 nodes each in noisy and thick barbells; octopi are balanced, with tentacles of 3"},
      {"line", "one cut, a third of the way"},
      {"orders", filled("worst: always a node that is guessed wrong, while there is one, the most of 20 "
                        "games; random: {} orders; octopus: the paper's sequence",
                        {setup.quick ? "2" : "20"})},
      {"first answer", "a learner that knows nothing gives none, which counts as a mistake"}};
  for (const Family& family : families()) {
    report.tables.push_back(family_table(family, results));
    report.charts.push_back(family_chart(family, results));
  }
  report.tables.push_back(noise_table(results));
  report.tables.push_back(flower_table(results));
  report.findings = {no_violation(results),
                     noise_kept(results),
                     stays_constant(results, "barbell",
                                    "On a barbell the perceptron's mistakes do not grow with the cliques."),
                     stays_constant(results, "thick barbell",
                                    "On a thick barbell they do not grow with the bridges either (bound 20; "
                                    "by the diameter it would be 16 l)."),
                     neighbors_fail(results),
                     halving_on_lines(results),
                     flower_is_tight(results)};
  const Ends noisy = ends(results, "noisy barbell", kPerceptron);
  const std::vector<double> flips = sizes_of(results, "noisy barbell");
  report.agreement = filled(
      "{} {} Flipped labels cost the perceptron {} mistakes each in the worst order, of the 20 that eq. 15 "
      "allows. On the line, where its bound grows with n and halving's with log n, it makes {} mistakes at "
      "the largest n, halving {}.",
      {confirmed_text(report.findings), room_text(results),
       fixed((noisy.last - noisy.first) / (flips.back() - flips.front()), 1),
       fixed(ends(results, "line", kPerceptron).last, 0), fixed(ends(results, "line", kHalving).last, 0)});
  return report;
}

}  // namespace copse
