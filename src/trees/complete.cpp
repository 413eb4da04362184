// SPDX-License-Identifier: Apache-2.0
#include "trees/complete.hpp"

#include <algorithm>
#include <numeric>

#include "copse/support/random.hpp"

namespace copse {

EdgeIndex find_arc(const GraphView& graph, NodeId u, NodeId v) {
  const auto row = graph.neighbors_of(u);
  return graph.offsets[u] + static_cast<EdgeIndex>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
}

SpanningForest complete_by_keys(const GraphView& graph, const WilsonResult& part, bool weighted,
                                std::span<const NodeId> roots, std::uint64_t seed, std::uint64_t index) {
  const NodeId n = graph.num_nodes();
  std::vector<NodeId> source;
  std::vector<EdgeIndex> arcs;
  std::vector<NodeId> leader(n);  // union-find over the nodes, path halving
  std::iota(leader.begin(), leader.end(), NodeId{0});
  const auto find = [&](NodeId u) {
    while (leader[u] != u) u = leader[u] = leader[leader[u]];
    return u;
  };
  const auto join = [&](NodeId u, EdgeIndex arc) {
    const NodeId a = find(u), b = find(graph.neighbors[arc]);
    if (a == b) return;
    leader[std::max(a, b)] = std::min(a, b);
    source.push_back(u);
    arcs.push_back(arc);
  };

  std::vector<bool> ranked(n);
  for (NodeId rank = 0; rank < part.num_ranked; ++rank) {
    const NodeId u = part.forest.node[rank];
    ranked[u] = true;
    if (!part.forest.is_root(rank)) join(u, find_arc(graph, u, part.forest.node[part.forest.parent[rank]]));
  }

  struct Candidate {
    double key;
    EdgeIndex arc;
    NodeId source;
    bool operator<(const Candidate& other) const {
      return key != other.key ? key < other.key : arc < other.arc;
    }
  };
  const std::uint64_t tree_seed = Stream(seed, Purpose::edge_key, index).next64();
  std::vector<Candidate> candidates;
  for (NodeId u = 0; u < n; ++u) {
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (v < u || (ranked[u] && ranked[v])) continue;
      // One stream an edge and tree.
      Stream stream(tree_seed, Purpose::edge_key, std::uint64_t{u} << 32 | v);
      candidates.push_back({exponential(stream) / (weighted ? graph.weight(arc) : 1), arc, u});
    }
  }
  std::sort(candidates.begin(), candidates.end());
  for (const Candidate& candidate : candidates) join(candidate.source, candidate.arc);
  return root_forest(graph, source, arcs, roots);
}

}  // namespace copse
