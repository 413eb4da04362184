// SPDX-License-Identifier: Apache-2.0
#include "laplacian/quotient_pattern.hpp"

#include <optional>

namespace copse {

namespace {

/// A number for a node that looks random, so that sums of it tell sets of nodes apart.
std::uint64_t scrambled(std::uint64_t node) {
  node = (node + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  return (node ^ node >> 29) * 0x94D049BB133111EBU;
}

std::vector<char> unknowns(const LaplacianSystem& system) {
  std::vector<char> is_unknown(system.num_nodes());
  std::vector<char> has_ground(system.sizes.size());
  for (NodeId u = 0; u < system.num_nodes(); ++u) {
    if (system.is_fixed(u)) continue;
    const NodeId component = system.singular[u];
    if (component != kNoNode && !has_ground[component])
      has_ground[component] = 1;
    else
      is_unknown[u] = 1;
  }
  return is_unknown;
}

class TwinFinder {
 public:
  TwinFinder(const LaplacianSystem& system, const std::vector<char>& is_unknown)
      : graph_(system.graph),
        is_unknown_(is_unknown),
        keys_(graph_.num_nodes()),
        marks_(keys_.size(), kNoNode) {
    for (NodeId u = 0; u < graph_.num_nodes(); ++u) {
      if (!is_unknown[u]) continue;
      std::uint64_t key = scrambled(u);
      for (const NodeId v : graph_.neighbors_of(u)) key += is_unknown[v] ? scrambled(v) : 0;
      keys_[u] = key;
    }
  }

  /// Calls found(v) for every twin v of `u` that comes after it.
  template <class Found>
  void twins_of(NodeId u, Found&& found) {
    bool marked = false;
    for (const NodeId v : graph_.neighbors_of(u)) {
      if (v <= u || keys_[v] != keys_[u] || !is_unknown_[v]) continue;
      if (!marked) mark(u), marked = true;
      if (has_marked_neighbors(u, v)) found(v);
    }
  }

 private:
  void mark(NodeId u) {
    marks_[u] = u;
    num_marked_ = 1;
    for (const NodeId v : graph_.neighbors_of(u)) {
      if (is_unknown_[v]) marks_[v] = u, ++num_marked_;
    }
  }
  /// Equal keys may be chance, or malice.
  bool has_marked_neighbors(NodeId u, NodeId v) const {
    std::size_t count = 1;
    for (const NodeId w : graph_.neighbors_of(v)) {
      if (!is_unknown_[w]) continue;
      if (marks_[w] != u) return false;
      ++count;
    }
    return count == num_marked_;
  }

  const GraphView& graph_;
  const std::vector<char>& is_unknown_;
  std::vector<std::uint64_t> keys_;
  std::vector<NodeId> marks_;
  std::size_t num_marked_ = 0;
};

}  // namespace

QuotientPattern QuotientPattern::of(const LaplacianSystem& system) {
  const GraphView& graph = system.graph;
  const std::vector<char> is_unknown = unknowns(system);
  QuotientPattern pattern;
  pattern.members.reserve(system.num_free);
  std::vector<NodeId> group(graph.num_nodes(), kNoNode);  // of every first member
  std::vector<char> is_taken(graph.num_nodes());
  // A row of two or three has hardly a twin that is worth the search.
  const bool may_have_twins = system.num_arcs >= 3 * std::uint64_t{system.num_free};
  std::optional<TwinFinder> finder;
  if (may_have_twins) finder.emplace(system, is_unknown);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (!is_unknown[u] || is_taken[u]) continue;
    group[u] = static_cast<NodeId>(pattern.begin.size());
    pattern.begin.push_back(static_cast<NodeId>(pattern.members.size()));
    pattern.members.push_back(u);
    if (!finder) continue;
    finder->twins_of(u, [&](NodeId v) {
      if (is_taken[v]) return;
      is_taken[v] = 1;
      pattern.members.push_back(v);
    });
  }
  pattern.begin.push_back(static_cast<NodeId>(pattern.members.size()));
  // Who is joined to a twin is joined to all of them: the first members say everything.
  pattern.offsets.reserve(pattern.begin.size());
  pattern.offsets.push_back(0);
  for (std::size_t g = 0; g + 1 < pattern.begin.size(); ++g) {
    for (const NodeId v : graph.neighbors_of(pattern.members[pattern.begin[g]])) {
      if (group[v] != kNoNode) pattern.neighbors.push_back(group[v]);
    }
    pattern.offsets.push_back(pattern.neighbors.size());
  }
  return pattern;
}

}  // namespace copse
