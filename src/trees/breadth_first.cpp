// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "copse/support/bitset.hpp"
#include "copse/trees/shortest_path.hpp"

namespace copse {

SpanningForest breadth_first_forest(const GraphView& graph, std::span<const NodeId> roots,
                                    const Execution& execution) {
  const std::size_t n = graph.num_nodes();
  SpanningForest forest;
  forest.node = Buffer<NodeId>(n);
  forest.parent = Buffer<NodeId>(n);
  if (graph.is_weighted()) forest.weight = Buffer<Weight>(n);

  Bitset seen(n);
  CancelCheck check(execution);
  std::size_t head = 0, tail = 0;  // the list of nodes is the queue
  const auto append = [&](NodeId node, std::size_t parent, Weight weight) {
    seen.set(node);
    forest.node[tail] = node;
    forest.parent[tail] = static_cast<NodeId>(parent);
    if (!forest.weight.empty()) forest.weight[tail] = weight;
    ++tail;
  };
  for (const NodeId root : roots) {
    if (seen.test(root)) throw std::logic_error("breadth_first_forest: a component has two roots");
    append(root, tail, 0);
    for (; head < tail; ++head) {
      const NodeId u = forest.node[head];
      check.step();
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        if (!seen.test(graph.neighbors[arc])) append(graph.neighbors[arc], head, graph.weight(arc));
    }
  }
  if (tail != n) throw std::logic_error("breadth_first_forest: a component has no root");
  return forest;
}

}  // namespace copse
