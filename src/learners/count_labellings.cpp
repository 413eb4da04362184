// SPDX-License-Identifier: Apache-2.0
#include "learners/count_labellings.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace copse {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

/// Counts by class and by excess over the class's own smallest cut.
class Counts {
 public:
  Counts(std::size_t num_items, std::size_t num_classes, std::size_t num_excess)
      : classes_(num_classes),
        excess_(num_excess),
        least_(num_items * num_classes, 0),
        values_(num_items * num_classes * num_excess) {}
  std::int64_t& least(std::size_t i, std::size_t c) { return least_[i * classes_ + c]; }
  std::int64_t least(std::size_t i, std::size_t c) const { return least_[i * classes_ + c]; }
  double* of(std::size_t i, std::size_t c) { return &values_[(i * classes_ + c) * excess_]; }
  const double* of(std::size_t i, std::size_t c) const { return &values_[(i * classes_ + c) * excess_]; }

  /// One labelling, of no edges.
  void set_unit(std::size_t i) {
    for (std::size_t c = 0; c < classes_; ++c) {
      least(i, c) = 0;
      std::fill_n(of(i, c), excess_, 0.0);
      of(i, c)[0] = 1;
    }
  }
  void forbid(std::size_t i, std::size_t c) {
    least(i, c) = kNever;
    std::fill_n(of(i, c), excess_, 0.0);
  }
  /// Only ratios matter: the largest becomes 1.
  void scale(std::size_t i) {
    double most = 0;
    for (std::size_t at = i * classes_ * excess_; at < (i + 1) * classes_ * excess_; ++at)
      most = std::max(most, values_[at]);
    if (!(most > 0)) return;
    for (std::size_t at = i * classes_ * excess_; at < (i + 1) * classes_ * excess_; ++at)
      values_[at] /= most;
  }

 private:
  std::size_t classes_, excess_;
  std::vector<std::int64_t> least_;
  std::vector<double> values_;
};

/// One pass over a forest: what is below every node, then what is above it.
class ForestCount {
 public:
  ForestCount(const SpanningForest& forest, std::span<const Label> fixed, const CountQuestion& question)
      : forest_(forest),
        fixed_(fixed),
        question_(question),
        n_(forest.num_nodes()),
        k_(question.num_classes) {
    find_roots_and_children();
    find_slack();
  }

  std::vector<double> shares() {
    Counts below(n_, k_, excess_), above(n_, k_, excess_);
    go_up(below);
    go_down(below, above);
    std::vector<double> shares(std::size_t{n_} * k_);
    for (NodeId rank = 0; rank < n_; ++rank) marginal(rank, below, above, shares);
    return shares;
  }

 private:
  bool allows(NodeId rank, std::size_t c) const {
    const Label known = fixed_[forest_.node[rank]];
    return known == kNoLabel || known == c;
  }

  void find_roots_and_children() {
    root_.resize(n_);
    first_child_.assign(std::size_t{n_} + 1, 0);
    for (NodeId rank = 0; rank < n_; ++rank) {
      root_[rank] = forest_.is_root(rank) ? rank : root_[forest_.parent[rank]];
      if (!forest_.is_root(rank)) ++first_child_[forest_.parent[rank] + 1];
    }
    for (NodeId rank = 0; rank < n_; ++rank) first_child_[rank + 1] += first_child_[rank];
    children_.resize(first_child_[n_]);
    std::vector<NodeId> next(first_child_.begin(), first_child_.end() - 1);
    for (NodeId rank = 0; rank < n_; ++rank)
      if (!forest_.is_root(rank)) children_[next[forest_.parent[rank]]++] = rank;
  }

  /// The smallest cut of every tree, by the same recursion over minima, and what is allowed above it.
  void find_slack() {
    std::vector<std::int64_t> least(std::size_t{n_} * k_);
    for (NodeId rank = 0; rank < n_; ++rank)
      for (std::size_t c = 0; c < k_; ++c) least[rank * k_ + c] = allows(rank, c) ? 0 : kNever;
    allowed_.assign(n_, 0);
    std::vector<std::uint64_t> num_edges(n_);  // by root: no labelling cuts more
    for (NodeId rank = 0; rank < n_; ++rank) num_edges[root_[rank]] += forest_.is_root(rank) ? 0 : 1;
    std::uint64_t slack = 0;
    for (NodeId rank = n_; rank-- > 0;) {
      const std::int64_t* own = &least[rank * k_];
      const std::int64_t best = *std::min_element(own, own + k_);
      if (forest_.is_root(rank)) {
        allowed_[rank] = static_cast<std::int64_t>(
            std::min(allowed_cut(static_cast<std::uint64_t>(best), question_), num_edges[rank]));
        slack = std::max(slack, static_cast<std::uint64_t>(allowed_[rank] - best));
        continue;
      }
      std::int64_t* parent = &least[forest_.parent[rank] * k_];
      for (std::size_t c = 0; c < k_; ++c)
        if (parent[c] < kNever) parent[c] += std::min(own[c], best + 1);
    }
    excess_ = static_cast<std::size_t>(slack) + 1;
  }

