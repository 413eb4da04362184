// SPDX-License-Identifier: Apache-2.0
// What do the fast routines earn beside their plain twins? Nanoseconds of a step of Wilson's walks: by the
// textbook loop, and as copse draws trees, one walk after the other and interleaved; which of the two it
// chooses for the graph, and how that compares with the textbook loop: at least 0.95 everywhere, or the
// choice is wrong.
//
//   twins [--graph NAME|all] [--data ../shared/data] [--repeats 9]

#include <array>

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/trees/sample.hpp"
#include "trees/wilson.hpp"

namespace {

using namespace copse;

/// The textbook loop: a second visit overwrites the arrow, and the cycle is erased.
template <class Arcs>
WilsonResult plain_wilson(const GraphView& graph, const Arcs& arcs, NodeId root, std::uint64_t index) {
  const NodeId n = graph.num_nodes();
  FastStream random(1, Purpose::test, index);
  auto next = Buffer<NodeId>::for_overwrite(n), rank = Buffer<NodeId>::for_overwrite(n);
  std::fill(rank.begin(), rank.end(), kNoNode);  // not in the tree
  Buffer<Weight> weight;
  if (graph.is_weighted()) weight = Buffer<Weight>::for_overwrite(n);
  WilsonResult result{.complete = true};
  SpanningForest& forest = result.forest;
  forest.node = Buffer<NodeId>::for_overwrite(n);
  forest.parent = Buffer<NodeId>::for_overwrite(n);
  if (graph.is_weighted()) forest.weight = Buffer<Weight>(n);
  NodeId size = 0;
  const auto join = [&](NodeId node, NodeId parent) {
    forest.node[size] = node;
    forest.parent[size] = parent;
    if (graph.is_weighted() && size > 0) forest.weight[size] = weight[node];
    rank[node] = size++;
  };
  join(root, 0);
  for (NodeId start = 0; start < n; ++start) {
    NodeId u = start;
    for (; rank[u] == kNoNode; u = next[u]) {
      const EdgeIndex arc = arcs.choose(u, random.next64());
      if (graph.is_weighted()) weight[u] = graph.weights[arc];
      next[u] = graph.neighbors[arc];
      ++result.steps;
    }
    const NodeId begin = size, parent = rank[u];
    for (u = start; rank[u] == kNoNode; u = next[u]) forest.node[size++] = u, rank[u] = 0;
    const NodeId end = std::exchange(size, begin);
    std::reverse(forest.node.begin() + begin, forest.node.begin() + end);
    while (size < end) join(forest.node[size], size == begin ? parent : size - 1);
  }
  return result;
}

template <class Arcs>
void compare_walks(const char* name, const GraphView& graph, int repeats) {
  const TreeSampler sampler(graph, TreeKind::rst, {});  // for its roots
  const Arcs arcs(graph);
  constexpr int kPlain = 0, kOneByOne = 1, kInterleaved = 2, kWays = 3;
  const auto draw = [&](int way, std::uint64_t index) {
    if (way == kPlain) return plain_wilson(graph, arcs, sampler.roots()[0], index);
    const WalkOrder order = way == kOneByOne ? WalkOrder::one_by_one : WalkOrder::interleaved;
    return wilson(graph, arcs, sampler.roots(), index, {}, {.order = order});
  };
  std::array<std::vector<double>, kWays> nanoseconds;
  double steps = 0;
  for (int i = 0; i < repeats; ++i) {
    for (int way = 0; way < kWays; ++way) {
      const auto index = static_cast<std::uint64_t>(i);
      if (i == 0) check_forest(graph, draw(way, index).forest);
      std::uint64_t its_steps = 0;
      const double seconds = bench::cpu_seconds([&] { its_steps = draw(way, index).steps; });
      nanoseconds[way].push_back(seconds / static_cast<double>(its_steps) * 1e9);
      steps += static_cast<double>(its_steps) / kWays / repeats;
    }
  }
  const auto median = [&](int way) {
    std::sort(nanoseconds[way].begin(), nanoseconds[way].end());
    return nanoseconds[way][nanoseconds[way].size() / 2];
  };
  const double times[] = {median(kPlain), median(kOneByOne), median(kInterleaved)};
  const int chosen = walk_order(graph) == WalkOrder::interleaved ? kInterleaved : kOneByOne;
  std::printf("%-14s %-10s %9u %10lu %8.2f %8.1f %10.1f %11.1f  %-11s %6.2f\n", name,
              graph.is_weighted() ? "weighted" : "unweighted", graph.num_nodes(),
              static_cast<unsigned long>(graph.num_edges()), steps / graph.num_nodes(), times[kPlain],
              times[kOneByOne], times[kInterleaved], chosen == kInterleaved ? "interleaved" : "one_by_one",
              times[kPlain] / times[chosen]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "9"));
  std::printf("%-14s %-10s %9s %10s %8s %8s %10s %11s  %-11s %6s\n", "graph", "weights", "nodes", "edges",
              "steps/n", "plain", "one_by_one", "interleaved", "chosen", "ratio");
  bench::for_each_tree_graph(bench::argument(argc, argv, "data", "../shared/data"),
                             bench::argument(argc, argv, "graph", "all"),
                             [&](const char* name, const GraphView& graph) {
                               if (graph.is_weighted())
                                 compare_walks<WeightedArcs>(name, graph, repeats);
                               else
                                 compare_walks<UniformArcs>(name, graph, repeats);
                             });
}
