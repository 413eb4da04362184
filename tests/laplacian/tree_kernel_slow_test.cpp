// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "copse/laplacian/tree_kernel.hpp"
#include "laplacian/tree_sums.hpp"

namespace copse {
namespace {

constexpr NodeId kNodes = 10000000;

/// A path, or a star, rooted at node 0.
SpanningForest tree(bool is_path) {
  SpanningForest forest{Buffer<NodeId>(kNodes), Buffer<NodeId>(kNodes), {}};
  for (NodeId i = 0; i < kNodes; ++i) {
    forest.node[i] = i;
    forest.parent[i] = is_path && i > 0 ? i - 1 : 0;
  }
  return forest;
}

TEST(TreeKernelAtScale, a_path_of_ten_million_nodes) {
  const double n = kNodes;
  const SpanningForest path = tree(true);
  const TreeKernel kernel(path);
  EXPECT_EQ(kernel.resistance(0, kNodes - 1), n - 1);
  EXPECT_EQ(kernel.resistance(1234567, 7654321), 7654321 - 1234567);
  EXPECT_NEAR(kernel.diagonal(0) / ((n - 1) * (2 * n - 1) / (6 * n)), 1, 1e-10);
  std::vector<double> x(kNodes);
  x[0] = 1;
  x[kNodes - 1] = -1;
  kernel.multiply(x, x);
  EXPECT_NEAR((x[0] - x[kNodes - 1]) / (n - 1), 1, 1e-10);
  TreeSums sums(path);
  sums.add_column();
  sums.add(0, 1, 0);
  sums.add(kNodes - 1, -1, 0);
  for (NodeId i = 0; i < kNodes; i += 999983) EXPECT_NEAR(sums.kernel_sum(i, 0), x[i], 1e-9 * n);
}

TEST(TreeKernelAtScale, a_star_of_ten_million_nodes) {
  const double n = kNodes;
  const TreeKernel kernel(tree(false));
  EXPECT_EQ(kernel.resistance(1, kNodes - 1), 2);
  EXPECT_EQ(kernel.resistance(0, 5), 1);
  EXPECT_NEAR(kernel.diagonal(0) / ((n - 1) / (n * n)), 1, 1e-9);
  EXPECT_NEAR(kernel.diagonal(7) / (1 - (n + 1) / (n * n)), 1, 1e-12);
}

}  // namespace
}  // namespace copse
