// SPDX-License-Identifier: Apache-2.0
// What do label_propagation and poisson cost, whole fits, on the weighted block model of five classes? With
// --out DIR it leaves the graph, the labels and the answers there, for bench/label_propagation.py to solve
// the same systems with SciPy. With more than one thread seconds are those of the clock, else of the
// processor.
//
//   label_propagation [--nodes 1000000] [--labels 1000] [--repeats 3] [--threads 1] [--out DIR]

#include <fstream>

#include "bench.hpp"
#include "copse/graph/generate.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/random.hpp"

namespace {

using namespace copse;

template <class Values>
void write(const std::string& directory, const char* name, const Values& values) {
  if (directory.empty()) return;
  std::ofstream(directory + "/" + name, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(values[0])));
}

std::vector<Label> some_of(const std::vector<Label>& truth, std::uint64_t count) {
  Stream stream(1, Purpose::split, 0);
  std::vector<Label> given(truth.size(), kNoLabel);
  while (count > 0) {
    const auto node = stream.below(truth.size());
    if (given[node] != kNoLabel) continue;
    given[node] = truth[node];
    --count;
  }
  return given;
}

}  // namespace

int main(int argc, char** argv) {
  const double nodes = std::stod(bench::argument(argc, argv, "nodes", "1000000"));
  const auto num_labels = std::stoull(bench::argument(argc, argv, "labels", "1000"));
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "3"));
  const int threads = std::stoi(bench::argument(argc, argv, "threads", "1"));
  const std::string out = bench::argument(argc, argv, "out", "");
  const GeneratedGraph made = generate_graph("block_model",
                                             {{"nodes", nodes},
                                              {"classes", 5},
                                              {"degree_inside", 9},
                                              {"degree_outside", 3},
                                              {"weight_inside", 1},
                                              {"weight_outside", 0.5}},
                                             {.seed = 1, .threads = 2});
  const GraphView& graph = made.graph;
  const std::vector<Label> given = some_of(made.labels.of_node, num_labels);
  write(out, "offsets.u64", graph.offsets);
  write(out, "neighbors.u32", graph.neighbors);
  write(out, "weights.f32", graph.weights);
  write(out, "given.u16", given);
  write(out, "truth.u16", made.labels.of_node);

  std::printf("%-18s %-12s %9s %10s %9s %9s\n", "learner", "options", "nodes", "nonzeros", "seconds",
              "accuracy");
  const auto run = [&](const char* name, const char* text, const OptionValues& options) {
    BatchResult result;
    double best = 1e300;
    for (int i = 0; i < repeats; ++i) {
      const auto fit = [&] {
        result = learner_row(name).fit(graph, given, 5, options, {.seed = 1, .threads = threads});
      };
      best = std::min(best, threads == 1 ? bench::cpu_seconds(fit) : bench::seconds(fit));
    }
    std::vector<Label> answers(graph.num_nodes());
    double right = 0, hidden = 0;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      answers[u] = result.predictor->predict(u).label;
      if (given[u] != kNoLabel) continue;
      hidden += 1;
      right += answers[u] == made.labels.of_node[u];
    }
    write(out, (std::string(name) + text + ".u16").c_str(), answers);
    std::printf("%-18s %-12s %9u %10lu %9.3f %9.4f\n", name, *text == 0 ? "-" : text, graph.num_nodes(),
                static_cast<unsigned long>(graph.num_arcs()), best, right / hidden);
    for (const std::string& note : result.notes) std::printf("  %s\n", note.c_str());
    std::fflush(stdout);
  };
  run("poisson", "", {});
  run("label_propagation", "", {});
  run("label_propagation", "shift=none", {{"shift", "none"}});
}
