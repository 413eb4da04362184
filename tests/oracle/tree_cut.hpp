// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "copse/graph/graph.hpp"

// Shazoo's rule by its definitions: minimum cuts by trying every labelling of a small tree, hinges by looking
// behind every neighbour, connection nodes by walking until a hinge. For weights whose sums and reciprocals
// are exact in double (small powers of two).

namespace copse::oracle {

class CutOnTree {
 public:
  /// `goes_first(a, b)`: of two hinges as near, a decides. `prefers(a, b)`: of two classes as near, a.
  CutOnTree(const GraphView& tree, const std::vector<Label>& labels, Label num_classes,
            std::function<bool(NodeId, NodeId)> goes_first, std::function<bool(Label, Label)> prefers)
      : tree_(tree),
        labels_(labels),
        num_classes_(num_classes),
        goes_first_(std::move(goes_first)),
        prefers_(std::move(prefers)) {}

  struct Vote {
    Label label = kNoLabel;
    double distance = 0;
  };
  Vote vote(NodeId node) const {
    const auto stops = walk(node, [&](NodeId u) { return is_hinge(u); });
    const Stop* near = nullptr;
    const Stop* far = nullptr;
    for (const Stop& stop : stops) {
      if (near == nullptr || stop.distance < near->distance ||
          (stop.distance == near->distance && goes_first_(stop.node, near->node))) {
        far = near;
        near = &stop;
      } else {
        far = &stop;
      }
    }
    if (near == nullptr) return {};
    const auto tied = smallest_cut_classes(near->node);
    if (tied.size() == 1) return {tied[0], near->distance};
    if (far != nullptr && smallest_cut_classes(far->node).size() == 1)
      return {smallest_cut_classes(far->node)[0], far->distance};
    Label best = kNoLabel;
    double distance = std::numeric_limits<double>::infinity();
    for (const Stop& stop : walk(near->node, [&](NodeId u) { return labels_[u] != kNoLabel; })) {
      const Label found = labels_[stop.node];
      if (std::find(tied.begin(), tied.end(), found) == tied.end()) continue;
      if (stop.distance < distance || (stop.distance == distance && prefers_(found, best)))
        best = found, distance = stop.distance;
    }
    return {best, near->distance};
  }

  /// The classes that some labelling of smallest cut gives to `node`.
  std::vector<Label> smallest_cut_classes(NodeId node) const {
    std::vector<double> cut(num_classes_, std::numeric_limits<double>::infinity());
    std::vector<Label> all(tree_.num_nodes(), 0);
    for (bool more = true; more;) {
      bool agrees = true;
      double weight = 0;
      for (NodeId u = 0; u < tree_.num_nodes(); ++u) {
        agrees = agrees && (labels_[u] == kNoLabel || labels_[u] == all[u]);
        for (EdgeIndex arc = tree_.offsets[u]; arc < tree_.offsets[u + 1]; ++arc)
          if (all[u] < all[tree_.neighbors[arc]]) weight += tree_.weight(arc);
      }
      if (agrees) cut[all[node]] = std::min(cut[all[node]], weight);
      more = false;
      for (Label& label : all) {  // the next labelling: a counter with num_classes digits
        if (++label < num_classes_) {
          more = true;
          break;
        }
        label = 0;
      }
    }
    const double smallest = *std::min_element(cut.begin(), cut.end());
    std::vector<Label> classes;
    for (Label c = 0; c < num_classes_; ++c)
      if (cut[c] == smallest) classes.push_back(c);
    return classes;
  }

  bool is_hinge(NodeId node) const {
    if (labels_[node] != kNoLabel) return true;
    int branches = 0;
    for (const NodeId neighbor : tree_.neighbors_of(node)) branches += has_label_behind(neighbor, node);
    return branches >= 3;
  }

 private:
  struct Stop {
    NodeId node;
    double distance;
  };
  bool has_label_behind(NodeId node, NodeId from) const {
    if (labels_[node] != kNoLabel) return true;
    for (const NodeId next : tree_.neighbors_of(node))
      if (next != from && has_label_behind(next, node)) return true;
    return false;
  }
  /// Where a walk in all directions stops.
  std::vector<Stop> walk(NodeId start, const std::function<bool(NodeId)>& stops_at) const {
    std::vector<Stop> stops;
    const std::function<void(NodeId, NodeId, double)> go = [&](NodeId u, NodeId from, double distance) {
      if (stops_at(u)) {
        stops.push_back({u, distance});
        return;
      }
      for (EdgeIndex arc = tree_.offsets[u]; arc < tree_.offsets[u + 1]; ++arc)
        if (tree_.neighbors[arc] != from) go(tree_.neighbors[arc], u, distance + 1.0 / tree_.weight(arc));
    };
    go(start, kNoNode, 0);
    return stops;
  }

  GraphView tree_;
  std::vector<Label> labels_;
  Label num_classes_;
  std::function<bool(NodeId, NodeId)> goes_first_;
  std::function<bool(Label, Label)> prefers_;
};

}  // namespace copse::oracle
