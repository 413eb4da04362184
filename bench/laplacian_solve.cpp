// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <vector>

#include "bench_graphs.hpp"
#include "copse/graph/components.hpp"
#include "copse/io/read.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "laplacian_rivals.hpp"

// What does it cost to solve L x = b to a backward error of 1e-8, everything included, and what do others
// take? One thread each; every rival in a process of its own that is ended after --limit seconds, or when it
// asks for more than --gigabytes.

using namespace copse;

namespace {

using bench::Columns;

struct Outcome {
  double factor = 0, solve = 0, error = 0;
  int iterations = 0;
  char note[64] = "";
  double total() const { return factor + solve; }
};

struct Rival {
  std::string name;
  bool iterates;
  std::function<bench::Timing(const bench::Problem&, Columns&)> run;
};

/// Backward error in the norms scaled by the degrees, written out here once more: of the worst column.
double backward_error(const GraphView& graph, const Columns& b, const Columns& x) {
  double worst = 0;
  for (std::size_t c = 0; c < b.size(); ++c) {
    double rr = 0, xx = 0, bb = 0, mean = 0;
    for (const double value : x[c]) mean += value / graph.num_nodes();
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      double degree = 0, row = 0;
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        degree += graph.weight(arc);
        row += graph.weight(arc) * (x[c][u] - x[c][graph.neighbors[arc]]);
      }
      rr += (b[c][u] - row) * (b[c][u] - row) / degree;
      xx += (x[c][u] - mean) * (x[c][u] - mean) * degree;
      bb += b[c][u] * b[c][u] / degree;
    }
    const double error = std::sqrt(rr) / (2 * std::sqrt(xx) + std::sqrt(bb));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/// ||r|| / ||b|| that goes with a backward error of `tolerance`, given the answer.
double residual_for(double tolerance, const GraphView& graph, const Columns& b, const Columns& x) {
  double least = 1;
  for (std::size_t c = 0; c < b.size(); ++c) {
    double xx = 0, bb = 0;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      const double degree = weighted_degree(graph, u);
      xx += x[c][u] * x[c][u] * degree;
      bb += b[c][u] * b[c][u] / degree;
    }
    least = std::min(least, tolerance * (2 * std::sqrt(xx / bb) + 1));
  }
  return least;
}

struct Limits {
  int seconds;
  double gigabytes;
};

/// Why a process that gave no answer ended.
void explain(int status, const Limits& limits, Outcome& outcome) {
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGXCPU || signal == SIGKILL)
    std::snprintf(outcome.note, sizeof outcome.note, "over limit (%d s)", limits.seconds);
  else
    std::snprintf(outcome.note, sizeof outcome.note, "failed (over %g GB?)", limits.gigabytes);
}

/// body(outcome) in a process of its own, best of `repeats`.
Outcome apart(const Limits& limits, int repeats, const std::function<void(Outcome&)>& body) {
  Outcome best;
  for (int i = 0; i < repeats; ++i) {
    int ends[2];
    bench::check(pipe(ends) == 0, "a pipe");
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const auto seconds = static_cast<rlim_t>(limits.seconds);
      const auto bytes = static_cast<rlim_t>(limits.gigabytes * 1e9);
      const rlimit most{seconds, seconds}, space{bytes, bytes}, none{0, 0};
      setrlimit(RLIMIT_CPU, &most);  // processor time: neighbours on the machine do not count
      setrlimit(RLIMIT_AS, &space);
      setrlimit(RLIMIT_CORE, &none);
      Outcome outcome;
      try {
        body(outcome);
      } catch (const std::bad_alloc&) {
        _exit(2);
      }
      const bool written = write(ends[1], &outcome, sizeof outcome) == sizeof outcome;
      _exit(written ? 0 : 1);
    }
    close(ends[1]);
    Outcome outcome;
    const bool read_all = read(ends[0], &outcome, sizeof outcome) == sizeof outcome;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!read_all) explain(status, limits, outcome);
    if (outcome.note[0] != 0) return outcome;
    if (i == 0 || outcome.total() < best.total()) best = outcome;
  }
  return best;
}

