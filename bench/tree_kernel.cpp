// SPDX-License-Identifier: Apache-2.0
// What does the pseudoinverse of a tree cost? A Gram matrix beside filling a matrix of that size, and L^+ x
// beside one pass over the arrays it reads, on trees of 10^7 nodes, one thread.
//
//   tree_kernel [--nodes 1e7] [--labelled 4000] [--tree random|path|both] [--repeats 5]

#include <cmath>

#include "bench.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/support/random.hpp"
#include "laplacian/tree_sums.hpp"

namespace {

using namespace copse;

/// Each node hangs below a random earlier one (depth about 2 ln n), or below the one before it; weights
/// log-uniform over [1, 100].
SpanningForest make_tree(NodeId n, bool is_path) {
  SpanningForest forest{Buffer<NodeId>(n), Buffer<NodeId>(n), Buffer<Weight>(n)};
  Stream stream(1, Purpose::test, 0);
  for (NodeId rank = 0; rank < n; ++rank) {
    forest.node[rank] = rank;
    if (rank == 0) continue;
    forest.parent[rank] = is_path ? rank - 1 : static_cast<NodeId>(stream.below(rank));
    forest.weight[rank] = static_cast<Weight>(std::exp(std::log(100.0) * stream.uniform()));
  }
  // Nodes in an order that has nothing to do with the tree.
  for (NodeId i = n; i > 1; --i) std::swap(forest.node[i - 1], forest.node[stream.below(i)]);
  return forest;
}

void compare(const char* name, NodeId n, std::size_t labelled, int repeats) {
  const SpanningForest forest = make_tree(n, std::string(name) == "path");
  double making = 0;
  const TreeKernel kernel = [&] {
    TreeKernel made(SpanningForest{});
    making = bench::cpu_seconds([&] { made = TreeKernel(forest); });
    return made;
  }();
  std::printf("%s, %u nodes: %.2f s to prepare\n", name, n, making);

  Stream stream(2, Purpose::test, 0);
  std::vector<NodeId> nodes(labelled);
  for (NodeId& node : nodes) node = static_cast<NodeId>(stream.below(n));
  const auto fresh = [&](auto&& fill) {  // filling a matrix includes getting its memory
    return bench::median_seconds(repeats, [&](int) {
      Buffer<double> matrix(labelled * labelled);
      fill(matrix);
      bench::keep(static_cast<std::uint64_t>(matrix[labelled]));
    });
  };
  Buffer<double> gram(labelled * labelled);
  kernel.gram(nodes, nodes, gram.span());
  for (std::size_t k = 0; k < 1000; ++k) {
    const std::size_t i = stream.below(labelled), j = stream.below(labelled);
    bench::check(gram[i * labelled + j] == kernel.entry(nodes[i], nodes[j]), "an entry of the Gram matrix");
  }
  const double filling = fresh([](Buffer<double>& m) { std::fill(m.begin(), m.end(), 1.5); });
  const double grams = fresh([&](Buffer<double>& m) { kernel.gram(nodes, nodes, m.span()); });
  const double entries = fresh([&](Buffer<double>& m) {
    for (std::size_t i = 0; i < labelled; ++i)
      for (std::size_t j = 0; j < labelled; ++j) m[i * labelled + j] = kernel.entry(nodes[i], nodes[j]);
  });
  std::printf(
      "  Gram matrix of %zu: fill %.3f s, gram %.3f s (ratio %.2f), entry by entry %.3f s (ratio %.1f)\n",
      labelled, filling, grams, grams / filling, entries, entries / filling);

  Buffer<double> x(n), y(n);
  for (double& value : x) value = stream.uniform() - 0.5;
  // One pass over what L^+ x reads and writes: parent, weight, x.
  const double pass = bench::median_seconds(repeats, [&](int) {
    for (std::size_t i = 0; i < n; ++i)
      y[i] = y[i] + static_cast<double>(forest.weight[i]) * forest.parent[i];
    bench::keep(static_cast<std::uint64_t>(y[n / 2]));
  });
  const double product = bench::median_seconds(repeats, [&](int) { kernel.multiply(x.span(), y.span()); });
  std::printf("  L^+ x: one pass %.3f s, product %.3f s (ratio %.2f)\n", pass, product, product / pass);

  TreeSums sums(forest);
  sums.add_column();
  constexpr int kRounds = 1000000;
  double total = 0;
  const double rounds = bench::cpu_seconds([&] {
    for (int round = 0; round < kRounds; ++round) {
      const auto node = static_cast<NodeId>(stream.below(n));
      const double score = sums.kernel_sum(node, 0);
      total += score;
      sums.add(node, score > 0 ? -1 : 1, 0);
    }
  });
  bench::keep(static_cast<std::uint64_t>(total));
  std::printf("  TreeSums: %.2f microseconds a round of one value and one update, %d rounds\n",
              rounds / kRounds * 1e6, kRounds);
}

}  // namespace

int main(int argc, char** argv) {
  const auto n = static_cast<NodeId>(std::stod(bench::argument(argc, argv, "nodes", "1e7")));
  const auto labelled = static_cast<std::size_t>(std::stod(bench::argument(argc, argv, "labelled", "4000")));
  const int repeats = std::stoi(bench::argument(argc, argv, "repeats", "5"));
  const std::string which = bench::argument(argc, argv, "tree", "both");
  for (const char* name : {"random", "path"})
    if (which == name || which == "both") compare(name, n, labelled, repeats);
}
