// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/graph.hpp"

// Halving by its definition: every labelling of the graph, one after the other.

namespace copse::oracle {

/// votes[node][class]: labellings of `num_classes` classes that cut at most `max_cut` edges and agree with
/// `known` (kNoLabel: anything).
inline std::vector<std::vector<std::uint64_t>> consistent_votes(const GraphView& graph,
                                                                const std::vector<Label>& known,
                                                                std::size_t num_classes,
                                                                std::uint64_t max_cut) {
  const NodeId n = graph.num_nodes();
  std::vector<std::vector<std::uint64_t>> votes(n, std::vector<std::uint64_t>(num_classes));
  std::uint64_t total = 1;
  for (NodeId u = 0; u < n; ++u) total *= num_classes;
  for (std::uint64_t code = 0; code < total; ++code) {
    std::vector<Label> labelling(n);
    std::uint64_t rest = code;
    bool agrees = true;
    for (NodeId u = 0; u < n; ++u, rest /= num_classes) {
      labelling[u] = static_cast<Label>(rest % num_classes);
      agrees = agrees && (known[u] == kNoLabel || known[u] == labelling[u]);
    }
    std::uint64_t cut = 0;
    for (NodeId u = 0; u < n; ++u)
      for (const NodeId v : graph.neighbors_of(u)) cut += u < v && labelling[u] != labelling[v];
    if (!agrees || cut > max_cut) continue;
    for (NodeId u = 0; u < n; ++u) ++votes[u][labelling[u]];
  }
  return votes;
}

}  // namespace copse::oracle
