// SPDX-License-Identifier: Apache-2.0
// What do the solver, the passes over a tree and the search for neighbours earn beside their plain twins?
// These are what anyone would write: conjugate gradients divided by the degrees, a depth-first walk with a
// stack and two passes over its line, a double loop over all pairs of points. Answers are compared before
// anything is timed; milliseconds of one thread.
//
//   solve_twins [--graph NAME|all] [--data ../shared/data] [--repeats 5]
//
// `all` leaves out the graphs of 10^6 nodes, where the plain solver takes minutes: name them.

#include <cmath>

#include "bench.hpp"
#include "bench_graphs.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/learners/forest_committee.hpp"
#include "copse/points/neighbors.hpp"
#include "copse/trees/line.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/neighbors.hpp"

namespace {

using namespace copse;
using Vector = std::vector<double>;

constexpr double kTolerance = 1e-8;  // of the backward error, as the solver measures it

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void take_off_mean(Vector& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  for (double& value : x) value -= sum / static_cast<double>(x.size());
}

Vector times_laplacian(const GraphView& graph, const Vector& x) {
  Vector y(x.size());
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      y[u] += graph.weight(arc) * (x[u] - x[graph.neighbors[arc]]);
  return y;
}

/// L x = b on a connected graph, b of mean 0.
Vector plain_solve(const GraphView& graph, const Vector& b) {
  const std::size_t n = b.size();
  Vector degree(n), x(n), r = b, z(n), p(n);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) degree[u] = weighted_degree(graph, u);
  const auto size = [&](const Vector& v, double power) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += v[i] * v[i] * std::pow(degree[i], power);
    return std::sqrt(sum);
  };
  double before = 0;
  while (size(r, -1) > kTolerance * (2 * size(x, 1) + size(b, -1))) {
    for (std::size_t i = 0; i < n; ++i) z[i] = r[i] / degree[i];
    const double now = dot(r, z);
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + (before == 0 ? 0 : now / before) * p[i];
    const Vector q = times_laplacian(graph, p);
    const double step = now / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) x[i] += step * p[i], r[i] -= step * q[i];
    before = now;
  }
  take_off_mean(x);
  return x;
}

/// Depth first by an explicit stack, children by rank; every place joined to the one before by the lightest
/// edge of the path between them.
Line plain_line(const SpanningForest& forest) {
  const NodeId n = forest.num_nodes();
  std::vector<std::vector<NodeId>> children(n);
  Line line;
  std::vector<NodeId> stack, order;
  for (NodeId rank = n; rank-- > 0;) {
    if (forest.is_root(rank))
      stack.push_back(rank);
    else
      children[forest.parent[rank]].push_back(rank);
  }
  while (!stack.empty()) {
    const NodeId rank = stack.back();
    stack.pop_back();
    if (forest.is_root(rank)) line.starts.push_back(static_cast<NodeId>(order.size()));
    order.push_back(rank);
    for (const NodeId child : children[rank]) stack.push_back(child);
  }
  line.node = Buffer<NodeId>(n);
  if (forest.is_weighted()) line.weight = Buffer<Weight>(n);
  for (NodeId place = 0; place < n; ++place) {
    const NodeId rank = order[place];
    line.node[place] = forest.node[rank];
    if (!forest.is_weighted() || forest.is_root(rank)) continue;
    line.weight[place] = forest.weight[rank];
    for (NodeId up = order[place - 1]; up != forest.parent[rank]; up = forest.parent[up])
      line.weight[place] = std::min(line.weight[place], forest.weight[up]);
  }
  return line;
}

/// One pass to the right, one to the left: the nearest label of either side, then the nearer of the two.
std::vector<Label> plain_votes(const Line& line, std::span<const Label> labels) {
  const NodeId n = line.num_nodes();
  std::vector<char> is_start(n + std::size_t{1});
  for (const NodeId start : line.starts) is_start[start] = 1;
  const auto length = [&](NodeId place) { return line.weight.empty() ? 1.0 : 1.0 / line.weight[place]; };
  std::vector<Label> left(n, kNoLabel), votes(labels.size(), kNoLabel);
  Vector to_left(n);
  for (NodeId place = 0; place < n; ++place) {
    if (is_start[place] == 0) {
      const Label before = labels[line.node[place - 1]];
      left[place] = before != kNoLabel ? before : left[place - 1];
      to_left[place] = (before != kNoLabel ? 0 : to_left[place - 1]) + length(place);
    }
  }
  Label right = kNoLabel;
  double to_right = 0;
  for (NodeId place = n; place-- > 0;) {
    if (place + 1 == n || is_start[place + 1] != 0) {
      right = kNoLabel;
    } else {
      const Label after = labels[line.node[place + 1]];
      to_right = (after != kNoLabel ? 0 : to_right) + length(place + 1);
      if (after != kNoLabel) right = after;
    }
    const bool goes_left = left[place] != kNoLabel && (right == kNoLabel || to_left[place] < to_right ||
                                                       (to_left[place] == to_right && line.ties_go_left));
    votes[line.node[place]] = goes_left ? left[place] : right;
  }
  return votes;
}

struct Ratio {
  double plain, fast;
};

template <class Plain, class Fast>
Ratio time_both(int repeats, Plain&& plain, Fast&& fast) {
  return {1e3 * bench::median_seconds(repeats, [&](int) { plain(); }),
          1e3 * bench::median_seconds(repeats, [&](int) { fast(); })};
}

