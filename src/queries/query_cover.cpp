// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <variant>

#include "copse/graph/components.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "queries/query_row.hpp"

namespace copse {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

struct CoverOptions {
  enum class Goal { mean, farthest, hops };
  Goal goal = Goal::mean;
  int num_projections = 64;
  int num_targets = 4096;
  int num_candidates = 512;

  static Fields fields() {
    return {
        choice("goal", &CoverOptions::goal,
               "mean: least mean resistance to an asked node, by degree; farthest: the node farthest from "
               "them in "
               "resistance; hops: in edges, without a solve",
               {{"mean", Goal::mean}, {"farthest", Goal::farthest}, {"hops", Goal::hops}}),
        field("num_projections", &CoverOptions::num_projections,
              "solves that measure all resistances roughly on large graphs: more is truer", between(1, 4096)),
        field("num_targets", &CoverOptions::num_targets, "nodes whose mean resistance is watched, at most",
              between(1, 1 << 24)),
        field("num_candidates", &CoverOptions::num_candidates, "nodes tried for a place, at most",
              between(1, 1 << 24))};
  }
};

/// Effective resistances, exact on small graphs, by random projection on large ones.
class Resistances {
 public:
  static constexpr NodeId kDenseNodes = 1500;

  Resistances(const GraphView& graph, const Components& components, int num_projections,
              const Execution& execution)
      : component_(components.of_node), n_(graph.num_nodes()) {
    if (n_ <= kDenseNodes)
      of_ = dense_pseudoinverse(graph.magnitudes(), kDenseNodes);
    else
      of_.emplace<ResistanceSketch>(graph.magnitudes(), num_projections, SolveOptions{.tolerance = 1e-4},
                                    execution);
  }
  double diagonal(NodeId u) const {
    if (const auto* sketch = std::get_if<ResistanceSketch>(&of_)) return sketch->diagonal(u);
    return std::get<0>(of_)[std::size_t{u} * n_ + u];
  }
  double between(NodeId u, NodeId v) const {
    if (component_[u] != component_[v]) return kFar;
    if (const auto* sketch = std::get_if<ResistanceSketch>(&of_)) return sketch->resistance(u, v);
    const std::vector<double>& dense = std::get<0>(of_);
    return u == v ? 0 : std::max(0.0, diagonal(u) + diagonal(v) - 2 * dense[std::size_t{u} * n_ + v]);
  }

 private:
  std::span<const NodeId> component_;
  std::size_t n_;
  std::variant<std::vector<double>, ResistanceSketch> of_;
};

/// Nodes that stand for the rest, from the graph alone: labelled nodes are places that are taken, whatever
/// their labels. `mean` is greedy facility location in resistance, which takes the middles of dense regions,
/// where a label says most. Nodes count by their degrees: between nodes of a dense region resistance is
/// little more than 1 / degree at either end (von Luxburg, Radl & Hein 2014), so that with equal shares the
/// largest gain would be a pendant node's own, about whom nobody else learns anything. Farthest-first
/// (`farthest`, `hops`) covers every corner within a radius of at most twice the best possible (Gonzalez
/// 1985) but spends its first labels on outliers.
class Cover final : public QueryStrategy {
 public:
  using Options = CoverOptions;
  static constexpr bool kTakesSigns = true;  // how near nodes are does not depend on them

  Cover(const GraphView& graph, const Options& options, const Execution& execution)
      : QueryStrategy(graph, execution),
        options_(options),
        components_(connected_components(graph, execution)) {
    if (options.goal != Options::Goal::hops)
      resistances_ =
          std::make_unique<Resistances>(this->graph(), components_, options.num_projections, execution);
    if (options.goal == Options::Goal::mean) find_targets();
    nearest_.assign(num_points(), kFar);
  }

