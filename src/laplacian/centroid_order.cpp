// SPDX-License-Identifier: Apache-2.0
#include "laplacian/centroid_order.hpp"

namespace copse {
namespace {

/// The forest by rank, its trees rooted at their centroids instead.
class Rerooted {
 public:
  explicit Rerooted(const SpanningForest& forest)
      : forest_(forest), n_(forest.num_nodes()), up_(n_), size_(n_), heavy_(n_) {
    for (NodeId rank = n_; rank-- > 0;) {
      up_[rank] = forest.parent[rank];
      if (++size_[rank], up_[rank] != rank) size_[up_[rank]] += size_[rank];
    }
    find_heavy_children();
    for (NodeId rank = 0; rank < n_; ++rank)
      if (forest.is_root(rank)) reroot(rank);
    find_heavy_children();
  }

  CentroidOrder lay_out() {
    CentroidOrder order{Buffer<NodeId>(n_),
                        Buffer<NodeId>(n_),
                        Buffer<NodeId>(n_),
                        Buffer<Weight>(forest_.is_weighted() ? n_ : 0),
                        {}};
    Buffer<NodeId> place(n_), next(n_);  // next: where the next child that is not the heavy one goes
    NodeId next_tree = 0;
    const auto put = [&](NodeId rank, Weight weight) {
      const NodeId up = up_[rank];
      NodeId at = next_tree;
      if (up == rank) {
        order.starts.push_back(at);
        next_tree += size_[rank];
      } else if (heavy_[up] == rank) {
        at = place[up] + 1;
      } else {
        at = next[up];
        next[up] += size_[rank];
      }
      place[rank] = at;
      next[rank] = size_[rank] == 1 ? at : at + 1 + size_[heavy_[rank]];
      order.position[forest_.node[rank]] = at;
      order.parent[at] = place[up];
      order.size[at] = size_[rank];
      if (forest_.is_weighted()) order.weight[at] = weight;
    };
    // On a turned path the parents have the larger ranks, and an edge's weight stands at its other end.
    NodeId below = kNoNode;
    for (const NodeId rank : path_) {
      put(rank, up_[rank] == rank ? Weight{0} : forest_.edge_weight(below));
      below = rank;
    }
    for (NodeId rank = 0; rank < n_; ++rank)
      if (up_[rank] == forest_.parent[rank] && up_[rank] != rank) put(rank, forest_.edge_weight(rank));
    return order;
  }

 private:
  void find_heavy_children() {
    for (NodeId rank = 0; rank < n_; ++rank) heavy_[rank] = kNoNode;
    for (NodeId rank = 0; rank < n_; ++rank) {
      if (up_[rank] == rank) continue;
      NodeId& heavy = heavy_[up_[rank]];
      if (heavy == kNoNode || size_[rank] > size_[heavy]) heavy = rank;
    }
  }

  /// Walks from `root` to the centroid and turns the edges on the way; lists the path from the centroid up.
  void reroot(NodeId root) {
    const NodeId whole = size_[root];
    const std::size_t begin = path_.size();
    NodeId rank = root;
    path_.push_back(root);
    while (heavy_[rank] != kNoNode && size_[heavy_[rank]] > whole / 2) path_.push_back(rank = heavy_[rank]);
    for (std::size_t i = begin; i + 1 < path_.size(); ++i) {
      up_[path_[i]] = path_[i + 1];
      size_[path_[i]] = whole - size_[path_[i + 1]];
    }
    up_[rank] = rank;
    size_[rank] = whole;
    for (std::size_t i = begin, j = path_.size() - 1; i < j; ++i, --j) std::swap(path_[i], path_[j]);
  }

  const SpanningForest& forest_;
  NodeId n_;
  Buffer<NodeId> up_, size_, heavy_;  // by rank
  std::vector<NodeId> path_;          // from each centroid to the old root
};

}  // namespace

CentroidOrder centroid_order(const SpanningForest& forest) { return Rerooted(forest).lay_out(); }

Buffer<double> centroid_offsets(const CentroidOrder& order) {
  Buffer<double> offset(order.num_nodes());
  for (std::size_t tree = 0; tree < order.starts.size(); ++tree) {
    const NodeId begin = order.starts[tree], nodes = order.tree_size(tree);
    const double n = nodes;
    double sum = 0;
    for (NodeId p = begin + 1; p - begin < nodes; ++p) {
      const double share = order.size[p] / n;
      sum += order.resistance(p) * share * share;
    }
    offset[begin] = sum / 2;
    for (NodeId p = begin + 1; p - begin < nodes; ++p)
      offset[p] = offset[order.parent[p]] - order.resistance(p) * (order.size[p] / n);
  }
  return offset;
}

}  // namespace copse
