// SPDX-License-Identifier: Apache-2.0
#include "trees/roots.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "copse/support/buffer.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

/// Breadth-first sweeps over one component after the other, in the same arrays.
class Sweeps {
 public:
  explicit Sweeps(const GraphView& graph)
      : graph_(graph),
        distance_(graph.num_nodes()),
        nearest_(graph.num_nodes()),
        farthest_(graph.num_nodes()),
        order_(graph.num_nodes()) {
    std::fill(distance_.begin(), distance_.end(), kNoNode);
  }

  /// Distances in edges from `source`, until the next call.
  void from(NodeId source) {
    for (const NodeId u : reached()) distance_[u] = kNoNode;
    order_[0] = source;
    num_reached_ = 1;
    distance_[source] = 0;
    for (std::size_t head = 0; head < num_reached_; ++head) {
      fetch_ahead(head);
      const NodeId next = distance_[order_[head]] + 1;
      for (const NodeId v : graph_.neighbors_of(order_[head])) {
        if (distance_[v] != kNoNode) continue;
        distance_[v] = next;
        order_[num_reached_++] = v;
      }
    }
  }
  NodeId last() const { return order_[num_reached_ - 1]; }  // one of the farthest
  NodeId eccentricity() const { return distance_[last()]; }
  std::size_t num_reached() const { return num_reached_; }

  /// The source of the last sweep becomes a landmark.
  void add_landmark(bool is_first) {
    for (const NodeId u : reached()) {
      nearest_[u] = is_first ? distance_[u] : std::min(nearest_[u], distance_[u]);
      farthest_[u] = is_first ? distance_[u] : std::max(farthest_[u], distance_[u]);
    }
  }
  /// The node that is farthest from the landmarks; of equals, rather a corner than the middle, then the
  /// lowest.
  NodeId most_remote() const {
    const auto remoteness = [&](NodeId u) { return std::tuple(nearest_[u], farthest_[u], ~u); };
    return *std::max_element(order_.begin(), order_.begin() + num_reached_,
                             [&](NodeId a, NodeId b) { return remoteness(a) < remoteness(b); });
  }
  /// The node whose farthest landmark is nearest, the lowest of equals.
  NodeId most_central() const {
    const auto remoteness = [&](NodeId u) { return std::tuple(farthest_[u], u); };
    return *std::min_element(order_.begin(), order_.begin() + num_reached_,
                             [&](NodeId a, NodeId b) { return remoteness(a) < remoteness(b); });
  }

 private:
  std::span<const NodeId> reached() const { return order_.span().first(num_reached_); }

  // What will be read soon: a row's bounds, then the row, then the distances of its nodes. Without this a
  // sweep waits for memory at nearly every arc.
  [[gnu::always_inline]] void fetch_ahead(std::size_t head) const {
    constexpr std::size_t kBounds = 24, kRow = 16, kDistances = 8;
    if (head + kBounds < num_reached_) prefetch(&graph_.offsets[order_[head + kBounds]]);
    if (head + kRow < num_reached_) prefetch(graph_.neighbors.data() + graph_.offsets[order_[head + kRow]]);
    if (head + kDistances < num_reached_) {
      for (const NodeId v : graph_.neighbors_of(order_[head + kDistances])) prefetch(&distance_[v]);
    }
  }

  const GraphView graph_;
  Buffer<NodeId> distance_;            // kNoNode where the last sweep was not
  Buffer<NodeId> nearest_, farthest_;  // of the landmarks
  Buffer<NodeId> order_;               // of the last sweep
  std::size_t num_reached_ = 0;        // by it
};

// The corners of a mesh, more or less: each landmark is the node farthest from those before it (Gonzalez
// 1985).
constexpr int kLandmarks = 4;

NodeId approximate_centre(Sweeps& sweeps, NodeId start) {
  sweeps.from(start);
  // From three dimensions on resistances stay bounded however far apart two nodes are (Polya's theorem), so
  // that every root is as good as another: measured, 10 neighbours in the cube took 2.1 and 3.0 steps a node
  // from the node of largest degree, 2.6 and 2.5 from the centre, where the grid took 22 and 10.
  const double radius = sweeps.eccentricity();
  if (radius * radius * radius <= 4.0 * static_cast<double>(sweeps.num_reached())) return start;
  NodeId landmark = sweeps.last();
  for (int k = 0; k < kLandmarks; ++k) {
    sweeps.from(landmark);
    sweeps.add_landmark(k == 0);
    landmark = sweeps.most_remote();
  }
  return sweeps.most_central();
}

}  // namespace

std::vector<NodeId> walk_roots(const GraphView& graph, const Components& components) {
  struct Best {
    NodeId node = kNoNode;
    double degree = -1, total = 0;
  };
  std::vector<Best> best(components.count());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    Best& candidate = best[components.of_node[u]];
    const double degree = weighted_degree(graph, u);
    candidate.total += degree;
    if (degree > candidate.degree) candidate.node = u, candidate.degree = degree;
  }
  // The sweeps towards the centre pay only where many steps would be saved.
  constexpr NodeId kLarge = 1000;
  constexpr double kAlike = 2;  // largest over mean degree
  std::vector<NodeId> roots(components.count());
  std::optional<Sweeps> sweeps;
  for (std::size_t c = 0; c < roots.size(); ++c) {
    const double mean = best[c].total / components.sizes[c];
    const bool mesh = components.sizes[c] >= kLarge && best[c].degree < kAlike * mean;
    if (mesh && !sweeps) sweeps.emplace(graph);
    roots[c] = mesh ? approximate_centre(*sweeps, best[c].node) : best[c].node;
  }
  return roots;
}

}  // namespace copse
