// SPDX-License-Identifier: Apache-2.0
// Where does the time of a learner jump as the graph grows? Every family of generators at 100, 200, 400, ...
// nodes, every learner with the same few labels: microseconds of processor per node, and "cliff" where a size
// takes more than --factor times what a line through the other sizes says, in logarithms of both, nodes and
// arcs counted together. A size is left out once the one before it took a third of --limit seconds, and ended
// when it takes that long itself; what takes less than --least is too short to be a cliff.
//
//   sizes [--families path,grid] [--learners wta,tree_cut] [--smallest 100] [--largest 1e6] [--step 2]
//         [--labels 50] [--limit 20] [--least 1e-3] [--factor 3] [--all yes]
//
// --all yes prints a line for every family and learner, otherwise there is one only for those with a cliff.

#include <cmath>
#include <optional>
#include <sstream>

#include "bench.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/random.hpp"
#include "papers/generators.hpp"

using namespace copse;

namespace {

std::vector<std::pair<std::string, double>> parameters(const std::string& family, double n) {
  const double root = std::round(std::sqrt(n));
  if (family == "grid" || family == "torus") return {{"rows", root}, {"columns", root}};
  if (family == "star") return {{"leaves", n}};
  if (family == "wheel") return {{"rim", n}};
  if (family == "random") return {{"nodes", n}, {"edges", 4 * n}};
  if (family == "rmat") return {{"scale", std::ceil(std::log2(n))}};
  if (family == "barbell" || family == "noisy_barbell" || family == "thick_barbell")
    return {{"clique", std::round(n / 2)}};
  if (family == "flower") return {{"stem", 10}, {"petals", n}};
  if (family == "octopus") return {{"head", 61}, {"tentacles", std::ceil(n / 4)}, {"length", 3}};
  if (family == "lollipop") return {{"clique", root}, {"line", n}};
  if (family == "hierarchical") return {{"clusters", root}};
  return {{"nodes", std::floor(n / 2) * 2}};
}

/// Says stop after so many seconds of this thread's processor.
class Limit final : public Progress {
 public:
  explicit Limit(double seconds) : end_(now() + seconds) {}
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return now() > end_; }

 private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  double end_;
};

struct Made {
  Graph graph;
  std::vector<Label> labels;
};

Made make(const GeneratorRow& row, double n, std::uint64_t num_labels) {
  Made made{generate_graph(row.name, parameters(row.name, n), {}, all_generator_rows()).graph, {}};
  made.labels.assign(made.graph.num_nodes(), kNoLabel);
  Stream stream(1, Purpose::split, 0);
  for (std::uint64_t i = 0; i < num_labels; ++i)
    made.labels[stream.below(made.graph.num_nodes())] = static_cast<Label>(i % 2);
  return made;
}

/// Seconds of one fit, the least of several where it is short; none where it was ended.
std::optional<double> time_fit(const LearnerRow& row, const Made& made, double limit) {
  double best = 1e300, spent = 0;
  for (int i = 0; i < 20 && (i == 0 || spent < 0.02); ++i) {
    Limit stop(limit);
    bool ended = false;
    const double seconds = bench::cpu_seconds([&] {
      try {
        const BatchResult result =
            row.fit(made.graph, made.labels, 2, {}, {.seed = 1, .threads = 1, .progress = &stop});
        ended = result.interrupted;
        bench::keep(result.predictor->predict(0).label);
      } catch (const Cancelled&) {
        ended = true;
      }
    });
    if (ended) return std::nullopt;
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

/// What the other points say at x[at], by a least-squares line.
double expected(const std::vector<double>& x, const std::vector<double>& y, std::size_t at) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == at) continue;
    n += 1, sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  return (sy - slope * sx) / n + slope * x[at];
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](const char* name, const char* fallback) {
    return std::stod(bench::argument(argc, argv, name, fallback));
  };
  const auto families = split(bench::argument(argc, argv, "families", "")),
             learners = split(bench::argument(argc, argv, "learners", ""));
  const double smallest = number("smallest", "100"), largest = number("largest", "1e6"),
               step = number("step", "2"), limit = number("limit", "20"), factor = number("factor", "3"),
               least = number("least", "1e-3");
  const auto num_labels = static_cast<std::uint64_t>(number("labels", "50"));
  const bool shows_all = bench::argument(argc, argv, "all", "no") == "yes";
  int num_cliffs = 0, num_series = 0;
  for (const GeneratorRow& family : all_generator_rows()) {
    if (!contains(families, family.name)) continue;
    std::vector<const LearnerRow*> rows;
    for (const LearnerRow& row : learner_rows())
      if (contains(learners, row.name)) rows.push_back(&row);
    std::vector<std::vector<double>> logs(rows.size()), times(rows.size()), shown(rows.size()),
        sizes(rows.size());
    std::vector<char> ended(rows.size());
    for (double n = smallest; n <= largest; n *= step) {
      std::optional<Made> made;
      try {
        made = make(family, n, num_labels);
      } catch (const UsageError&) {
        continue;  // no such size in this family
      }
      if (made->graph.view().num_arcs() > 100'000'000) break;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if (ended[i] != 0) continue;
        std::optional<double> seconds;
        try {
          seconds = time_fit(*rows[i], *made, limit);
        } catch (const std::exception&) {  // signs, or a graph that is too large for this learner
          ended[i] = 1;
          continue;
        }
        ended[i] = !seconds || *seconds > limit / 3 ? 1 : 0;
        if (!seconds || *seconds < least) continue;
        // Arcs count as well: cliques grow with the square of their nodes.
        const double size = made->graph.num_nodes() + static_cast<double>(made->graph.view().num_arcs());
        logs[i].push_back(std::log(size));
        times[i].push_back(std::log(*seconds));
        sizes[i].push_back(made->graph.num_nodes());
        shown[i].push_back(1e6 * *seconds / made->graph.num_nodes());
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (logs[i].size() < 4) continue;
      ++num_series;
      std::string cliffs;
      for (std::size_t k = 0; k < logs[i].size(); ++k) {
        const double ratio = std::exp(times[i][k] - expected(logs[i], times[i], k));
        if (ratio <= factor) continue;
        ++num_cliffs;
        char text[80];
        std::snprintf(text, sizeof text, "  cliff %.1f times at %.0f nodes", ratio, sizes[i][k]);
        cliffs += text;
      }
      if (cliffs.empty() && !shows_all) continue;
      std::printf("%-14s %-22s", family.name.c_str(), rows[i]->name.c_str());
      for (const double value : shown[i]) std::printf(" %7.3g", value);
      std::printf("%s\n", cliffs.c_str());
      std::fflush(stdout);
    }
  }
  std::printf("%d cliffs in %d series\n", num_cliffs, num_series);
}
