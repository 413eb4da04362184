// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/random.hpp"

// Wilson's algorithm as the paper tells it: one walk after the other, loops cut out as they close. Shares
// only the definition of the arrows with copse's, so that the trees must be equal edge by edge.

namespace copse::oracle {

/// parent[u] for the tree of that seed and index; `from_last` starts the walks at the other end of the nodes.
inline std::vector<NodeId> wilson_parents(const GraphView& graph, bool weighted, NodeId root,
                                          std::uint64_t seed, std::uint64_t index, bool from_last) {
  const NodeId n = graph.num_nodes();
  std::vector<NodeId> parent(n, kNoNode);
  std::vector<bool> in_tree(n);
  std::vector<std::uint32_t> pops(n);
  in_tree[root] = true;
  parent[root] = root;
  const auto arrow = [&](NodeId u) {
    const auto block = philox4x32(
        {u, pops[u], static_cast<std::uint32_t>(index),
         static_cast<std::uint32_t>(Purpose::spanning_tree) << 16 ^ static_cast<std::uint32_t>(index >> 32)},
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::uint64_t bits = std::uint64_t{block[0]} << 32 | block[1];
    const auto row = graph.neighbors_of(u);
    if (!weighted) return row[static_cast<std::size_t>((static_cast<Uint128>(bits) * row.size()) >> 64)];
    // The order of the additions is part of the definition: four sums side by side in short rows.
    const auto weights = graph.weights_of(u);
    double total = 0, sum = 0;
    if (weights.size() > 64) {
      for (const Weight w : weights) total += w;
    } else {
      double four[4] = {};
      for (std::size_t k = 0; k < weights.size(); ++k)
        four[k < weights.size() / 4 * 4 ? k % 4 : 0] += weights[k];
      total = (four[0] + four[1]) + (four[2] + four[3]);
    }
    const double target = static_cast<double>(bits >> 11) * 0x1p-53 * total;
    std::size_t i = 0;
    while (i + 1 < row.size() && (sum += weights[i]) <= target) ++i;
    return row[i];
  };
  for (NodeId k = 0; k < n; ++k) {
    const NodeId start = from_last ? n - 1 - k : k;
    std::vector<NodeId> path{start};
    while (!in_tree[path.back()]) {
      const NodeId next = arrow(path.back());
      std::size_t seen = 0;
      while (seen < path.size() && path[seen] != next) ++seen;
      if (seen < path.size()) {
        for (std::size_t i = seen; i < path.size(); ++i) ++pops[path[i]];
        path.resize(seen + 1);
      } else {
        path.push_back(next);
      }
    }
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      in_tree[path[i]] = true;
      parent[path[i]] = path[i + 1];
    }
  }
  return parent;
}

}  // namespace copse::oracle