  /// What a node with `counts[i]` says across an edge: by class of the other end.
  void cross_edge(const Counts& counts, std::size_t i, Counts& message, std::size_t at) const {
    std::int64_t best = kNever;
    for (std::size_t c = 0; c < k_; ++c) best = std::min(best, counts.least(i, c));
    for (std::size_t c = 0; c < k_; ++c) {
      const std::int64_t least = std::min(counts.least(i, c), best + 1);
      message.least(at, c) = least;
      double* out = message.of(at, c);
      std::fill_n(out, excess_, 0.0);
      for (std::size_t other = 0; other < k_; ++other) {
        const std::int64_t shift = counts.least(i, other) + (other == c ? 0 : 1) - least;
        if (counts.least(i, other) >= kNever || shift >= static_cast<std::int64_t>(excess_)) continue;
        const double* in = counts.of(i, other);
        for (std::size_t e = static_cast<std::size_t>(shift); e < excess_; ++e)
          out[e] += in[e - static_cast<std::size_t>(shift)];
      }
    }
  }

  /// counts[i] times message[at], cut at the slack.
  void multiply(Counts& counts, std::size_t i, const Counts& message, std::size_t at) {
    product_.resize(excess_);
    for (std::size_t c = 0; c < k_; ++c) {
      if (counts.least(i, c) >= kNever) continue;
      counts.least(i, c) += message.least(at, c);
      double* own = counts.of(i, c);
      const double* other = message.of(at, c);
      std::fill(product_.begin(), product_.end(), 0.0);
      for (std::size_t a = 0; a < excess_; ++a) {
        if (own[a] == 0) continue;
        for (std::size_t b = 0; a + b < excess_; ++b) product_[a + b] += own[a] * other[b];
      }
      std::copy(product_.begin(), product_.end(), own);
    }
    counts.scale(i);
  }

  void go_up(Counts& below) {
    Counts message(1, k_, excess_);
    for (NodeId rank = 0; rank < n_; ++rank) {
      below.set_unit(rank);
      for (std::size_t c = 0; c < k_; ++c)
        if (!allows(rank, c)) below.forbid(rank, c);
    }
    for (NodeId rank = n_; rank-- > 0;) {
      if (forest_.is_root(rank)) continue;
      cross_edge(below, rank, message, 0);
      multiply(below, forest_.parent[rank], message, 0);
    }
  }

  /// above[rank]: all but the subtree of rank, by the class of rank. For the children of a node that is the
  /// product of what is above it and of all other children: products from the left and from the right, for a
  /// division could cancel.
  void go_down(const Counts& below, Counts& above) {
    Counts message(1, k_, excess_);
    for (NodeId rank = 0; rank < n_; ++rank) {
      if (forest_.is_root(rank)) above.set_unit(rank);
      const NodeId begin = first_child_[rank], count = first_child_[rank + 1] - begin;
      if (count == 0) continue;
      Counts from_children(count, k_, excess_), right(std::size_t{count} + 1, k_, excess_),
          left(1, k_, excess_);
      for (NodeId i = 0; i < count; ++i) cross_edge(below, children_[begin + i], from_children, i);
      right.set_unit(count);
      for (NodeId i = count; i-- > 0;) {
        copy(right, i + 1, right, i);
        multiply(right, i, from_children, i);
      }
      copy(above, rank, left, 0);
      for (std::size_t c = 0; c < k_; ++c)
        if (!allows(rank, c)) left.forbid(0, c);
      Counts rest(1, k_, excess_);
      for (NodeId i = 0; i < count; ++i) {
        copy(left, 0, rest, 0);
        multiply(rest, 0, right, i + 1);
        cross_edge(rest, 0, above, children_[begin + i]);
        above.scale(children_[begin + i]);
        multiply(left, 0, from_children, i);
      }
    }
  }

