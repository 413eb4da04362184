// SPDX-License-Identifier: Apache-2.0
#include "laplacian/symbolic_cholesky.hpp"

#include <algorithm>

#include "laplacian/elimination_tree.hpp"
#include "laplacian/fill_order.hpp"

namespace copse {

namespace {

/// Supernodes while they are put together: as many as there are columns that start one.
class Amalgamation {
 public:
  Amalgamation(const QuotientPattern& pattern, const std::vector<NodeId>& order,
               const std::vector<NodeId>& parent, const std::vector<std::uint64_t>& counts)
      : next_(order.size(), kNoNode) {
    std::vector<NodeId> supernode_of(order.size());
    for (NodeId j = 0; j < order.size(); ++j) {
      // A column whose rows are those of the one before, less the one eliminated there, goes with it.
      const bool goes_on =
          j > 0 && parent[j - 1] == j && counts[j] + pattern.size(order[j - 1]) == counts[j - 1];
      const std::uint64_t size = pattern.size(order[j]);
      if (goes_on) {
        Part& part = parts_.back();
        next_[part.tail] = j;
        part.tail = j;
        part.columns += size;
      } else {
        parts_.push_back({.columns = size, .rows = counts[j], .head = j, .tail = j});
      }
      supernode_of[j] = static_cast<NodeId>(parts_.size() - 1);
    }
    for (Part& part : parts_) {
      part.nonzeros = stored(part.columns, part.rows);
      if (parent[part.tail] != kNoNode) part.parent = supernode_of[parent[part.tail]];
    }
  }

  /// Children that fit go into their parents: a few zeros more, and fewer and larger panels. As CHOLMOD does
  /// (Chen, Davis, Hager & Rajamanickam 2008), but with any child, not only the last.
  void merge() {
    std::vector<NodeId> child(parts_.size(), kNoNode), sibling(parts_.size(), kNoNode);
    for (NodeId p = 0; p < parts_.size(); ++p) {
      // The list is of those left; children of a child that goes in have had their chance.
      NodeId kept = kNoNode;
      for (NodeId c = child[p], next; c != kNoNode; c = next) {
        next = sibling[c];
        if (fits(parts_[c], parts_[p])) {
          absorb(c, p);
        } else {
          sibling[c] = kept;
          kept = c;
        }
      }
      const NodeId parent = parts_[p].parent;
      if (parent == kNoNode) continue;
      sibling[p] = child[parent];
      child[parent] = p;
    }
    // Whose parent went elsewhere follows it; parents come later, so from the end.
    for (NodeId p = static_cast<NodeId>(parts_.size()); p-- > 0;) {
      if (parts_[p].parent == kNoNode) continue;
      const Part& parent = parts_[parts_[p].parent];
      if (parent.is_gone) parts_[p].parent = parent.parent;
    }
  }

  /// What is left, as postordered steps.
  void write(const std::vector<NodeId>& order, std::vector<NodeId>& steps, std::vector<NodeId>& first,
             std::vector<NodeId>& parent) const {
    std::vector<NodeId> number(parts_.size()), left;
    for (NodeId p = 0; p < parts_.size(); ++p) {
      if (!parts_[p].is_gone) number[p] = static_cast<NodeId>(left.size()), left.push_back(p);
    }
    std::vector<NodeId> above(left.size(), kNoNode);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (parts_[left[i]].parent != kNoNode) above[i] = number[parts_[left[i]].parent];
    }
    const std::vector<NodeId> post = postorder(above);
    std::vector<NodeId> rank(post.size());
    for (std::size_t i = 0; i < post.size(); ++i) rank[post[i]] = static_cast<NodeId>(i);
    steps.clear();
    steps.reserve(order.size());
    for (const NodeId p : post) {
      first.push_back(static_cast<NodeId>(steps.size()));
      parent.push_back(above[p] == kNoNode ? kNoNode : rank[above[p]]);
      for (NodeId j = parts_[left[p]].head; j != kNoNode; j = next_[j]) steps.push_back(order[j]);
    }
    first.push_back(static_cast<NodeId>(steps.size()));
  }

  /// body(columns, rows) of every supernode that is left.
  template <class Body>
  void for_each(Body&& body) const {
    for (const Part& part : parts_) {
      if (!part.is_gone) body(part.columns, part.rows);
    }
  }

 private:
  struct Part {
    std::uint64_t columns, rows;  // rows of the first column, its own included
    NodeId head, tail, parent = kNoNode;
    bool is_gone = false;
    std::uint64_t nonzeros = 0;
  };

  static std::uint64_t stored(std::uint64_t columns, std::uint64_t rows) {
    return columns * rows - columns * (columns - 1) / 2;
  }

