// SPDX-License-Identifier: Apache-2.0
#include "trees/arc_sampler.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace copse {
namespace {

// Rows at the limits of blocks, side by side: none may read the sums of another.
std::vector<EdgeIndex> ends_of_rows(Stream& stream) {
  constexpr EdgeIndex kBlock = WeightedArcs::kBlock;
  const EdgeIndex special[] = {1,          kBlock - 1,     kBlock,     kBlock + 1, 2 * kBlock - 1,
                               2 * kBlock, 2 * kBlock + 1, 3 * kBlock, 1000};
  std::vector<EdgeIndex> ends{0};
  for (int i = 0; i < 40; ++i)
    ends.push_back(ends.back() + (stream.below(4) == 0 ? 1 + stream.below(400) : special[stream.below(9)]));
  return ends;
}

TEST(WeightedArcs, takes_the_arc_at_which_the_sum_passes_the_wanted_share) {
  Stream stream(4, Purpose::test, 0);
  for (int game = 0; game < 30; ++game) {
    const std::vector<EdgeIndex> ends = ends_of_rows(stream);
    std::vector<Weight> weights(ends.back());
    for (Weight& weight : weights) weight = static_cast<Weight>(1e-3 + stream.uniform());
    const std::vector<NodeId> neighbors(ends.back());
    const GraphView graph{ends, neighbors, weights, {}};
    const WeightedArcs arcs(graph);
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      long double total = 0;
      for (EdgeIndex arc = ends[u]; arc < ends[u + 1]; ++arc) total += weights[arc];
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t bits = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : stream.next64();
        const EdgeIndex arc = arcs.choose(u, bits);
        ASSERT_GE(arc, ends[u]);
        ASSERT_LT(arc, ends[u + 1]);
        long double before = 0;
        for (EdgeIndex a = ends[u]; a < arc; ++a) before += weights[a];
        const long double wanted = static_cast<long double>(bits >> 11) * 0x1p-53L * total;
        const long double rounding = total * 0x1p-44L;
        EXPECT_LE(before, wanted + rounding);
        EXPECT_GE(before + weights[arc], wanted - rounding);
      }
    }
  }
}

TEST(UniformArcs, takes_every_arc_of_a_row_for_an_equal_part_of_the_bits) {
  const std::vector<EdgeIndex> ends{0, 1, 4, 11};
  const std::vector<NodeId> neighbors(11);
  const UniformArcs arcs(GraphView{ends, neighbors, {}, {}});
  for (NodeId u = 0; u < 3; ++u) {
    const EdgeIndex degree = ends[u + 1] - ends[u];
    for (EdgeIndex k = 0; k < degree; ++k) {
      const auto first = static_cast<std::uint64_t>(((Uint128{k} << 64) + degree - 1) / degree);
      EXPECT_EQ(arcs.choose(u, first), ends[u] + k);
      if (k > 0) {
        EXPECT_EQ(arcs.choose(u, first - 1), ends[u] + k - 1);
      }
    }
  }
}

}  // namespace
}  // namespace copse