  void copy(const Counts& from, std::size_t i, Counts& to, std::size_t j) const {
    for (std::size_t c = 0; c < k_; ++c) {
      to.least(j, c) = from.least(i, c);
      std::copy_n(from.of(i, c), excess_, to.of(j, c));
    }
  }

  void marginal(NodeId rank, const Counts& below, const Counts& above, std::vector<double>& shares) const {
    double* out = &shares[std::size_t{forest_.node[rank]} * k_];
    double total = 0;
    for (std::size_t c = 0; c < k_; ++c) {
      if (below.least(rank, c) >= kNever || above.least(rank, c) >= kNever) continue;
      const std::int64_t left = allowed_[root_[rank]] - below.least(rank, c) - above.least(rank, c);
      const double *a = below.of(rank, c), *b = above.of(rank, c);
      for (std::int64_t e = 0; e <= std::min<std::int64_t>(left, static_cast<std::int64_t>(excess_) - 1); ++e)
        for (std::int64_t f = 0; e + f <= left && f < static_cast<std::int64_t>(excess_); ++f)
          out[c] += a[e] * b[f];
      total += out[c];
    }
    for (std::size_t c = 0; c < k_; ++c) out[c] /= total;
  }

  const SpanningForest& forest_;
  std::span<const Label> fixed_;
  CountQuestion question_;
  NodeId n_;
  std::size_t k_, excess_ = 1;
  std::vector<NodeId> root_, first_child_, children_;
  std::vector<std::int64_t> allowed_;  // by rank of a root
  std::vector<double> product_;
};

}  // namespace

std::uint64_t allowed_cut(std::uint64_t smallest, const CountQuestion& question) {
  if (question.max_cut > 0) return std::max(smallest, question.max_cut);
  return std::min(std::bit_ceil(std::max<std::uint64_t>(smallest, 1)), smallest + kMostSlack);
}

std::vector<double> count_on_forest(const SpanningForest& forest, std::span<const Label> fixed,
                                    const CountQuestion& question) {
  return ForestCount(forest, fixed, question).shares();
}

void count_by_listing(const GraphView& graph, std::span<const NodeId> nodes, std::span<const Label> fixed,
                      const CountQuestion& question, std::span<double> shares) {
  const std::size_t k = question.num_classes, n = nodes.size();
  std::vector<NodeId> place(graph.num_nodes(), kNoNode);
  for (std::size_t i = 0; i < n; ++i) place[nodes[i]] = static_cast<NodeId>(i);
  struct ListedEdge {
    NodeId u, v;
    bool is_negative;  // cut where its ends agree
  };
  std::vector<ListedEdge> edges;
  for (const NodeId u : nodes)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (const NodeId v = graph.neighbors[arc]; u < v)
        edges.push_back({place[u], place[v], graph.is_negative(arc)});
  // counts[cut][place * k + class], with the number of labellings behind: a labelling after the other, as
  // numbers in base k.
  std::vector<std::vector<std::uint64_t>> counts(edges.size() + 1);
  std::vector<Label> labelling(n);
  for (std::size_t i = 0; i < n; ++i) labelling[i] = fixed[nodes[i]] == kNoLabel ? Label{0} : fixed[nodes[i]];
  for (bool is_done = false; !is_done;) {
    std::size_t cut = 0;
    for (const ListedEdge& edge : edges) cut += (labelling[edge.u] != labelling[edge.v]) != edge.is_negative;
    if (counts[cut].empty()) counts[cut].resize(n * k);
    for (std::size_t i = 0; i < n; ++i) ++counts[cut][i * k + labelling[i]];
    is_done = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (fixed[nodes[i]] != kNoLabel) continue;
      if (++labelling[i] < k) {
        is_done = false;
        break;
      }
      labelling[i] = 0;
    }
  }
  std::size_t smallest = 0;
  while (counts[smallest].empty()) ++smallest;
  const std::uint64_t most = allowed_cut(smallest, question);
  for (std::size_t i = 0; i < n; ++i) {
    double* out = &shares[nodes[i] * k];
    std::fill_n(out, k, 0.0);
    double total = 0;
    for (std::size_t cut = smallest; cut < counts.size() && cut <= most; ++cut) {
      if (counts[cut].empty()) continue;
      for (std::size_t c = 0; c < k; ++c) out[c] += static_cast<double>(counts[cut][i * k + c]);
    }
    for (std::size_t c = 0; c < k; ++c) total += out[c];
    for (std::size_t c = 0; c < k; ++c) out[c] /= total;
  }
}

}  // namespace copse
