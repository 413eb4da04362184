// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/kernel_games.hpp"

namespace copse {
namespace {

TEST(GraphPerceptron, decides_and_learns_as_its_dense_twin_in_random_games) { play_perceptron_games(0, 300); }
TEST(Projection, decides_and_learns_as_its_dense_twin_in_random_games) { play_projection_games(0, 300); }

// A third class comes late, some nodes come again with another label, and all are labelled in the end, the
// last node of every component included: more labels than are taken off the kernel at once.
TEST(Projection, interpolates_from_shared_columns_as_it_does_by_solving_in_long_games) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    const bool is_aggressive = seed != 3;
    const Graph graph = oracle::random_graph(
        {.num_nodes = 220, .num_edges = seed < 2 ? 300U : 600U, .seed = seed, .weighted = seed == 1});
    SharedColumns columns(graph);
    ProjectionOptions options = min_norm_interpolation();
    options.aggressive = is_aggressive;
    Projection shared(graph, options, {.columns = &columns});
    options.kernel.solve.tolerance = kTightTolerance;
    Projection solved(graph, options, {});
    std::mt19937_64 random(seed);
    std::vector<NodeId> order(graph.num_nodes());
    std::iota(order.begin(), order.end(), NodeId{0});
    std::shuffle(order.begin(), order.end(), random);
    order.insert(order.begin() + 150, {order[3], order[77], order[149]});
    for (std::size_t t = 0; t < order.size(); ++t) {
      ASSERT_EQ(shared.guess(order[t]).label, solved.guess(order[t]).label) << "trial " << t;
      const auto label = static_cast<Label>(t > 100 && random() % 3 == 0 ? 2 : order[t] < 100);
      shared.reveal(order[t], label);
      solved.reveal(order[t], label);
      ASSERT_EQ(shared.num_updates(), solved.num_updates()) << "trial " << t;
      if (t % 20 != 0) continue;
      std::vector<double> a(shared.num_classes()), b(a);
      for (NodeId u = 0; u < graph.num_nodes(); ++u) {
        shared.margins(u, a);
        solved.margins(u, b);
        for (std::size_t c = 0; c < a.size(); ++c)  // equal: minus infinity, of a class not told yet
          ASSERT_TRUE(a[c] == b[c] || std::fabs(a[c] - b[c]) < 1e-5) << "trial " << t << " node " << u;
      }
    }
  }
}

}  // namespace
}  // namespace copse
