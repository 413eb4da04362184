// SPDX-License-Identifier: Apache-2.0
#include "papers/adversary.hpp"

#include <algorithm>
#include <numeric>

#include "copse/support/random.hpp"
#include "papers/tree_edges.hpp"

namespace copse {

Adversary adversarial_labelling(const GraphView& graph, std::uint64_t budget, const Execution& execution) {
  const NodeId n = graph.num_nodes();
  if (budget < 1 || budget > n)
    throw UsageError{"adversary", with_commas(budget) + " coins for " + with_commas(n) + " nodes",
                     "give at least 1 and at most as many as there are nodes"};
  Adversary adversary;
  const TreeEdges edges(graph, execution);
  adversary.num_trees = edges.num_trees();

  std::vector<double> weight(n);
  edges.for_each([&](NodeId u, NodeId v, double probability) {
    weight[u] += probability;
    weight[v] += probability;
  });
  std::vector<NodeId> order(n);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return weight[a] < weight[b]; });
  adversary.budget.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(budget));

  adversary.labels.classes.intern("+1");
  adversary.labels.classes.intern("-1");
  std::vector<Label>& labels = adversary.labels.of_node;
  labels.assign(n, kNoLabel);
  Stream coins{execution.seed, Purpose::adversary, 0};
  for (const NodeId node : adversary.budget) labels[node] = static_cast<Label>(coins.next32() & 1);

  // What either label of the others would cut: edges to coins that fell on the other side.
  double inner = 0, cut_by[2] = {0, 0};
  edges.for_each([&](NodeId u, NodeId v, double probability) {
    if (labels[u] != kNoLabel && labels[v] != kNoLabel)
      inner += labels[u] != labels[v] ? probability : 0;
    else if (labels[u] != kNoLabel || labels[v] != kNoLabel)
      cut_by[1 - (labels[u] != kNoLabel ? labels[u] : labels[v])] += probability;
  });
  const Label rest = cut_by[1] < cut_by[0] ? 1 : 0;
  std::replace(labels.begin(), labels.end(), kNoLabel, rest);
  adversary.expected_cut = inner + cut_by[rest];
  return adversary;
}

}  // namespace copse
