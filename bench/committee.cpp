// SPDX-License-Identifier: Apache-2.0
// What does one more tree in a committee cost (draw, lay out, all predictions), on one thread, beside one
// scan of the adjacency? How does it grow with the graph at a fixed mean degree? And what does a committee of
// 31 trees take by the clock, with one thread and with two?
//
//   committee [--scale 22] [--largest 10000000] [--graph NAME|all] [--data ../shared/data] [--repeats 3]

#include <cmath>
#include <numeric>

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/learners/wta.hpp"

namespace {

using namespace copse;

std::vector<Label> some_labels(NodeId n) {
  Stream stream(1, Purpose::label_noise, 0);
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels) {
    if (stream.below(20) == 0) label = static_cast<Label>(stream.below(2));
  }
  return labels;
}

/// Seconds of one member: what twelve more trees add, over twelve.
double member_seconds(const GraphView& graph, int repeats) {
  const auto labels = some_labels(graph.num_nodes());
  const auto fit = [&](int trees) {
    return bench::median_seconds(repeats, [&](int i) {
      bench::keep(
          Wta::fit(graph, labels, 2, {.num_trees = trees}, {.seed = static_cast<std::uint64_t>(i) + 1})
              .units_done);
    });
  };
  return (fit(13) - fit(1)) / 12;
}

/// Seconds of one pass over the neighbours (and weights).
double scan_seconds(const GraphView& graph, int repeats) {
  return bench::median_seconds(repeats, [&](int) {
    const auto neighbors = graph.neighbors.narrow();
    const auto weights = graph.weights.narrow();
    std::uint64_t sum = std::accumulate(neighbors.begin(), neighbors.end(), std::uint64_t{0});
    double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
    bench::keep(sum + static_cast<std::uint64_t>(weight));
  });
}

void print_member(const char* name, const GraphView& graph, int repeats) {
  const double member = member_seconds(graph, repeats), scan = scan_seconds(graph, repeats);
  std::printf("%-16s %-10s %9u %10lu %9.3f %9.3f %9.1f\n", name,
              graph.is_weighted() ? "weighted" : "unweighted", graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), member, scan, member / scan);
  std::fflush(stdout);
}

/// Seconds by the clock, the fewest of several runs.
double committee_seconds(const GraphView& graph, int threads, int repeats) {
  const auto labels = some_labels(graph.num_nodes());
  double fewest = 1e9;
  for (int i = 0; i < repeats; ++i) {
    fewest = std::min(fewest, bench::seconds([&] {
                        const Execution execution{.seed = static_cast<std::uint64_t>(i), .threads = threads};
                        bench::keep(Wta::fit(graph, labels, 2, {.num_trees = 31}, execution).units_done);
                      }));
  }
  return fewest;
}

void print_committee(const char* name, const GraphView& graph, int repeats) {
  const double one = committee_seconds(graph, 1, repeats), two = committee_seconds(graph, 2, repeats);
  std::printf("%-16s %-10s %9u %10lu %9.4f %9.4f %9.2f\n", name,
              graph.is_weighted() ? "weighted" : "unweighted", graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), one, two, one / two);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const double scale =
      std::stod(bench::argument(argc, argv, "scale", "22"));  // of the R-MAT graph; 0: none, and no growth
  const double largest = std::stod(bench::argument(argc, argv, "largest", "1e7"));
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "3"));
  const Execution execution{.seed = 1, .threads = 2};
  const auto print_head = [](const char* first, const char* second) {
    std::printf("%-16s %-10s %9s %10s %9s %9s %9s\n", "graph", "weights", "nodes", "edges", first, second,
                "ratio");
  };
  print_head("31, 1 thr", "31, 2 thr");
  bench::for_each_tree_graph(
      bench::argument(argc, argv, "data", "../shared/data"), bench::argument(argc, argv, "graph", "all"),
      [&](const char* name, const GraphView& graph) { print_committee(name, graph, repeats); });
  if (scale == 0) return 0;
  {
    const Graph rmat = generate_graph("rmat", {{"scale", scale}, {"edge_factor", 16}}, execution).graph;
    const Graph weighted = bench::with_weights(rmat, 100, 1);
    print_committee("rmat", rmat, repeats);
    print_committee("rmat", weighted, repeats);
    print_head("member s", "scan s");
    print_member("rmat", rmat, repeats);
    print_member("rmat", weighted, repeats);
  }

  // Growth: slope of log(seconds) over log(nodes), by least squares; 1 is linear.
  double n_points = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (double n = 1e4; n <= largest; n *= 10) {
    const Graph graph = generate_graph("random", {{"nodes", n}, {"edges", 5 * n}}, execution).graph;
    const double seconds = member_seconds(graph, repeats);
    const double x = std::log(n), y = std::log(seconds);
    n_points += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    std::printf("random, degree 10: %9.0f nodes %10.5f s a member\n", n, seconds);
    std::fflush(stdout);
  }
  if (n_points > 1)
    std::printf("log-log slope %.2f\n", (n_points * sxy - sx * sy) / (n_points * sxx - sx * sx));
}