void print(const Ratio& ratio) {
  std::printf(" %10.1f %9.1f %6.2f", ratio.plain, ratio.fast, ratio.plain / ratio.fast);
}

Ratio compare_solves(const GraphView& graph, int repeats) {
  Stream stream(1, Purpose::test, 0);
  Vector b(graph.num_nodes());
  for (double& value : b) value = stream.uniform() - 0.5;
  take_off_mean(b);
  Vector x(b.size());
  const auto fast = [&] {
    LaplacianSolver solver(graph, {.tolerance = kTolerance}, {});
    bench::check(solver.solve(b, x).converged, "the solver did not converge");
  };
  fast();
  Vector difference = plain_solve(graph, b);
  const double size = dot(difference, times_laplacian(graph, difference));
  for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= x[i];
  bench::check(dot(difference, times_laplacian(graph, difference)) <= 1e-6 * size, "solutions differ");
  return time_both(
      repeats, [&] { plain_solve(graph, b); }, fast);
}

void compare_passes(const GraphView& graph, int repeats) {
  const SpanningForest forest = TreeSampler(graph, TreeKind::rst, {}).tree(0);
  const auto copy = [&] {
    SpanningForest same;
    const auto copy_of = [](const auto& from, auto& to) {
      to = std::remove_reference_t<decltype(to)>::for_overwrite(from.size());
      std::copy(from.begin(), from.end(), to.begin());
    };
    copy_of(forest.node, same.node);
    copy_of(forest.parent, same.parent);
    copy_of(forest.weight, same.weight);
    return same;
  };
  const Line plain = plain_line(forest), fast = linearize(copy());
  bench::check(std::ranges::equal(plain.node, fast.node), "lines differ");
  for (NodeId place = 0; place < plain.weight.size(); ++place)
    bench::check(plain.weight[place] == fast.weight[place], "lines have other weights");

  Stream stream(1, Purpose::test, 1);
  std::vector<Label> labels(graph.num_nodes(), kNoLabel);
  for (Label& label : labels)
    if (stream.below(20) == 0) label = static_cast<Label>(stream.below(5));
  WeightRange range;
  for (const Weight weight : graph.weights) range.add(weight);
  const auto votes = [&] { return votes_of_tree(ForestRule::wta, copy(), 0, labels, 5, range, {}); };
  const std::vector<Label> plain_answers = plain_votes(random_line(copy(), Execution{}.seed, 0), labels);
  const TreeVotes fast_answers = votes();
  std::uint64_t num_different = 0;  // rounded sums may tell ties apart that are none
  for (NodeId node = 0; node < graph.num_nodes(); ++node)
    num_different += labels[node] == kNoLabel && plain_answers[node] != fast_answers.label[node];
  bench::check(num_different <= graph.num_nodes() / 10'000, "votes differ");
  print(time_both(
      repeats, [&] { plain_votes(plain_line(copy()), labels); }, votes));
}

void compare_neighbors(const std::string& data, const char* name, int repeats) {
  constexpr std::uint64_t kMost = 3000;
  const std::string path = data + "/" + name + "/points.npy.zst";
  if (!std::filesystem::exists(path)) return;
  const NamedPoints all = read_points(path, {}, {});
  const PointsView& view = all.points.view();
  const std::uint64_t count = std::min(kMost, view.num_points);
  oracle::Rows rows(count);
  for (std::uint64_t i = 0; i < count; ++i) rows[i].assign(view.row(i).begin(), view.row(i).end());
  const Points points = oracle::to_points(rows);
  const NeighborOptions options{.method = NeighborMethod::exact};
  const auto fast = [&] { return nearest_neighbors(points, options, {}); };
  const auto plain = [&](bool checks, const Neighbors& other) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto nearest = oracle::brute_force(rows, row, options.k, oracle::squared_distance);
      for (std::uint32_t i = 0; checks && i < options.k; ++i)
        bench::check(nearest[i].second == other.of(row)[i], "neighbours differ");
    }
  };
  const Neighbors found = fast();
  plain(true, found);
  std::printf("%-14s %-10s %9lu", name, "points", static_cast<unsigned long>(count));
  print(time_both(
      repeats, [&] { plain(false, found); }, fast));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "5"));
  const std::string data = bench::argument(argc, argv, "data", "../shared/data"),
                    wanted = bench::argument(argc, argv, "graph", "all");
  std::printf("%-14s %-10s %9s %10s %9s %6s %10s %9s %6s\n", "graph", "weights", "nodes", "solve:plain",
              "fast, ms", "ratio", "vote:plain", "fast, ms", "ratio");
  bench::for_each_tree_graph(data, wanted, [&](const char* name, const GraphView& graph) {
    if (wanted == "all" && graph.num_nodes() > 500'000) return;
    std::printf("%-14s %-10s %9u", name, graph.is_weighted() ? "weighted" : "unweighted", graph.num_nodes());
    print(compare_solves(graph, repeats));
    compare_passes(graph, repeats);
    std::printf("\n");
    std::fflush(stdout);
  });
  std::printf("\n%-14s %-10s %9s %10s %9s %6s\n", "neighbours", "", "points", "plain", "fast, ms", "ratio");
  for (const char* name : {"optdigits", "usps", "isolet1560", "coil20"})
    if (wanted == "all" || wanted == name) compare_neighbors(data, name, repeats);
}
