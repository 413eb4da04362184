// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
  std::vector<bool> in_tree(n), on_path(n);
  std::vector<std::uint32_t> pops(n);
  in_tree[root] = true;
  parent[root] = root;
  const auto arrow = [&](NodeId u) {
    const auto block = philox4x32(
        {u, pops[u] / 2, static_cast<std::uint32_t>(index),
         static_cast<std::uint32_t>(Purpose::spanning_tree) << 16 ^ static_cast<std::uint32_t>(index >> 32)},
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::size_t half = pops[u] % 2 * 2;
    const std::uint64_t bits = std::uint64_t{block[half]} << 32 | block[half + 1];
    const auto row = graph.neighbors_of(u);
    if (!weighted) return row[static_cast<std::size_t>((static_cast<Uint128>(bits) * row.size()) >> 64)];
    // The order of the additions is part of the definition: by fours, within blocks of 64 arcs; a long row's
    // total and the sums before its blocks are running sums.
    const auto weights = graph.weights_of(u);
    std::vector<double> after(row.size());  // the sum of the weights up to and with each arc
    const auto add_by_fours = [&](std::size_t begin, std::size_t end, double sum) {
      for (std::size_t i = begin; i < end; i += 4) {
        if (end - i < 4) {
          for (std::size_t k = i; k < end; ++k) after[k] = sum += weights[k];
          break;
        }
        const double w[] = {weights[i], weights[i + 1], weights[i + 2], weights[i + 3]};
        after[i] = sum + w[0];
        after[i + 1] = sum + (w[0] + w[1]);
        after[i + 2] = sum + ((w[0] + w[1]) + w[2]);
        after[i + 3] = sum += (w[0] + w[1]) + (w[2] + w[3]);
      }
    };
    double total = 0;
    if (row.size() <= 64) {
      add_by_fours(0, row.size(), 0);
      total = after.back();
    } else {
      for (const Weight w : weights) total += w;
    }
    const double target = static_cast<double>(bits >> 11) * 0x1p-53 * total;
    std::size_t first = 0, last = row.size();
    if (row.size() > 64) {
      double before = 0;
      for (first = 0;; first += 64) {
        last = std::min(first + 64, row.size());
        double with = before;
        for (std::size_t k = first; k < last; ++k) with += weights[k];
        if (with > target || last == row.size()) break;
        before = with;
      }
      add_by_fours(first, last, before);
    }
    std::size_t i = first;
    while (i + 1 < last && after[i] <= target) ++i;
    return row[i];
  };
  for (NodeId k = 0; k < n; ++k) {
    const NodeId start = from_last ? n - 1 - k : k;
    std::vector<NodeId> path{start};
    on_path[start] = true;
    while (!in_tree[path.back()]) {
      const NodeId next = arrow(path.back());
      while (on_path[next]) {  // the loop from `next` round to it, the node itself last
        ++pops[path.back()];
        on_path[path.back()] = false;
        path.pop_back();
      }
      path.push_back(next);
      on_path[next] = true;
    }
    for (const NodeId u : path) on_path[u] = false;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      in_tree[path[i]] = true;
      parent[path[i]] = path[i + 1];
    }
  }
  return parent;
}

}  // namespace copse::oracle
