// SPDX-License-Identifier: Apache-2.0
#include "laplacian/elimination_tree.hpp"

namespace copse {

namespace {

std::vector<NodeId> inverse(const std::vector<NodeId>& order) {
  std::vector<NodeId> step(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) step[order[i]] = static_cast<NodeId>(i);
  return step;
}

/// Last node on the path from `start` in `ancestor`, which is shortened on the way.
NodeId root_of(NodeId start, std::vector<NodeId>& ancestor) {
  NodeId root = start;
  while (ancestor[root] != root) root = ancestor[root];
  while (start != root) {
    const NodeId next = ancestor[start];
    ancestor[start] = root;
    start = next;
  }
  return root;
}

}  // namespace

std::vector<NodeId> elimination_tree(const QuotientPattern& pattern, const std::vector<NodeId>& order) {
  const std::vector<NodeId> step_of = inverse(order);
  std::vector<NodeId> parent(order.size(), kNoNode), ancestor(order.size(), kNoNode);
  for (NodeId step = 0; step < order.size(); ++step) {
    for (const NodeId group : pattern.neighbors_of(order[step])) {
      for (NodeId i = step_of[group]; i < step;) {
        const NodeId next = ancestor[i];
        ancestor[i] = step;
        if (next == kNoNode) parent[i] = step;
        if (next == kNoNode || next == step) break;
        i = next;
      }
    }
  }
  return parent;
}

std::vector<NodeId> postorder(const std::vector<NodeId>& parent) {
  const auto size = static_cast<NodeId>(parent.size());
  std::vector<NodeId> child(size, kNoNode), sibling(size, kNoNode), result, path;
  for (NodeId i = size; i-- > 0;) {
    if (parent[i] == kNoNode) continue;
    sibling[i] = child[parent[i]];
    child[parent[i]] = i;
  }
  result.reserve(size);
  for (NodeId root = 0; root < size; ++root) {
    if (parent[root] != kNoNode) continue;
    path.push_back(root);
    while (!path.empty()) {
      const NodeId node = path.back(), next = child[node];
      if (next == kNoNode) {
        path.pop_back();
        result.push_back(node);
      } else {
        child[node] = sibling[next];
        path.push_back(next);
      }
    }
  }
  return result;
}

std::vector<std::uint64_t> column_counts(const QuotientPattern& pattern, const std::vector<NodeId>& order,
                                         const std::vector<NodeId>& parent) {
  const auto size = static_cast<NodeId>(order.size());
  const std::vector<NodeId> step_of = inverse(order);
  // Row i has entries in a subtree with root i. Its leaves are found in postorder: j is one if no entry of
  // the row came from within the subtree of j. A leaf adds the row to its column, and from there to all
  // above; where two paths meet it is taken off once, and above i for good. Unsigned, these sums may dip
  // below 0 on the way and come out right.
  std::vector<std::uint64_t> counts(size);
  std::vector<NodeId> first(size, kNoNode), last_leaf(size, kNoNode), last_first(size), ancestor(size);
  for (NodeId j = 0; j < size; ++j) {
    if (first[j] == kNoNode) counts[j] += pattern.size(order[j]);  // no children: the row is there of itself
    for (NodeId i = j; i != kNoNode && first[i] == kNoNode; i = parent[i]) first[i] = j;
    ancestor[j] = j;
  }
  for (NodeId j = 0; j < size; ++j) {
    if (parent[j] != kNoNode) counts[parent[j]] -= pattern.size(order[j]);
    for (const NodeId group : pattern.neighbors_of(order[j])) {
      const NodeId i = step_of[group];
      if (i <= j || (last_leaf[i] != kNoNode && first[j] <= last_first[i])) continue;
      const std::uint64_t weight = pattern.size(group);
      counts[j] += weight;
      if (last_leaf[i] != kNoNode) counts[root_of(last_leaf[i], ancestor)] -= weight;
      last_leaf[i] = j;
      last_first[i] = first[j];
    }
    if (parent[j] != kNoNode) ancestor[j] = parent[j];
  }
  for (NodeId j = 0; j < size; ++j) {
    if (parent[j] != kNoNode) counts[parent[j]] += counts[j];
  }
  return counts;
}

}  // namespace copse
