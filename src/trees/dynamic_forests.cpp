// SPDX-License-Identifier: Apache-2.0
#include "trees/dynamic_forests.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tuple>

#include "copse/graph/components.hpp"
#include "copse/support/parallel.hpp"
#include "support/bitset.hpp"
#include "trees/edge_keys.hpp"
#include "trees/minimum.hpp"

namespace copse {
namespace {

/// Union-find, with path compression.
class Joined {
 public:
  explicit Joined(NodeId num_nodes) : above_(num_nodes), height_(num_nodes) {
    std::iota(above_.begin(), above_.end(), NodeId{0});
  }
  NodeId find(NodeId u) {
    while (above_[u] != u) u = above_[u] = above_[above_[u]];
    return u;
  }
  /// Two that find() gave. Returns the one that is no longer found.
  NodeId join(NodeId a, NodeId b) {
    if (height_[a] > height_[b]) std::swap(a, b);
    height_[b] += height_[a] == height_[b];
    above_[a] = b;
    return a;
  }

 private:
  std::vector<NodeId> above_;
  std::vector<std::uint8_t> height_;
};

std::pair<NodeId, NodeId> ascending(NodeId u, NodeId v) { return {std::min(u, v), std::max(u, v)}; }

}  // namespace

Weight ChangingGraph::weight(NodeId u, NodeId v) const {
  if (const auto row = changed_.find(u); row != changed_.end()) {
    const auto arc = std::ranges::lower_bound(row->second, v, {}, &Arc::node);
    return arc != row->second.end() && arc->node == v ? arc->weight : 0;
  }
  if (u >= base_.num_nodes()) return 0;
  const auto row = base_.neighbors_of(u);
  const auto place = std::ranges::lower_bound(row, v) - row.begin();
  if (place == std::ssize(row) || row[static_cast<std::size_t>(place)] != v) return 0;
  return base_.weight(base_.offsets[u] + static_cast<EdgeIndex>(place));
}

std::vector<ChangingGraph::Arc>& ChangingGraph::row_to_change(NodeId u) {
  if (const auto row = changed_.find(u); row != changed_.end()) return row->second;
  std::vector<Arc> row;
  for_each_neighbor(u, [&](NodeId v, Weight weight) { row.push_back({v, weight}); });
  return changed_[u] = std::move(row);
}

void ChangingGraph::set_arc(NodeId u, NodeId v, Weight weight) {
  std::vector<Arc>& row = row_to_change(u);
  const auto arc = std::ranges::lower_bound(row, v, {}, &Arc::node);
  const bool is_there = arc != row.end() && arc->node == v;
  if (weight == 0 && is_there)
    row.erase(arc);
  else if (weight != 0 && is_there)
    arc->weight = weight;
  else if (weight != 0)
    row.insert(arc, {v, weight});
}

void ChangingGraph::set_weight(NodeId u, NodeId v, Weight weight) {
  set_arc(u, v, weight);
  set_arc(v, u, weight);
}

Graph ChangingGraph::snapshot() const {
  std::vector<Edge> edges;
  for (NodeId u = 0; u < num_nodes_; ++u)
    for_each_neighbor(u, [&](NodeId v, Weight weight) {
      if (u < v) edges.push_back({u, v, weight});
    });
  return is_weighted() ? graph_from_edges(num_nodes_, edges) : graph_from_pairs(num_nodes_, edges);
}

DynamicForests::DynamicForests(const GraphView& graph, std::size_t num_trees, const Execution& execution)
    : graph_(graph), execution_(execution), trees_(num_trees) {
  const std::size_t num_components = connected_components(graph, execution).count();
  parallel_for(execution, num_trees, [&](std::size_t tree) {
    Execution one_thread = execution;
    one_thread.threads = 1;
    const ForestArcs arcs = random_key_arcs(graph, num_components, tree, true, one_thread);
    std::vector<Edge> edges(arcs.edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const auto [u, v] = ascending(arcs.source[i], graph.neighbors[arcs.edges[i]]);
      edges[i] = {u, v, graph.weight(arcs.edges[i])};
    }
    join(tree, edges);
  });
}

NodeId DynamicForests::add_node() { return graph_.add_node(); }

std::uint64_t DynamicForests::key(std::size_t tree, const Edge& edge) const {
  const std::uint64_t bits = EdgeRandom(execution_.seed, tree).bits(edge.u, edge.v);
  return graph_.is_weighted() ? ExponentialKeys::order(bits, edge.weight) : UniformKeys::order(bits, 1);
}

bool DynamicForests::is_before(std::size_t tree, const Edge& a, const Edge& b) const {
  const std::uint64_t of_a = key(tree, a), of_b = key(tree, b);
  return of_a != of_b ? of_a < of_b : std::pair(a.u, a.v) < std::pair(b.u, b.v);
}

Edge DynamicForests::edge(const Tree& tree, std::size_t i) {
  return {tree.edges.u[i], tree.edges.v[i], tree.edges.weight.empty() ? Weight{1} : tree.edges.weight[i]};
}

std::size_t DynamicForests::place_of(std::size_t tree, const Edge& wanted) const {
  std::size_t first = 0, last = trees_[tree].edges.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (is_before(tree, edge(trees_[tree], middle), wanted))
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

bool DynamicForests::has(std::size_t tree, const Edge& wanted) const {
  const std::size_t place = place_of(tree, wanted);
  const KeptEdges& edges = trees_[tree].edges;
  return place < edges.size() && edges.u[place] == wanted.u && edges.v[place] == wanted.v;
}

/// Whether its ends are in two components of the edges before it.
bool DynamicForests::would_take(std::size_t tree, const Edge& wanted) const {
  const std::size_t place = place_of(tree, wanted);
  const auto climb = [&, &links = trees_[tree]](NodeId u) {
    while (links.joined[u] < place) u = links.link[u];
    return u;
  };
  return climb(wanted.u) != climb(wanted.v);
}

void DynamicForests::set_weight(NodeId u, NodeId v, Weight weight) {
  const auto [low, high] = ascending(u, v);
  const Weight before = graph_.weight(low, high);
  if (before == weight) return;
  graph_.set_weight(low, high, weight);
  for (std::size_t tree = 0; tree < trees_.size(); ++tree)
    if (!is_settled(tree) || (before != 0 && has(tree, {low, high, before})) ||
        (weight != 0 && would_take(tree, {low, high, weight})))
      trees_[tree].changed.emplace_back(low, high);
}

bool DynamicForests::is_settled(std::size_t tree) const {
  return trees_[tree].changed.empty() && trees_[tree].link.size() == graph_.num_nodes();
}

void DynamicForests::settle(std::size_t index) {
  if (is_settled(index)) return;
  Tree& tree = trees_[index];
  std::ranges::sort(tree.changed);
  tree.changed.erase(std::unique(tree.changed.begin(), tree.changed.end()), tree.changed.end());
  std::vector<Edge> fresh;
  for (const auto& [u, v] : tree.changed)
    if (const Weight weight = graph_.weight(u, v); weight != 0) fresh.push_back({u, v, weight});
  const std::vector<NodeId> ends = drop_changed(tree);
  if (!ends.empty()) find_replacements(index, ends, fresh);
  sort_by_key(index, fresh);
  join(index, fresh);
  tree.changed.clear();
}

/// Takes the changed edges out of the tree; returns the ends of those it had.
std::vector<NodeId> DynamicForests::drop_changed(Tree& tree) const {
  std::vector<NodeId> ends;
  Bitset may_change(graph_.num_nodes());
  for (const Pair& pair : tree.changed) may_change.set(pair.first);
  KeptEdges& edges = tree.edges;
  std::size_t left = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (may_change.test(edges.u[i]) &&
        std::ranges::binary_search(tree.changed, Pair(edges.u[i], edges.v[i]))) {
      ends.insert(ends.end(), {edges.u[i], edges.v[i]});
      continue;
    }
    edges.u[left] = edges.u[i];
    edges.v[left] = edges.v[i];
    if (!edges.weight.empty()) edges.weight[left] = edges.weight[i];
    ++left;
  }
  edges.resize(left);
  return ends;
}

void DynamicForests::sort_by_key(std::size_t index, std::vector<Edge>& edges) const {
  using Keyed = std::tuple<std::uint64_t, NodeId, NodeId, Weight>;
  std::vector<Keyed> keyed;
  for (const Edge& edge : edges) keyed.emplace_back(key(index, edge), edge.u, edge.v, edge.weight);
  std::ranges::sort(keyed);
  std::ranges::transform(keyed, edges.begin(), [](const Keyed& edge) {
    return Edge{std::get<1>(edge), std::get<2>(edge), std::get<3>(edge)};
  });
}

/// A tree that lost edges keeps the others. The lightest edges that were there all the time join its parts
/// again: Kruskal's algorithm on parts. The largest part need not be looked at: every such edge has an end in
/// another one.
void DynamicForests::find_replacements(std::size_t index, std::span<const NodeId> ends,
                                       std::vector<Edge>& found) const {
  const NodeId n = graph_.num_nodes();
  const Tree& tree = trees_[index];
  Joined parts(n);
  for (std::size_t i = 0; i < tree.edges.size(); ++i)
    parts.join(parts.find(tree.edges.u[i]), parts.find(tree.edges.v[i]));
  std::unordered_map<NodeId, NodeId> sizes;
  Bitset is_part(n);
  for (const NodeId end : ends) is_part.set(parts.find(end));
  for (NodeId u = 0; u < n; ++u)
    if (is_part.test(parts.find(u))) ++sizes[parts.find(u)];
  const NodeId largest =
      std::ranges::max_element(sizes, {}, [](const auto& part) { return part.second; })->first;
  std::vector<Edge> crossing;
  for (NodeId u = 0; u < n; ++u) {
    const NodeId part = parts.find(u);
    if (!is_part.test(part) || part == largest) continue;
    graph_.for_each_neighbor(u, [&](NodeId v, Weight weight) {
      if (parts.find(v) != part && !std::ranges::binary_search(tree.changed, ascending(u, v)))
        crossing.push_back({std::min(u, v), std::max(u, v), weight});
    });
  }
  sort_by_key(index, crossing);
  for (const Edge& edge : crossing) {
    const NodeId a = parts.find(edge.u), b = parts.find(edge.v);
    if (a == b) continue;
    parts.join(a, b);
    found.push_back(edge);
  }
}

/// Kruskal's algorithm over the tree's edges and `fresh`, which is sorted.
void DynamicForests::join(std::size_t index, std::span<const Edge> fresh) {
  Tree& tree = trees_[index];
  const NodeId n = graph_.num_nodes();
  Joined joined(n);
  Tree next{{}, std::vector<NodeId>(n), std::vector<NodeId>(n, kNoNode), {}, {}};
  std::iota(next.link.begin(), next.link.end(), NodeId{0});
  next.edges.reserve(n, graph_.is_weighted());
  const auto take = [&](const Edge& edge) {
    const NodeId a = joined.find(edge.u), b = joined.find(edge.v);
    if (a == b) return;
    const NodeId lower = joined.join(a, b);
    next.link[lower] = lower == a ? b : a;
    next.joined[lower] = static_cast<NodeId>(next.edges.size());
    next.edges.u.push_back(edge.u);
    next.edges.v.push_back(edge.v);
    if (graph_.is_weighted()) next.edges.weight.push_back(edge.weight);
  };
  std::size_t i = 0;
  for (const Edge& edge_to_take : fresh) {
    for (const std::size_t place = place_of(index, edge_to_take); i < place; ++i) take(edge(tree, i));
    take(edge_to_take);
  }
  for (; i < tree.edges.size(); ++i) take(edge(tree, i));
  Bitset is_seen(n);
  for (NodeId u = 0; u < n; ++u) {
    const NodeId component = joined.find(u);
    if (!is_seen.test(component)) next.roots.push_back(u);
    is_seen.set(component);
  }
  tree = std::move(next);
}

SpanningForest DynamicForests::forest(std::size_t index) const {
  const Tree& tree = trees_[index];
  return root_forest(graph_.num_nodes(), tree.edges.u, tree.edges.v, tree.edges.weight, graph_.is_weighted(),
                     tree.roots, siblings_of(index));
}

}  // namespace copse