void run_copse(const GraphView& graph, const Columns& b, SolveMethod method, double tolerance,
               Outcome& outcome, Columns* x) {
  const std::size_t columns = b.size(), n = graph.num_nodes();
  std::vector<double> interleaved(n * columns), solved(n * columns);
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t u = 0; u < n; ++u) interleaved[u * columns + c] = b[c][u];
  SolveReport report;
  outcome.solve = bench::cpu_seconds([&] {
    const SolveOptions options{.method = method, .tolerance = tolerance, .max_iterations = 100'000};
    LaplacianSolver solver(graph, options.expecting(columns), {});
    report = solver.solve(interleaved, solved, columns);
  });
  outcome.iterations = report.iterations;
  Columns answer(columns, std::vector<double>(n));
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t u = 0; u < n; ++u) answer[c][u] = solved[u * columns + c];
  outcome.error = backward_error(graph, b, answer);
  // Which method it came to, and the size of its factor.
  outcome.factor = 0;
  if (x != nullptr) *x = std::move(answer);
  static const char* const names[] = {"", "jacobi", "ac", "ac2", "exact"};
  if (method == SolveMethod::automatic)
    std::printf("  %-14s chose %s, %lu entries\n", "", names[static_cast<int>(report.method)],
                static_cast<unsigned long>(report.factor_entries));
}

std::vector<Rival> rivals() {
  return {
      {"eigen llt", false, bench::eigen_cholesky},
#ifdef BENCH_WITH_CHOLMOD
      {"cholmod", false, bench::cholmod},
#endif
#ifdef BENCH_WITH_HYPRE
      {"boomeramg", true, bench::boomer_amg},
#endif
      {"eigen cg", true, bench::eigen_conjugate_gradients},
  };
}

void run_rival(const Rival& rival, const GraphView& graph, const Columns& b, double tolerance,
               double residual, Outcome& outcome) {
  Columns x(b.size(), std::vector<double>(graph.num_nodes()));
  const bench::Timing timing = rival.run({graph, b, residual}, x);
  outcome.factor = timing.factor;
  outcome.solve = timing.solve;
  std::snprintf(outcome.note, sizeof outcome.note, "%s", timing.skipped.c_str());
  if (outcome.note[0] == 0) outcome.error = backward_error(graph, b, x);
  if (!rival.iterates && outcome.error > tolerance)
    std::snprintf(outcome.note, sizeof outcome.note, "inexact: %.0e", outcome.error);
}

void print(const std::string& name, const Outcome& outcome, double ours) {
  if (outcome.note[0] != 0) {
    std::printf("  %-14s %s\n", name.c_str(), outcome.note);
  } else {
    std::printf("  %-14s %8.3f %8.3f %8.3f %7.2f   %.0e", name.c_str(), outcome.factor, outcome.solve,
                outcome.total(), outcome.total() / ours, outcome.error);
    if (outcome.iterations > 0) std::printf("  %d it", outcome.iterations);
    std::printf("\n");
  }
  std::fflush(stdout);
}

struct Settings {
  double tolerance;
  Limits limits;
  int repeats;
  bool rivals, parts;
  std::string only;
};

struct Score {
  double log_sum = 0, worst = 0;
  int count = 0;
};