  static bool fits(const Part& child, const Part& parent) {
    const std::uint64_t columns = child.columns + parent.columns;
    const double all = static_cast<double>(stored(columns, child.columns + parent.rows));
    const double zeros = all - static_cast<double>(child.nonzeros + parent.nonzeros);
    const double allowed = columns <= 4 ? 0.5 : columns <= 16 ? 0.3 : columns <= 48 ? 0.1 : 0.05;
    return zeros <= allowed * all;
  }

  void absorb(NodeId c, NodeId p) {
    Part &child = parts_[c], &parent = parts_[p];
    next_[child.tail] = parent.head;
    parent.head = child.head;
    parent.columns += child.columns;
    parent.rows += child.columns;
    parent.nonzeros += child.nonzeros;
    child.is_gone = true;
    child.parent = p;
  }

  std::vector<Part> parts_;
  std::vector<NodeId> next_;  // step after a step of the same supernode
};

}  // namespace

std::optional<SymbolicCholesky> SymbolicCholesky::of(const LaplacianSystem& system) {
  SymbolicCholesky result;
  const Execution& execution = system.execution;
  result.pattern_ = QuotientPattern::of(system);
  execution.throw_if_cancelled();
  const std::vector<NodeId> wanted = fill_reducing_order(result.pattern_, execution);
  if (wanted.size() < result.pattern_.num_groups()) return std::nullopt;
  execution.throw_if_cancelled();
  const std::vector<NodeId> tree = elimination_tree(result.pattern_, wanted);
  const std::vector<NodeId> post = postorder(tree);
  std::vector<NodeId> order(post.size()), step_of(post.size()), parent(post.size(), kNoNode);
  for (std::size_t i = 0; i < post.size(); ++i) {
    order[i] = wanted[post[i]];
    step_of[post[i]] = static_cast<NodeId>(i);
  }
  for (std::size_t i = 0; i < post.size(); ++i) {
    if (tree[post[i]] != kNoNode) parent[i] = step_of[tree[post[i]]];
  }
  execution.throw_if_cancelled();
  Amalgamation parts(result.pattern_, order, parent, column_counts(result.pattern_, order, parent));
  execution.throw_if_cancelled();
  parts.merge();
  parts.for_each([&](std::uint64_t columns, std::uint64_t rows) {
    ++result.num_supernodes_;
    result.entries_ += columns * rows;
    const double p = static_cast<double>(columns), m = static_cast<double>(rows);
    result.operations_ += p * m * m - p * p * m + p * p * p / 3;  // about sum of (m - k)^2
  });
  parts.write(order, result.order_, result.first_, result.parent_);
  return result;
}

Supernodes SymbolicCholesky::supernodes() const {
  Supernodes result;
  const auto count = static_cast<NodeId>(parent_.size());
  std::vector<NodeId> step_of(order_.size()), column(order_.size() + 1);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    step_of[order_[i]] = static_cast<NodeId>(i);
    column[i + 1] = column[i] + pattern_.size(order_[i]);
    for (NodeId m = pattern_.begin[order_[i]]; m < pattern_.begin[order_[i] + 1]; ++m)
      result.node_of.push_back(pattern_.members[m]);
  }
  result.parent = parent_;
  for (const NodeId step : first_) result.first.push_back(column[step]);
  result.row_begin.assign(1, 0);
  result.panel_begin.assign(1, 0);
  // Rows of a supernode: what its columns are joined to, and what its children hand on. As steps first.
  std::vector<NodeId> below, child(count, kNoNode), sibling(count, kNoNode), mark(order_.size(), kNoNode);
  std::vector<std::uint64_t> begin(1);
  std::vector<NodeId> own;
  for (NodeId s = 0; s < count; ++s) {
    const NodeId end = first_[s + 1];
    own.clear();
    const auto add = [&](NodeId step) {
      if (step < end || mark[step] == s) return;
      mark[step] = s;
      own.push_back(step);
    };
    for (NodeId step = first_[s]; step < end; ++step) {
      for (const NodeId group : pattern_.neighbors_of(order_[step])) add(step_of[group]);
    }
    for (NodeId c = child[s]; c != kNoNode; c = sibling[c]) {
      for (std::uint64_t i = begin[c]; i < begin[c + 1]; ++i) add(below[i]);
    }
    std::sort(own.begin(), own.end());
    below.insert(below.end(), own.begin(), own.end());
    begin.push_back(below.size());
    for (const NodeId step : own) {
      for (NodeId i = column[step]; i < column[step + 1]; ++i) result.rows.push_back(i);
    }
    result.row_begin.push_back(result.rows.size());
    const std::uint64_t width = result.width(s);
    const std::uint64_t rows = width + result.row_begin[s + 1] - result.row_begin[s];
    result.panel_begin.push_back(result.panel_begin[s] + width * rows);
    if (parent_[s] == kNoNode) continue;
    sibling[s] = child[parent_[s]];
    child[parent_[s]] = s;
  }
  return result;
}

}  // namespace copse
