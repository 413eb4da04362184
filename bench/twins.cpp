// SPDX-License-Identifier: Apache-2.0
// What do the fast routines earn beside their plain twins? Nanoseconds of a step of Wilson's walks, one by
// one (the textbook loop) and interleaved, which of them copse chooses for the graph, and how that compares
// with the textbook loop: at least 0.95 everywhere, or the choice is wrong.
//
//   twins [--graph NAME|all] [--data ../shared/data] [--repeats 9]

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/trees/sample.hpp"
#include "trees/wilson.hpp"

namespace {

using namespace copse;

template <class Arcs>
void compare_orders(const char* name, const GraphView& graph, int repeats) {
  const TreeSampler sampler(graph, TreeKind::bfst, {});  // for its roots
  const Arcs arcs(graph);
  const auto draw = [&](int index, WalkOrder order) {
    return wilson(graph, arcs, sampler.roots(), static_cast<std::uint64_t>(index), {}, {.order = order});
  };
  std::vector<double> nanoseconds[2];
  double steps = 0;
  for (int i = 0; i < repeats; ++i) {
    for (const WalkOrder order : {WalkOrder::one_by_one, WalkOrder::interleaved}) {
      if (i == 0) check_forest(graph, draw(i, order).forest);
      std::uint64_t its_steps = 0;
      const double seconds = bench::cpu_seconds([&] { its_steps = draw(i, order).steps; });
      nanoseconds[order == WalkOrder::interleaved].push_back(seconds / static_cast<double>(its_steps) * 1e9);
      steps += static_cast<double>(its_steps) / 2 / repeats;
    }
  }
  for (auto& times : nanoseconds) std::sort(times.begin(), times.end());
  const double plain = nanoseconds[0][nanoseconds[0].size() / 2],
               turns = nanoseconds[1][nanoseconds[1].size() / 2];
  const bool interleaved = walk_order(graph) == WalkOrder::interleaved;
  std::printf("%-14s %-10s %9u %10lu %8.2f %10.1f %11.1f  %-11s %6.2f\n", name,
              graph.is_weighted() ? "weighted" : "unweighted", graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), steps / graph.num_nodes(), plain, turns,
              interleaved ? "interleaved" : "one_by_one", interleaved ? plain / turns : 1.0);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "9"));
  std::printf("%-14s %-10s %9s %10s %8s %10s %11s  %-11s %6s\n", "graph", "weights", "nodes", "edges",
              "steps/n", "one_by_one", "interleaved", "chosen", "ratio");
  bench::for_each_tree_graph(bench::argument(argc, argv, "data", "../shared/data"),
                             bench::argument(argc, argv, "graph", "all"),
                             [&](const char* name, const GraphView& graph) {
                               if (graph.is_weighted())
                                 compare_orders<WeightedArcs>(name, graph, repeats);
                               else
                                 compare_orders<UniformArcs>(name, graph, repeats);
                             });
}
