// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/components.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"

// Afforest (Sutton, Ben-Nun & Barak, IPDPS 2018): union-find where the larger root hooks below the
// smaller, first over two arcs of every node, then over the rest, without the nodes that already hang
// together in what is by then the largest component. Most arcs are never looked at. A root is always the
// smallest node of its tree, so the result is the same whatever the order of the hooks.

namespace copse {

NodeId Components::largest() const {
  return static_cast<NodeId>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
}

namespace {

constexpr std::size_t kNodesPerBlock = std::size_t{1} << 14;
constexpr EdgeIndex kSampledArcs = 2;        // of each node, before the largest component is guessed
constexpr std::size_t kSampledNodes = 1024;  // looked at for that guess

class Roots {
 public:
  explicit Roots(NodeId num_nodes) : parents_(num_nodes) {}

  NodeId parent(NodeId u) const {
    return std::atomic_ref<NodeId>(const_cast<NodeId&>(parents_[u])).load(std::memory_order_relaxed);
  }
  void set_parent(NodeId u, NodeId p) {
    std::atomic_ref<NodeId>(parents_[u]).store(p, std::memory_order_relaxed);
  }

  void join(NodeId u, NodeId v) {
    NodeId a = parent(u), b = parent(v);
    while (a != b) {
      const NodeId low = std::min(a, b), high = std::max(a, b);
      NodeId above = parent(high);
      if (above == low) return;
      if (above == high && std::atomic_ref<NodeId>(parents_[high])
                               .compare_exchange_strong(above, low, std::memory_order_relaxed)) {
        return;
      }
      a = parent(parent(high));
      b = parent(low);
    }
  }

  // Every node directly below its root. Roots do not change meanwhile, so the end does not depend on the
  // order.
  void flatten(NodeId u) {
    NodeId root = parent(u);
    while (parent(root) != root) root = parent(root);
    set_parent(u, root);
  }

 private:
  Buffer<NodeId> parents_;
};

template <class Body>
void for_nodes(const GraphView& graph, const Execution& execution, Body body) {
  parallel_blocks(execution, graph.num_nodes(), kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (auto u = static_cast<NodeId>(begin); u < end; ++u) body(u);
                  });
}

// The most frequent root among nodes at equal distances: a guess, which only saves time.
NodeId frequent_root(const Roots& roots, NodeId num_nodes) {
  std::vector<NodeId> sample;
  const NodeId step = std::max<NodeId>(1, num_nodes / kSampledNodes);
  for (std::uint64_t u = 0; u < num_nodes; u += step) sample.push_back(roots.parent(static_cast<NodeId>(u)));
  std::sort(sample.begin(), sample.end());
  NodeId best = 0;
  std::ptrdiff_t best_count = 0;
  for (auto run = sample.begin(); run != sample.end();) {
    const auto end = std::upper_bound(run, sample.end(), *run);
    if (end - run > best_count) best_count = end - run, best = *run;
    run = end;
  }
  return best;
}

// Components in the order of their roots, which are their smallest nodes.
Components number_roots(const GraphView& graph, const Roots& roots, const Execution& execution) {
  Components components;
  components.of_node.resize(graph.num_nodes());
  NodeId count = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (roots.parent(u) == u) components.of_node[u] = count++;
  }
  for_nodes(graph, execution, [&](NodeId u) {
    if (const NodeId root = roots.parent(u); root != u) components.of_node[u] = components.of_node[root];
  });
  components.sizes.resize(count);
  for (const NodeId component : components.of_node) ++components.sizes[component];
  return components;
}

}  // namespace

Components connected_components(const GraphView& graph, int threads) {
  return connected_components(graph, Execution{.threads = threads});
}

Components connected_components(const GraphView& graph, const Execution& execution) {
  Roots roots(graph.num_nodes());
  for_nodes(graph, execution, [&](NodeId u) { roots.set_parent(u, u); });
  for (EdgeIndex i = 0; i < kSampledArcs; ++i) {
    for_nodes(graph, execution, [&](NodeId u) {
      if (i < graph.degree(u)) roots.join(u, graph.neighbors[graph.offsets[u] + i]);
    });
    for_nodes(graph, execution, [&](NodeId u) { roots.flatten(u); });
  }
  // An edge between the frequent component and the rest is seen from its other end.
  const NodeId frequent = frequent_root(roots, graph.num_nodes());
  for_nodes(graph, execution, [&](NodeId u) {
    if (roots.parent(u) == frequent) return;
    const auto row = graph.neighbors_of(u);
    for (EdgeIndex i = kSampledArcs; i < row.size(); ++i) roots.join(u, row[i]);
  });
  for_nodes(graph, execution, [&](NodeId u) { roots.flatten(u); });
  return number_roots(graph, roots, execution);
}

}  // namespace copse
