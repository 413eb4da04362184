// SPDX-License-Identifier: Apache-2.0
// How many rounds of the online game (ask, answer, tell) does each learner play a second, and how does the
// time of a round grow with the graph? Labels follow the graph: the class of the nearest of some random
// centres, one in twenty flipped. Processor time of one thread; what is built before the first round is told
// apart.
//
//   online_rounds [--graph knn|rmat|grid|tree] [--nodes 1e3,1e4,1e5,1e6] [--rounds 1000] [--seconds 20]
//   [--learners a,b:x=1]
//                 [--centres 20] [--flipped 20] [--dump DIR] [--threads 1] [--worst yes]
//
// --worst yes times every answer and every label by itself and prints the longest of each, and the 999th of a
// thousand; rounds a second are then some percent fewer. And a batch run with the labels of the game, to
// compare the start with.
//
// A game that has not ended after --seconds is cut there and says so. --dump writes edges.tsv and game.tsv of
// the last graph for bench/online_rounds.py.

#include <sys/resource.h>

#include <cmath>
#include <sstream>

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/learners/nearest_neighbor.hpp"
#include "copse/learners/registry.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace {

using namespace copse;

constexpr const char* kLearners =
    "majority_vote,nearest_neighbor,wta,tree_cut,graph_perceptron,one_projection,cyclic_projection,"
    "min_norm_interpolation,pounce,graph_perceptron:on=tree:num_trees=1,one_projection:on=tree:num_trees=1,"
    "pounce:on=tree:num_trees=1";

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

/// Every node hangs below a random earlier one.
Graph random_tree(NodeId n) {
  Stream stream(1, Purpose::generator, 5);
  EdgeChunk chunk;
  for (NodeId u = 1; u < n; ++u) {
    chunk.u.push_back(u);
    chunk.v.push_back(static_cast<NodeId>(stream.below(u)));
  }
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  return build_graph(std::move(chunks), n, {}, {}, "tree");
}

Graph make_graph(const std::string& kind, NodeId n) {
  if (kind == "tree") return random_tree(n);
  if (kind == "rmat")
    return generate_graph("rmat", {{"scale", std::ceil(std::log2(n))}, {"edge_factor", 8}}, {}).graph;
  if (kind == "grid") {
    const double side = std::round(std::sqrt(n));
    return generate_graph("grid", {{"rows", side}, {"columns", side}}, {}).graph;
  }
  return bench::neighbors_in_3d(n, 10, 1);
}

struct Game {
  std::vector<NodeId> nodes;
  std::vector<Label> labels;
};

Game make_game(const GraphView& graph, std::uint64_t rounds, int num_centres, std::uint64_t flipped) {
  Stream stream(1, Purpose::online_order, 0);
  std::vector<Label> centres(graph.num_nodes(), kNoLabel);
  for (int k = 0; k < num_centres; ++k) centres[stream.below(graph.num_nodes())] = static_cast<Label>(k % 2);
  const auto truth = NearestNeighbor::fit(graph, centres, 2, {}, {});
  Game game;
  while (game.nodes.size() < rounds) {
    const auto node = static_cast<NodeId>(stream.below(graph.num_nodes()));
    const bool is_flipped = stream.below(flipped) == 0;
    if (graph.degree(node) == 0) continue;  // of which nothing can be learned
    const auto label = static_cast<Label>(truth.predictor->predict(node).label ^ (is_flipped ? 1 : 0));
    game.nodes.push_back(node);
    game.labels.push_back(label);
  }
  return game;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Seconds a round.
double play(const std::string& text, const GraphView& graph, const Game& game, double most_seconds,
            int threads, bool shows_worst) {
  std::vector<std::string> parts = split(text, ':');
  OptionValues options;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto at = parts[i].find('=');
    options[parts[i].substr(0, at)] = parts[i].substr(at + 1);
  }
  std::unique_ptr<Learner> learner;
  const double setup = bench::cpu_seconds(
      [&] { learner = learner_row(parts[0]).make(graph, options, {.seed = 1, .threads = threads}); });
  std::uint64_t rounds = 0, mistakes = 0;
  double spent = 0;
  std::vector<double> asked, told;
  while (rounds < game.nodes.size() && spent < most_seconds) {
    const std::size_t end = std::min(game.nodes.size(), rounds + (rounds < 1000 ? 1 : rounds / 100));
    spent += bench::cpu_seconds([&] {
      for (; rounds < end; ++rounds) {
        const auto ask = [&] {
          mistakes += learner->predict(game.nodes[rounds]).label != game.labels[rounds];
        };
        const auto tell = [&] { learner->reveal(game.nodes[rounds], game.labels[rounds]); };
        if (shows_worst) {
          asked.push_back(bench::cpu_seconds(ask));
          told.push_back(bench::cpu_seconds(tell));
        } else {
          ask();
          tell();
        }
      }
    });
  }
  const auto* sequential = dynamic_cast<const SequentialLearner*>(learner.get());
  std::printf("%-42s %9u %10lu %8lu%s %9lu %9s %8.2f %10.3f %12.1f %9.0f\n", text.c_str(), graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), static_cast<unsigned long>(rounds),
              rounds < game.nodes.size() ? "*" : " ", static_cast<unsigned long>(mistakes),
              sequential == nullptr ? "-" : std::to_string(sequential->num_updates()).c_str(), setup, spent,
              static_cast<double>(rounds) / spent, peak_mib());
  if (shows_worst) {
    std::vector<Label> labels(graph.num_nodes(), kNoLabel);
    for (std::size_t i = 0; i < rounds; ++i) labels[game.nodes[i]] = game.labels[i];
    learner.reset();
    const double batch = bench::cpu_seconds(
        [&] { learner_row(parts[0]).fit(graph, labels, 2, options, {.seed = 1, .threads = threads}); });
    std::printf("  a batch run takes %.2f s\n", batch);
  }
  for (auto* times : {&asked, &told}) {
    if (times->empty()) continue;
    std::sort(times->begin(), times->end());
    std::printf("  %s: median %.4f ms, 999 of 1,000 below %.3f, worst %.3f\n",
                times == &asked ? "answers" : "labels", 1e3 * (*times)[times->size() / 2],
                1e3 * (*times)[times->size() * 999 / 1000], 1e3 * times->back());
  }
  std::fflush(stdout);
  return spent / static_cast<double>(rounds);
}

