// SPDX-License-Identifier: Apache-2.0
// Predict from C++: a graph, two labels, an answer with its reasons; then one more label.

#include <copse/copse.hpp>
#include <cstdio>

int main() {
  // Two triangles joined by a weak edge.
  const copse::Graph graph = copse::graph_from_edges(
      6, {{0, 1, 3}, {1, 2, 2}, {2, 0, 1}, {2, 3, 0.1F}, {3, 4, 2}, {4, 5, 1}, {5, 3, 4}});

  // Everything at once: labels[node] is a class index, kNoLabel where it is unknown.
  std::vector<copse::Label> labels(graph.num_nodes(), copse::kNoLabel);
  labels[0] = 0;
  labels[5] = 1;
  const copse::Execution execution{.seed = 1, .threads = 2};
  const copse::BatchResult batch = copse::Wta::fit(graph, labels, 2, {.num_trees = 101}, execution);
  for (copse::NodeId node = 0; node < graph.num_nodes(); ++node) {
    const copse::Prediction answer = batch.predictor->predict(node);
    std::printf("node %u: class %d, %.2f of the trees\n", node, answer.label, answer.confidence);
  }

  // One at a time: predict never learns, reveal never predicts, retract forgets exactly.
  copse::Wta online(graph, {.num_trees = 101}, execution);
  online.reveal(0, 0);
  online.reveal(5, 1);
  for (const copse::Reason& why : online.explain(4))
    std::printf("node 4 because of node %u (class %d), resistance %.2f\n", why.node, why.label,
                why.resistance);
  online.retract(5);
  return online.predict(4).label == 0 && batch.predictor->predict(4).label == 1 ? 0 : 1;
}
