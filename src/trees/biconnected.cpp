// SPDX-License-Identifier: Apache-2.0
#include "trees/biconnected.hpp"

#include <algorithm>
#include <vector>

#include "copse/support/buffer.hpp"

namespace copse {
namespace {

/// Puts the arrays of one block together after the other, reusing them.
class BlockMaker {
 public:
  explicit BlockMaker(const GraphView& graph) : graph_(graph), place_(graph.num_nodes()) {
    std::fill(place_.begin(), place_.end(), kNoNode);
  }

  /// The block of `top` and `others`. Two nodes of a block that are joined are joined inside it, so its edges
  /// are those between its nodes. The row of `top` is not read: it may be long and in many blocks, and what
  /// of it belongs here is known from the other ends.
  const Block& make(NodeId top, std::span<const NodeId> others) {
    nodes_.assign(others.begin(), others.end());
    nodes_.push_back(top);
    std::sort(nodes_.begin(), nodes_.end());
    for (std::size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = static_cast<NodeId>(i);
    fill_rows(top);
    for (const NodeId node : nodes_) place_[node] = kNoNode;
    block_ = {nodes_, offsets_, neighbors_, weights_, arcs_};
    return block_;
  }

 private:
  void fill_rows(NodeId top) {
    offsets_.assign(1, 0);
    neighbors_.clear();
    weights_.clear();
    arcs_.clear();
    for (const NodeId u : nodes_) {
      u == top ? fill_top_row(u) : fill_row(u);
      offsets_.push_back(neighbors_.size());
    }
  }
  void fill_row(NodeId u) {
    for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc)
      if (place_[graph_.neighbors[arc]] != kNoNode) add(arc);
  }
  void fill_top_row(NodeId top) {
    const auto row = graph_.neighbors_of(top);
    auto at = row.begin();
    for (const NodeId u : nodes_) {
      at = std::lower_bound(at, row.end(), u);
      if (at != row.end() && *at == u) add(graph_.offsets[top] + static_cast<EdgeIndex>(at - row.begin()));
    }
  }
  void add(EdgeIndex arc) {
    neighbors_.push_back(place_[graph_.neighbors[arc]]);
    if (graph_.is_weighted()) weights_.push_back(graph_.weights[arc]);
    arcs_.push_back(arc);
  }

  const GraphView& graph_;
  Buffer<NodeId> place_;  // of the nodes of the block being made; kNoNode elsewhere
  std::vector<NodeId> nodes_, neighbors_;
  std::vector<EdgeIndex> offsets_, arcs_;
  std::vector<Weight> weights_;
  Block block_;
};

}  // namespace

void for_each_block(const GraphView& graph, const std::function<void(const Block&)>& use) {
  const std::size_t n = graph.num_nodes();
  BlockMaker maker(graph);
  Buffer<NodeId> number(n), low(n), parent(n),
      next(n);             // number: order of entering, from 1; low: least seen below
  Buffer<NodeId> open(n);  // entered nodes that are in no block yet, roots left out
  std::size_t num_open = 0;
  NodeId entered = 0;
  const auto enter = [&](NodeId u, NodeId from) {
    number[u] = low[u] = ++entered;
    parent[u] = from;
  };
  for (std::size_t root = 0; root < n; ++root) {
    if (number[root] != 0) continue;
    auto u = static_cast<NodeId>(root);
    enter(u, kNoNode);
    while (u != kNoNode) {
      if (next[u] < graph.degree(u)) {
        const NodeId v = graph.neighbors[graph.offsets[u] + next[u]++];
        if (number[v] == 0) {
          enter(v, u);
          open[num_open++] = v;
          u = v;
        } else if (v != parent[u]) {
          low[u] = std::min(low[u], number[v]);
        }
        continue;
      }
      const NodeId top = parent[u];
      if (top != kNoNode) {
        low[top] = std::min(low[top], low[u]);
        if (low[u] >= number[top]) {  // nothing at or below u reaches above top: all that is open from u on
          std::size_t first = num_open;
          while (open[--first] != u) continue;
          use(maker.make(top, {open.data() + first, num_open - first}));
          num_open = first;
        }
      }
      u = top;
    }
  }
}

}  // namespace copse