void compare(const std::string& name, const GraphView& graph, std::size_t columns, const Settings& settings,
             Score& score) {
  Stream stream(1, Purpose::test, columns);
  Columns b(columns, std::vector<double>(graph.num_nodes()));
  for (auto& column : b) {
    double mean = 0;
    for (double& value : column) mean += value = stream.uniform();
    for (double& value : column) value -= mean / graph.num_nodes();
  }
  std::printf("%s: %u nodes, %lu edges, %lu right-hand sides\n", name.c_str(), graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), static_cast<unsigned long>(columns));
  Columns x;
  Outcome scratch;
  run_copse(graph, b, SolveMethod::automatic, settings.tolerance, scratch, &x);  // the warm-up
  const double residual = residual_for(settings.tolerance, graph, b, x);
  const auto own = [&](SolveMethod method) {
    return apart(settings.limits, settings.repeats, [&](Outcome& outcome) {
      run_copse(graph, b, method, settings.tolerance, outcome, nullptr);
    });
  };
  std::fflush(stdout);
  const Outcome ours = own(SolveMethod::automatic);
  if (ours.note[0] != 0) {
    std::printf("  copse          %s\n", ours.note);
    return;
  }
  bench::check(ours.error <= settings.tolerance * 1.0001, "copse's answer");
  print("copse", ours, ours.total());
  double best = 1e300;
  const auto add = [&](const std::string& rival, const Outcome& outcome, bool counts) {
    print(rival, outcome, ours.total());
    if (counts && outcome.note[0] == 0) best = std::min(best, outcome.total());
  };
  if (settings.parts) {
    add("(ac)", own(SolveMethod::approximate_cholesky), false);
    add("(ac2)", own(SolveMethod::approximate_cholesky2), false);
  }
  add("jacobi", own(SolveMethod::jacobi), true);
  if (settings.rivals) {
    for (const Rival& rival : rivals()) {
      if (settings.only != "all" && rival.name != settings.only) continue;
      // Iterative rivals stop by ||r|| / ||b||: the loosest aim, by thirds, that meets the common rule.
      double aim = residual;
      const auto run = [&](int repeats) {
        return apart(settings.limits, repeats,
                     [&](Outcome& outcome) { run_rival(rival, graph, b, settings.tolerance, aim, outcome); });
      };
      Outcome outcome = run(1);
      for (int attempt = 0; attempt < 8 && outcome.error > settings.tolerance; ++attempt) {
        aim /= 3;
        outcome = run(1);
      }
      if (outcome.note[0] == 0 && settings.repeats > 1) {
        const Outcome again = run(settings.repeats - 1);
        if (again.total() < outcome.total()) outcome = again;
      }
      add(rival.name, outcome, true);
    }
  }
  if (best == 1e300) {
    std::printf("  no rival got there\n");
    return;
  }
  const double ratio = ours.total() / best;
  score.log_sum += std::log(ratio);
  score.worst = std::max(score.worst, ratio);
  ++score.count;
  std::printf("  copse / best rival = %.2f\n", ratio);
  std::fflush(stdout);
}

Graph grid_3d(NodeId side) {
  EdgeChunk chunk;
  const auto add = [&](NodeId u, NodeId v) {
    chunk.u.push_back(u);
    chunk.v.push_back(v);
  };
  for (NodeId i = 0; i < side; ++i)
    for (NodeId j = 0; j < side; ++j)
      for (NodeId k = 0; k < side; ++k) {
        const NodeId u = (i * side + j) * side + k;
        if (k + 1 < side) add(u, u + 1);
        if (j + 1 < side) add(u, u + side);
        if (i + 1 < side) add(u, u + side * side);
      }
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return build_graph(std::move(chunks), std::uint64_t{side} * side * side, {}, {}, "grid");
}

/// Cliques of 32 nodes in a row, one edge from each to the next.
Graph barbell_chain(NodeId cliques) {
  constexpr NodeId kSize = 32;
  std::vector<Edge> edges;
  for (NodeId clique = 0; clique < cliques; ++clique) {
    for (NodeId i = 0; i < kSize; ++i)
      for (NodeId j = i + 1; j < kSize; ++j) edges.push_back({clique * kSize + i, clique * kSize + j});
    if (clique > 0) edges.push_back({clique * kSize - 1, clique * kSize});
  }
  return graph_from_pairs(std::uint64_t{cliques} * kSize, edges);
}