  static std::uint64_t bytes(const ProblemSize& size, const Options& options) {
    const std::uint64_t own = size.num_nodes * (kBytesPerNode + sizeof(NodeId) + 2 * sizeof(double));
    if (options.goal == Options::Goal::hops) return own + size.num_nodes * sizeof(NodeId);
    return own + ResistanceSketch::bytes(size.num_nodes, options.num_projections) +
           LaplacianSolver::bytes(size.num_nodes, size.num_arcs, 8, {});
  }

 private:
  void learn(NodeId node, Label) override {
    taken_.push_back(node);
    lower(node, nearest_);
  }

  /// Only where the node was the nearest place another one is looked for.
  void forget(NodeId node, Label) override {
    std::erase(taken_, node);
    if (options_.goal == Options::Goal::hops) {
      std::fill(nearest_.begin(), nearest_.end(), kFar);
      return lower_by_hops(taken_, nearest_);
    }
    parallel_blocks(execution().threads, nearest_.size(), 1024,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) {
                        if (resistances_->between(node, point(i)) > nearest_[i]) continue;
                        nearest_[i] = kFar;
                        for (const NodeId other : taken_)
                          nearest_[i] = std::min(nearest_[i], resistances_->between(other, point(i)));
                      }
                    });
  }

  std::vector<Query> choose(std::size_t count, std::vector<char> left) override {
    return options_.goal == Options::Goal::mean ? choose_by_mean(count, left) : choose_farthest(count, left);
  }

  /// Nodes whose distances to what is taken are kept: the targets, or all.
  std::size_t num_points() const {
    return options_.goal == Options::Goal::mean ? targets_.size() : graph().num_nodes();
  }
  NodeId point(std::size_t i) const {
    return options_.goal == Options::Goal::mean ? targets_[i] : static_cast<NodeId>(i);
  }

  /// The distances of points to `node` where they are smaller than what is known.
  void lower(NodeId node, std::vector<double>& nearest) const {
    if (options_.goal == Options::Goal::hops) return lower_by_hops({&node, 1}, nearest);
    parallel_blocks(execution().threads, nearest.size(), 4096,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i)
                        nearest[i] = std::min(nearest[i], resistances_->between(node, point(i)));
                    });
  }
  void lower_by_hops(std::span<const NodeId> nodes, std::vector<double>& nearest) const {
    std::vector<NodeId> queue(nodes.begin(), nodes.end());
    for (const NodeId node : nodes) nearest[node] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const NodeId v : graph().neighbors_of(queue[i])) {
        if (!(nearest[queue[i]] + 1 < nearest[v])) continue;
        nearest[v] = nearest[queue[i]] + 1;
        queue.push_back(v);
      }
    }
  }

  // --- least mean resistance

  /// Without a place in its component a node is farther than anything there, (sqrt(K_u) + sqrt(K_v))^2 at
  /// the most. An isolated one counts nothing: its label would speak of nobody else.
  void find_targets() {
    targets_ = sample(options_.num_targets, kTargets, nullptr);
    cap_.resize(components_.count());
    double total = 0;
    for (const NodeId t : targets_) {
      share_.push_back(weighted_degree(graph().magnitudes(), t));
      total += share_.back();
      double& most = cap_[components_.of_node[t]];
      most = std::max(most, 4 * resistances_->diagonal(t));
    }
    for (double& share : share_) share = total > 0 ? share / total : 0;
  }

  std::vector<Query> choose_by_mean(std::size_t count, std::vector<char>& left) const {
    std::vector<double> nearest(targets_.size());
    for (std::size_t t = 0; t < targets_.size(); ++t)
      nearest[t] = std::min(nearest_[t], cap_[components_.of_node[targets_[t]]]);
    std::vector<Query> queries;
    for (std::uint64_t step = taken_.size(); queries.size() < count; ++step) {
      execution().throw_if_cancelled();
      execution().report("queries", queries.size(), count);
      const std::vector<NodeId> candidates = sample(options_.num_candidates, step, &left);
      std::vector<double> gain(candidates.size());
      parallel_for(execution().threads, candidates.size(), [&](std::size_t i) {
        for (std::size_t t = 0; t < targets_.size(); ++t)
          gain[i] +=
              share_[t] * std::max(0.0, nearest[t] - resistances_->between(candidates[i], targets_[t]));
      });
      std::size_t best = 0;
      for (std::size_t i = 1; i < candidates.size(); ++i)
        if (gain[i] > gain[best]) best = i;
      queries.push_back({candidates[best], gain[best]});
      left[candidates[best]] = 0;
      lower(candidates[best], nearest);
    }
    return queries;
  }

  /// All nodes that `allowed` lets through, ascending, or that many drawn from them, a function of (seed,
  /// index).
  std::vector<NodeId> sample(int most, std::uint64_t index, const std::vector<char>* allowed) const {
    std::vector<NodeId> nodes;
    for (NodeId u = 0; u < graph().num_nodes(); ++u)
      if (allowed == nullptr || (*allowed)[u] != 0) nodes.push_back(u);
    const auto count = static_cast<std::size_t>(most);
    if (nodes.size() <= std::max<std::size_t>(count, Resistances::kDenseNodes)) return nodes;
    Stream stream{execution().seed, Purpose::query, index + (std::uint64_t{1} << 32)};  // above any node's
    for (std::size_t i = 0; i < count; ++i) std::swap(nodes[i], nodes[i + stream.below(nodes.size() - i)]);
    nodes.resize(count);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  // --- farthest first

  std::vector<Query> choose_farthest(std::size_t count, std::vector<char>& left) const {
    std::vector<double> nearest = nearest_;
    std::vector<Query> queries;
    while (queries.size() < count) {
      execution().throw_if_cancelled();
      execution().report("queries", queries.size(), count);
      const Query next = farthest(nearest, left);
      queries.push_back(next);
      left[next.node] = 0;
      if (queries.size() < count) lower(next.node, nearest);
    }
    return queries;
  }

  /// A component without a place counts as far as anything is, times its size beside the largest: or every
  /// isolated node would come before the second place in the graph. Its middle is taken.
  Query farthest(const std::vector<double>& nearest, const std::vector<char>& left) const {
    double reach = 1;
    for (const double distance : nearest)
      if (distance < kFar) reach = std::max(reach, distance);
    const double largest = components_.sizes[components_.largest()];
    Query top;
    for (NodeId u = 0; u < nearest.size(); ++u) {
      if (left[u] == 0) continue;
      const bool is_near = nearest[u] < kFar;
      const double score = is_near ? nearest[u] : reach * components_.sizes[components_.of_node[u]] / largest;
      if (top.node == kNoNode || score > top.score || (score == top.score && is_before(u, top.node, is_near)))
        top = {u, score};
    }
    return top;
  }

  /// Between equals: the middle of the component where nothing in it is taken yet, else by lot.
  bool is_before(NodeId a, NodeId b, bool is_near) const {
    if (!is_near && components_.of_node[a] == components_.of_node[b]) {
      const double x = remoteness(a), y = remoteness(b);
      if (x != y) return x < y;
    }
    return tie_key(a) < tie_key(b);
  }
  double remoteness(NodeId u) const {
    return resistances_ ? resistances_->diagonal(u) : -static_cast<double>(graph().degree(u));
  }

  static constexpr std::uint64_t kTargets = std::uint64_t{1} << 40;  // no step gets there
  Options options_;
  Components components_;
  std::unique_ptr<Resistances> resistances_;
  std::vector<NodeId> targets_;  // of goal=mean
  std::vector<double> share_;    // of all degrees, by target
  std::vector<double> cap_;      // by component
  std::vector<NodeId> taken_;
  std::vector<double> nearest_;  // by point: to the nearest of those taken
};

}  // namespace

QueryRow cover_row() {
  return make_query_row<Cover>("cover",
                               "nodes that stand for the others, from the graph alone: needs no label",
                               "64 Laplacian solves once, then O(n) per query; goal=hops O(m + n) per query",
                               "greedy facility location; Gonzalez 1985");
}

}  // namespace copse
