// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/balance.hpp"

namespace copse {

SignBalance sign_balance(const GraphView& graph, const Components& components) {
  SignBalance balance{std::vector<char>(graph.num_nodes()), std::vector<char>(components.count(), 1), 0};
  if (!graph.is_signed()) return balance;
  std::vector<char> is_seen(graph.num_nodes());
  std::vector<NodeId> queue;
  queue.reserve(graph.num_nodes());
  for (NodeId start = 0; start < graph.num_nodes(); ++start) {
    if (is_seen[start] != 0) continue;
    is_seen[start] = 1;
    queue.clear();
    queue.push_back(start);
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const NodeId u = queue[next];
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId v = graph.neighbors[arc];
        const auto side = static_cast<char>(balance.side[u] ^ static_cast<char>(graph.is_negative(arc)));
        if (is_seen[v] == 0) {
          is_seen[v] = 1;
          balance.side[v] = side;
          queue.push_back(v);
        } else if (u < v && balance.side[v] != side) {
          ++balance.num_frustrated;
          balance.is_balanced[components.of_node[u]] = 0;
        }
      }
    }
  }
  return balance;
}

}  // namespace copse