Graph largest_component(const GraphView& graph) {
  const Components components = connected_components(graph);
  const NodeId largest = components.largest();
  std::vector<NodeId> number(graph.num_nodes(), kNoNode);
  NodeId n = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    if (components.of_node[u] == largest) number[u] = n++;
  EdgeChunk chunk;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (number[u] == kNoNode || v < u) continue;
      chunk.u.push_back(number[u]);
      chunk.v.push_back(number[v]);
      if (graph.is_weighted()) chunk.weight.push_back(graph.weights[arc]);
    }
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return build_graph(std::move(chunks), n, {}, {}, "component");
}

Graph made(const std::string& family, const std::vector<std::pair<std::string, double>>& parameters) {
  return largest_component(generate_graph(family, parameters, {}).graph);
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {  // read when the library is loaded: start anew
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  const std::string which = bench::argument(argc, argv, "graph", "all");
  const double nodes = std::stod(bench::argument(argc, argv, "nodes", "1e5"));
  const std::string data = bench::argument(argc, argv, "data", "../shared/data");
  const std::string rivals = bench::argument(argc, argv, "rivals", "yes");
  const Settings settings{.tolerance = std::stod(bench::argument(argc, argv, "tolerance", "1e-8")),
                          .limits = {std::stoi(bench::argument(argc, argv, "limit", "60")),
                                     std::stod(bench::argument(argc, argv, "gigabytes", "12"))},
                          .repeats = std::stoi(bench::argument(argc, argv, "repeats", "2")),
                          .rivals = rivals != "no",
                          .parts = bench::argument(argc, argv, "parts", "no") == "yes",
                          .only = rivals == "yes" ? "all" : rivals};
  const std::string sides = bench::argument(argc, argv, "columns", "1,16");
  const double side = std::round(std::sqrt(nodes)), scale = std::round(std::log2(nodes));
  const std::string road = data + "/road_sf/edges.tsv.zst";

  const std::vector<std::pair<std::string, std::function<Graph()>>> graphs = {
      {"grid",
       [&] {
         return made("grid", {{"rows", side}, {"columns", side}});
       }},
      {"grid3", [&] { return grid_3d(static_cast<NodeId>(std::round(std::cbrt(nodes)))); }},
      {"contrast",
       [&] {
         return bench::with_weights(made("grid", {{"rows", side}, {"columns", side}}), 1e4, 1);
       }},
      {"knn", [&] { return largest_component(bench::neighbors_in_3d(static_cast<NodeId>(nodes), 10, 1)); }},
      {"rmat",
       [&] {
         return made("rmat", {{"scale", scale}, {"edge_factor", 16}});
       }},
      {"rmat-weighted",
       [&] {
         return bench::with_weights(made("rmat", {{"scale", scale}, {"edge_factor", 16}}), 1e4, 1);
       }},
      {"regular",
       [&] {
         return made("regular", {{"nodes", nodes}, {"degree", 8}});
       }},
      {"barbells", [&] { return barbell_chain(static_cast<NodeId>(nodes / 32)); }},
      {"road",
       [&] {
         if (!std::filesystem::exists(road)) return Graph();
         return largest_component(read_graph(road, {}, {}).graph);
       }},
  };
  std::printf("  %-14s %8s %8s %8s %7s   %s\n", "seconds", "factor", "solve", "both", "ratio",
              "backward error");
  Score score;
  for (const auto& [name, make] : graphs) {
    if (which != "all" && ("," + which + ",").find("," + name + ",") == std::string::npos) continue;
    const Graph graph = make();
    if (graph.num_nodes() == 0) {
      std::printf("%s: %s is not there\n", name.c_str(), road.c_str());
      continue;
    }
    for (const std::size_t columns : {1, 16}) {
      if (("," + sides + ",").find("," + std::to_string(columns) + ",") == std::string::npos) continue;
      compare(name, graph, columns, settings, score);
    }
  }
  std::printf("copse / best rival: geometric mean %.2f, worst %.2f, over %d\n",
              std::exp(score.log_sum / std::max(1, score.count)), score.worst, score.count);
}
