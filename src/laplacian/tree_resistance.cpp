// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/sample.hpp"
#include "trees/shortest_path.hpp"

namespace copse {
namespace {

/// Where a node's subtree lies in the preorder, by node.
struct Interval32 {
  NodeId begin, end;
};

/// Parents first, without a stack: a subtree takes the next free places of its parent's.
Buffer<Interval32> preorder(const SpanningForest& forest) {
  const NodeId n = forest.num_nodes();
  Buffer<NodeId> size(n), next(n);
  for (NodeId rank = n; rank-- > 0;)
    if (++size[rank]; !forest.is_root(rank)) size[forest.parent[rank]] += size[rank];
  Buffer<Interval32> of_node(n);
  NodeId next_tree = 0;
  for (NodeId rank = 0; rank < n; ++rank) {
    NodeId& place = forest.is_root(rank) ? next_tree : next[forest.parent[rank]];
    of_node[forest.node[rank]] = {place, place + size[rank]};
    next[rank] = place + 1;
    place += size[rank];
  }
  return of_node;
}

/// Values at places, changed by intervals (Fenwick 1994).
class IntervalSums {
 public:
  explicit IntervalSums(std::size_t size) : sums_(size) {}
  void add(const Interval32& interval, double value) {
    add_from(interval.begin, value);
    add_from(interval.end, -value);
  }
  double at(std::size_t place) const {
    double sum = 0;
    for (std::size_t k = place + 1; k > 0; k &= k - 1) sum += sums_[k - 1];
    return sum;
  }

 private:
  void add_from(std::size_t place, double value) {
    for (std::size_t k = place + 1; k <= sums_.size(); k += k & (~k + 1)) sums_[k - 1] += value;
  }
  Buffer<double> sums_;
};

/// The shortest-path forest in preorder, by place.
struct ShortestPaths {
  Buffer<NodeId> node, parent_node, end;
  Buffer<double> resistance;  // of the edge to the parent
  Buffer<double> distance;    // to the root
  Buffer<double> largest;     // resistance of an edge on the way there

  explicit ShortestPaths(const SpanningForest& forest)
      : node(forest.num_nodes()),
        parent_node(forest.num_nodes()),
        end(forest.num_nodes()),
        resistance(forest.num_nodes()),
        distance(forest.num_nodes()),
        largest(forest.num_nodes()) {
    const Buffer<Interval32> place = preorder(forest);
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      const NodeId u = forest.node[rank], up = forest.node[forest.parent[rank]], at = place[u].begin;
      node[at] = u;
      parent_node[at] = up;
      end[at] = place[u].end;
      if (u == up) continue;
      resistance[at] = 1.0 / static_cast<double>(forest.edge_weight(rank));
      distance[at] = distance[place[up].begin] + resistance[at];
      largest[at] = std::max(largest[place[up].begin], resistance[at]);
    }
  }
};

/// One tree's sample of r(u, root), by place on the shortest paths. An edge (a, b) of the shortest paths that
/// is also the tree's counts for those below it in both, forwards or backwards. So the walk over the shortest
/// paths in preorder keeps, for every place of the *tree*, the sum over the open edges above it there.
Buffer<double> sample(const ShortestPaths& paths, const SpanningForest& tree) {
  const std::size_t n = tree.num_nodes();
  const Buffer<Interval32> below = preorder(tree);
  Buffer<NodeId> parent(n);  // by node
  for (NodeId rank = 0; rank < n; ++rank) parent[tree.node[rank]] = tree.node[tree.parent[rank]];
  struct Open {
    NodeId end;  // place where it closes
    Interval32 interval;
    double value;
  };
  std::vector<Open> open;
  IntervalSums sums(n);
  Buffer<double> result(n);
  for (NodeId at = 0; at < n; ++at) {
    for (; !open.empty() && open.back().end <= at; open.pop_back())
      sums.add(open.back().interval, -open.back().value);
    const NodeId a = paths.node[at], b = paths.parent_node[at];
    if (a == b) continue;
    const bool forwards = parent[a] == b, backwards = parent[b] == a;
    if (forwards || backwards) {
      open.push_back(
          {paths.end[at], below[forwards ? a : b], forwards ? paths.resistance[at] : -paths.resistance[at]});
      sums.add(open.back().interval, open.back().value);
    }
    result[at] = sums.at(below[a].begin);
  }
  return result;
}

/// Mean and squared deviations of every place, tree after tree (Welford 1962).
struct Moments {
  Buffer<double> mean, squares;
  std::uint64_t count = 0;

  explicit Moments(std::size_t n) : mean(n), squares(n) {}
  void add(const Buffer<double>& values, const Execution& execution) {
    ++count;
    parallel_blocks(execution, values.size(), std::size_t{1} << 16,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) {
                        const double step = values[i] - mean[i];
                        mean[i] += step / static_cast<double>(count);
                        squares[i] += step * (values[i] - mean[i]);
                      }
                    });
  }
};

constexpr double kLog2 = 0.69314718055994531;

