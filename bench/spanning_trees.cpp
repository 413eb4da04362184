// SPDX-License-Identifier: Apache-2.0
// How fast is a random spanning tree? copse's Wilson beside the Boost Graph Library's, rooted at the same
// node, on one thread; and a step beside what the memory of this machine allows.
//
//   spanning_trees [--graph NAME|all] [--data ../shared/data] [--repeats 5]

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/random_spanning_tree.hpp>
#include <boost/random/mersenne_twister.hpp>

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/trees/sample.hpp"

namespace {

using namespace copse;

struct BoostWeight {
  float weight;
};
using BoostGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, BoostWeight,
                                                      boost::no_property, NodeId, EdgeIndex>;

BoostGraph to_boost(const GraphView& graph) {
  std::vector<std::pair<NodeId, NodeId>> arcs;
  std::vector<BoostWeight> weights;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      arcs.push_back({u, graph.neighbors[arc]});
      weights.push_back({graph.weight(arc)});
    }
  }
  return {boost::edges_are_sorted, arcs.begin(), arcs.end(), weights.begin(), graph.num_nodes()};
}

/// Counts what Boost draws: one number a step of its walk. Trees differ widely in their steps, so that times
/// of different trees can be compared only by the step.
struct CountingGenerator {
  using result_type = boost::random::mt19937::result_type;
  static result_type min() { return boost::random::mt19937::min(); }
  static result_type max() { return boost::random::mt19937::max(); }
  result_type operator()() {
    ++calls;
    return base();
  }
  boost::random::mt19937 base{1};
  std::uint64_t calls = 0;
};

/// Nanoseconds of a random read in an array of that many bytes: independent ones, and each waiting for the
/// last.
std::pair<double, double> read_times(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes / 4, 1024);
  Buffer<std::uint32_t> array(size);
  Stream stream(1, Purpose::test, 0);
  for (auto& value : array) value = static_cast<std::uint32_t>(stream.next64());
  constexpr int kReads = 1 << 22;
  std::uint64_t state = 1, sum = 0;
  const double independent = bench::cpu_seconds([&] {
    for (int i = 0; i < kReads; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sum += array[(static_cast<Uint128>(state) * size) >> 64];
    }
  });
  const double dependent = bench::cpu_seconds([&] {
    for (int i = 0; i < kReads / 4; ++i) {
      state = (state + array[(static_cast<Uint128>(state) * size) >> 64]) * 6364136223846793005u +
              1442695040888963407u;
    }
  });
  bench::keep(sum + state);
  return {independent / kReads * 1e9, dependent / (kReads / 4) * 1e9};
}

/// Trees of one of the two: what they took, and the steps of their walks.
struct Trees {
  std::vector<double> seconds, step;
  double steps = 0;

  void add(double time, double its_steps) {
    seconds.push_back(time);
    step.push_back(time / its_steps * 1e9);
    steps += its_steps;
  }
  double steps_a_node(NodeId n) const { return steps / static_cast<double>(step.size()) / n; }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Trees of the two take turns, and medians are compared: what else the machine does meets both. Ours come in
/// threes, as in a committee one follows the other.
void compare(const char* name, const GraphView& graph, int repeats) {
  const NodeId n = graph.num_nodes();
  const TreeSampler sampler(graph, TreeKind::rst, {});
  const NodeId root = sampler.roots()[0];
  check_forest(graph, sampler.tree(0));
  const BoostGraph boost_graph = to_boost(graph);
  std::vector<NodeId> parent(n);
  const auto parents =
      boost::make_iterator_property_map(parent.begin(), boost::get(boost::vertex_index, boost_graph));
  CountingGenerator generator;
  std::vector<boost::default_color_type> color(n);
  const auto colors =
      boost::make_iterator_property_map(color.begin(), boost::get(boost::vertex_index, boost_graph));

  Trees ours, theirs;
  for (int i = 0; i < repeats; ++i) {
    TreeReport report;
    const double time = bench::cpu_seconds(
        [&] { bench::keep(sampler.tree(static_cast<std::uint64_t>(i) + 1, &report).parent[0]); });
    ours.add(time, static_cast<double>(report.steps));
    if (i % 3 != 2) continue;
    generator.calls = 0;
    const double their_time = bench::cpu_seconds([&] {
      if (graph.is_weighted()) {
        boost::random_spanning_tree(boost_graph, generator, root, parents,
                                    boost::get(&BoostWeight::weight, boost_graph), colors);
      } else {
        boost::random_spanning_tree(boost_graph, generator, root, parents,
                                    boost::static_property_map<double>(1.0), colors);
      }
    });
    // Where a node has one neighbour Boost draws nothing; but there are n - 1 steps at least.
    theirs.add(their_time, static_cast<double>(std::max<std::uint64_t>(generator.calls, n - 1)));
  }
  const auto is_root = [&](NodeId above) { return above >= n; };
  bench::check(std::count_if(parent.begin(), parent.end(), is_root) == 1, "Boost's tree has one root");

  const auto [independent, dependent] = read_times(graph.num_arcs() * (graph.is_weighted() ? 8 : 4));
  const double step = median(ours.step), their_step = median(theirs.step);
  std::printf("%-14s %-10s %9u %10lu %8.2f %8.2f %9.3f %9.1f %9.1f %7.1f %7.1f %7.1f %8.2f\n", name,
              graph.is_weighted() ? "weighted" : "unweighted", n,
              static_cast<unsigned long>(graph.num_edges()), ours.steps_a_node(n), theirs.steps_a_node(n),
              median(ours.seconds), step, their_step, their_step / step, independent, dependent,
              step / (2 * independent));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "5"));
  std::printf("%-14s %-10s %9s %10s %8s %8s %9s %9s %9s %7s %7s %7s %8s\n", "graph", "weights", "nodes",
              "edges", "steps/n", "boost's", "copse s", "ns/step", "boost's", "ratio", "read", "chained",
              "/2reads");
  bench::for_each_tree_graph(
      bench::argument(argc, argv, "data", "../shared/data"), bench::argument(argc, argv, "graph", "all"),
      [&](const char* name, const GraphView& graph) { compare(name, graph, repeats); });
}
