// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/halving.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "copse/support/parallel.hpp"
#include "learners/count_labellings.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"
#include "trees/parity.hpp"

namespace copse {
namespace {

/// Equal shares differ by rounding: they are told apart in steps of 2^-40 only, so that a tie is a tie.
double rounded(double share) { return std::nearbyint(share * 0x1p40) * 0x1p-40; }

bool can_be_listed(std::size_t num_nodes, std::size_t num_classes) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < num_nodes && count <= kMostListed; ++i) count *= num_classes;
  return count <= kMostListed;
}

/// Trees counted before their shares are added up: bounds the memory.
constexpr int kTreesAtOnce = 8;

/// What the components are: trees all of them, or which ones are listed, or left to spanning trees.
struct Shapes {
  bool all_trees = true, any_left = false;
  std::map<NodeId, std::vector<NodeId>> listed;  // by component
};

Shapes find_shapes(const GraphView& graph, const ScoreTable& table, std::size_t num_classes) {
  const Components& components = table.components;
  std::vector<EdgeIndex> arcs(components.count());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) arcs[components.of_node[u]] += graph.degree(u);
  Shapes shapes;
  for (NodeId c = 0; c < components.count(); ++c) {
    if (!table.classes.is_reached(c) || arcs[c] / 2 + 1 == components.sizes[c]) continue;
    shapes.all_trees = false;
    if (can_be_listed(components.sizes[c], num_classes))
      shapes.listed[c];
    else
      shapes.any_left = true;
  }
  if (!shapes.listed.empty()) {
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      const auto found = shapes.listed.find(components.of_node[u]);
      if (found != shapes.listed.end()) found->second.push_back(u);
    }
  }
  return shapes;
}

/// On a tree of a signed graph, as seen from its roots.
std::vector<double> count_seen_from_roots(const GraphView& graph, const SpanningForest& forest,
                                          const std::vector<Label>& fixed, const CountQuestion& question) {
  if (!graph.is_signed()) return count_on_forest(forest, fixed, question);
  const TreeParity parity(graph, forest);
  std::vector<Label> seen(fixed.size());
  for (NodeId u = 0; u < seen.size(); ++u) seen[u] = turned(fixed[u], parity.is_other_side(u));
  std::vector<double> shares = count_on_forest(forest, seen, question);
  for (NodeId u = 0; u < seen.size(); ++u)
    if (parity.is_other_side(u)) std::swap(shares[std::size_t{u} * 2], shares[std::size_t{u} * 2 + 1]);
  return shares;
}

}  // namespace

Halving::Halving(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution), options_(options) {}

ScoreTable Halving::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  const std::size_t known = table.classes.count();
  if (known == 0) return table;
  // While one class only has been seen there must be another, or there would be nothing to predict.
  const CountQuestion question{std::max<std::size_t>(known, 2), static_cast<std::uint64_t>(options_.max_cut)};
  const std::size_t n = graph().num_nodes(), k = question.num_classes;
  std::vector<Label> fixed(n, kNoLabel);
  for (std::size_t u = 0; u < n; ++u)
    if (labels()[u] != kNoLabel) fixed[u] = static_cast<Label>(table.classes.column(labels()[u]));

  const Shapes shapes = find_shapes(graph(), table, k);
  const int num_trees = shapes.any_left ? options_.num_trees : 1;
  const TreeSampler sampler(graph(), shapes.any_left ? options_.tree : TreeKind::bfst, execution());
  std::vector<double> shares(n * k);
  for (int first = 0; first < num_trees; first += kTreesAtOnce) {
    const auto count = static_cast<std::size_t>(std::min(kTreesAtOnce, num_trees - first));
    std::vector<std::vector<double>> of_tree(count);
    parallel_for(execution().threads, count, [&](std::size_t i) {
      execution().throw_if_cancelled();
      const SpanningForest forest = sampler.tree(static_cast<std::uint64_t>(first) + i);
      of_tree[i] = count_seen_from_roots(graph(), forest, fixed, question);
    });
    for (const std::vector<double>& one : of_tree)
      for (std::size_t at = 0; at < shares.size(); ++at) shares[at] += one[at] / num_trees;
  }
  for (const auto& [component, nodes] : shapes.listed)
    count_by_listing(graph(), nodes, fixed, question, shares);

  table.values = Buffer<double>(n * known);
  for (std::size_t u = 0; u < n; ++u) {
    double total = 0;
    for (std::size_t c = 0; c < known; ++c) total += table.values[u * known + c] = rounded(shares[u * k + c]);
    // Nothing but the class that nobody has named is left: any of the named ones is as good.
    if (!(total > 0)) std::fill_n(&table.values[u * known], known, 1.0);
  }
  if (shapes.any_left)
    table.notes.push_back("labellings are counted on " + std::to_string(num_trees) +
                          " spanning trees: the graph is neither a tree nor small");
  return table;
}

// The labelled nodes around: those met first on the way out from the node, the nearer the more they count.
std::vector<Reason> Halving::reasons(NodeId node) const {
  std::map<NodeId, double> resistance{{node, 0.0}};
  std::vector<NodeId> queue{node};
  std::vector<Reason> reasons;
  double total = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId u = queue[i];
    if (labels()[u] != kNoLabel) {
      reasons.push_back({u, labels()[u], 1 / resistance[u], resistance[u]});
      total += reasons.back().share;
      continue;
    }
    for (EdgeIndex arc = graph().offsets[u]; arc < graph().offsets[u + 1]; ++arc) {
      const NodeId v = graph().neighbors[arc];
      if (resistance.try_emplace(v, resistance[u] + 1.0 / graph().weight(arc)).second) queue.push_back(v);
    }
  }
  for (Reason& reason : reasons) reason.share /= total;
  return reasons;
}

std::uint64_t Halving::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t classes = std::max<std::size_t>(size.num_classes, 2);
  const std::uint64_t slack = options.max_cut > 0 ? static_cast<std::uint64_t>(options.max_cut) : kMostSlack;
  // Of a tree: what is below and above every node by class and excess, its own arrays and the tree; the
  // shares of the trees at work and their sum; labels, components, scores.
  const std::uint64_t of_tree = classes * (2 * (slack + 1) * 8 + 3 * 8) + 48;
  const auto at_work = static_cast<std::uint64_t>(std::min({size.threads, options.num_trees, kTreesAtOnce}));
  return size.num_nodes * (of_tree * at_work + classes * 8 * (kTreesAtOnce + 2) + 16);
}

}  // namespace copse