void dump(const std::string& directory, const GraphView& graph, const Game& game) {
  std::FILE* edges = std::fopen((directory + "/edges.tsv").c_str(), "w");
  std::FILE* rounds = std::fopen((directory + "/game.tsv").c_str(), "w");
  bench::check(edges != nullptr && rounds != nullptr, "the directory of --dump cannot be written to");
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (u < graph.neighbors[arc])
        std::fprintf(edges, "%u\t%u\t%.9g\n", u, graph.neighbors[arc],
                     static_cast<double>(graph.weight(arc)));
  for (std::size_t t = 0; t < game.nodes.size(); ++t)
    std::fprintf(rounds, "%u\t%u\n", game.nodes[t], static_cast<unsigned>(game.labels[t]));
  std::fclose(edges);
  std::fclose(rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = bench::argument(argc, argv, "graph", "knn");
  const auto sizes = split(bench::argument(argc, argv, "nodes", "1e3,1e4,1e5,1e6"), ',');
  const auto learners = split(bench::argument(argc, argv, "learners", kLearners), ',');
  const double rounds = std::stod(bench::argument(argc, argv, "rounds", "1000"));
  const double most_seconds = std::stod(bench::argument(argc, argv, "seconds", "20"));
  const int num_centres = std::stoi(bench::argument(argc, argv, "centres", "20"));
  const auto flipped = std::stoull(bench::argument(argc, argv, "flipped", "20"));
  const int threads = std::stoi(bench::argument(argc, argv, "threads", "1"));
  const bool shows_worst = bench::argument(argc, argv, "worst", "no") == "yes";
  const std::string directory = bench::argument(argc, argv, "dump", "");
  std::printf("%-42s %9s %10s %9s %9s %9s %8s %10s %12s %9s\n", "learner", "nodes", "edges", "rounds",
              "mistakes", "updates", "setup s", "seconds", "rounds/s", "peak MiB");
  std::vector<std::vector<double>> seconds(learners.size());
  std::vector<double> logs;
  for (const std::string& size : sizes) {
    const Graph graph = make_graph(kind, static_cast<NodeId>(std::stod(size)));
    const Game game = make_game(graph, static_cast<std::uint64_t>(rounds), num_centres, flipped);
    logs.push_back(std::log(graph.num_nodes()));
    for (std::size_t i = 0; i < learners.size(); ++i)
      seconds[i].push_back(std::log(play(learners[i], graph, game, most_seconds, threads, shows_worst)));
    if (!directory.empty()) dump(directory, graph, game);
  }
  if (sizes.size() < 2) return 0;
  // Growth: slope of log(seconds per round) over log(nodes), by least squares.
  for (std::size_t i = 0; i < learners.size(); ++i) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t k = 0; k < logs.size(); ++k) {
      const double x = logs[k], y = seconds[i][k];
      n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    std::printf("%-42s a round grows as nodes^%.2f\n", learners[i].c_str(),
                (n * sxy - sx * sy) / (n * sxx - sx * sx));
  }
}