/// How far the mean may be off, but for a probability of e^-log_inverse, were it normal: P(|Z| > z) is at
/// most e^(-z^2/2). `unseen` is the deviation of one sample more.
double normal_deviation(double squares, std::uint64_t count, double unseen, double log_inverse) {
  const auto n = static_cast<double>(count);
  return std::sqrt(2 * log_inverse * (squares + unseen * unseen)) / n;
}

/// The same for certain, of samples within [-d, d].
double certain_deviation(double squares, std::uint64_t count, double d, double log_inverse) {
  const auto n = static_cast<double>(count);
  const double range = 2 * d;
  const double hoeffding = range * std::sqrt((log_inverse + kLog2) / (2 * n));
  if (count < 2) return hoeffding;
  const double l = log_inverse + 2 * kLog2, variance = squares / (n - 1);
  return std::min(hoeffding, std::sqrt(2 * variance * l / n) + 7 * range * l / (3 * (n - 1)));
}

void check_options(const TreeEstimateOptions& options) {
  if (!(options.error > 0)) throw UsageError("error", "it is not above 0", "0.05 is a twentieth");
  if (!(options.confidence > 0 && options.confidence < 1))
    throw UsageError("confidence", "it is not between 0 and 1", "0.95 is usual");
  if (options.max_trees < 1) throw UsageError("max_trees", "no trees, no estimate", "give at least 1");
}

}  // namespace

RootResistances tree_root_resistances(const GraphView& graph, const TreeEstimateOptions& options,
                                      const Execution& execution) {
  check_options(options);
  const std::size_t n = graph.num_nodes();
  RootResistances result;
  result.value.resize(n);
  result.error.resize(n);
  result.certain_error.resize(n);
  result.confidence = options.confidence;
  result.report.converged = true;
  const TreeSampler sampler(graph, TreeKind::rst, execution);
  result.roots.assign(sampler.roots().begin(), sampler.roots().end());
  const ShortestPaths paths(shortest_path_forest(graph, result.roots, execution));

  Moments moments(n);
  double log_inverse = 0;
  const auto error_at = [&](std::size_t at) {
    return normal_deviation(moments.squares[at], moments.count, paths.largest[at], log_inverse);
  };
  const auto largest_error = [&] {
    double most = 0;
    for (std::size_t at = 0; at < n; ++at) most = std::max(most, error_at(at));
    return most;
  };
  const auto mean_resistance = [&] {
    const double sum = std::accumulate(moments.mean.begin(), moments.mean.end(), 0.0);
    return n > result.roots.size() ? sum / static_cast<double>(n - result.roots.size()) : 0;
  };
  // Looks are taken after fixed numbers of trees, whatever the threads, the k-th with a share 1/(k (k + 1))
  // of the probability to be wrong; all nodes share that.
  std::uint64_t look_at = 0;
  // Trees of small graphs are drawn many at a time: a thread woken for one would cost more than the tree.
  const std::size_t trees_at_once = static_cast<std::size_t>(std::max(1, execution.threads)) *
                                    std::clamp<std::size_t>((std::size_t{1} << 16) / (n + 1), 1, 64);
  for (double look = 1; moments.count < options.max_trees && !result.reached; ++look) {
    look_at = std::min(options.max_trees, std::max<std::uint64_t>(64, look_at + look_at / 2));
    while (moments.count < look_at) {
      execution.throw_if_cancelled();
      execution.report("trees", moments.count, options.max_trees);
      const std::size_t wave = std::min<std::size_t>(trees_at_once, look_at - moments.count);
      std::vector<Buffer<double>> samples(wave);
      std::vector<TreeReport> reports(wave);
      parallel_for(execution.threads, wave, [&](std::size_t i) {
        const SpanningForest tree = sampler.tree(moments.count + i, &reports[i]);
        execution.throw_if_cancelled();
        samples[i] = sample(paths, tree);
      });
      for (std::size_t i = 0; i < wave; ++i) {
        moments.add(samples[i], execution);
        result.num_inexact_trees += reports[i].path == TreePath::completed_by_keys;
      }
    }
    log_inverse = negative_log((1 - options.confidence) / (static_cast<double>(n) * look * (look + 1)));
    result.reached = largest_error() <= options.error * mean_resistance();
  }
  result.num_trees = moments.count;
  for (std::size_t at = 0; at < n; ++at) {
    const NodeId u = paths.node[at];
    result.value[u] = std::clamp(moments.mean[at], 0.0, paths.distance[at]);
    result.error[u] = error_at(at);
    result.certain_error[u] =
        certain_deviation(moments.squares[at], moments.count, paths.distance[at], log_inverse);
  }
  return result;
}

RootResistances tree_diagonal(const GraphView& graph, const TreeEstimateOptions& options,
                              const Execution& execution) {
  RootResistances result = tree_root_resistances(graph, options, execution);
  std::vector<double> columns(graph.num_nodes());
  for (const NodeId root : result.roots) columns[root] = 1;
  result.report = LaplacianSolver(graph, options.solve, execution).solve(columns, columns);
  const Components components = connected_components(graph, execution);
  for (std::size_t u = 0; u < columns.size(); ++u) {
    const double at_root = columns[result.roots[components.of_node[u]]];
    result.value[u] = std::max(0.0, result.value[u] - at_root + 2 * columns[u]);
  }
  return result;
}

}  // namespace copse
