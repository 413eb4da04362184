// SPDX-License-Identifier: Apache-2.0
// Lists that were made to look as if they held every edge both ways.

#include "graph/both_ways.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "copse/graph/build.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

struct ForgedArc {
  NodeId from, to;
  Weight weight;
};

// Arcs used to be compared by a signed sum of a fixed mixer of (a << 32 | b) + bits * 0x9E3779B97F4A7C15. The
// two arcs below, one up and one down, have the same sum before the mixer: a search over the differences of
// weight bits finds such pairs in seconds, this one for graphs of 62,791 nodes.
std::vector<ForgedArc> forged_pair() {
  constexpr std::uint32_t kOne = std::bit_cast<std::uint32_t>(1.0F), kDifference = 128'081'027;
  const auto sum = [](std::uint64_t a, std::uint64_t b, std::uint32_t bits) {
    return (a << 32 | b) + bits * std::uint64_t{0x9E3779B97F4A7C15};
  };
  EXPECT_EQ(sum(30'158, 62'790, kOne + kDifference), sum(0, 5, kOne));
  return {{30'158, 62'790, std::bit_cast<Weight>(kOne + kDifference)}, {5, 0, 1}};
}
constexpr NodeId kForgedNodes = 62'791;

TEST(BothWays, a_forged_copse_file_is_refused) {
  std::vector<ForgedArc> arcs = forged_pair();
  std::swap(arcs[0], arcs[1]);  // by row
  Buffer<EdgeIndex> offsets(kForgedNodes + 1);
  Buffer<NodeId> neighbors(2);
  Buffer<Weight> weights(2);
  for (std::size_t i = 0; i < 2; ++i) {
    neighbors[i] = arcs[i].to;
    weights[i] = arcs[i].weight;
    for (std::size_t u = arcs[i].from + std::size_t{1}; u <= kForgedNodes; ++u) ++offsets[u];
  }
  const oracle::TemporaryDirectory directory;
  write_copse(directory.file("g.copse"),
              {Graph(std::move(offsets), std::move(neighbors), std::move(weights)),
               NodeNames::numbered(kForgedNodes, 0)},
              {});
  ByteSource source = ByteSource::open(directory.file("g.copse"));
  try {
    open_copse(source, {});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem(), "an edge stands in one row only, or with two weights");
  }
}

// The rows would get room for half the edges.
TEST(BothWays, a_forged_list_keeps_all_its_edges) {
  std::vector<EdgeChunk> chunks(1);
  oracle::EdgeMap wanted;
  for (const ForgedArc& arc : forged_pair()) {
    chunks[0].u.push_back(arc.from);
    chunks[0].v.push_back(arc.to);
    chunks[0].weight.push_back(arc.weight);
    wanted[std::minmax(arc.from, arc.to)] = arc.weight;
  }
  BuildReport report;
  const Graph graph = build_graph(std::move(chunks), kForgedNodes, {}, {}, "list", &report);
  EXPECT_FALSE(report.listed_both_ways);
  EXPECT_EQ(oracle::edges_of(graph), wanted);
}

TEST(BothWays, a_forged_metis_file_is_refused) {
  std::string text = std::to_string(kForgedNodes) + " 1 001\n";
  const std::vector<ForgedArc> arcs = forged_pair();
  for (NodeId u = 0; u < kForgedNodes; ++u) {
    for (const ForgedArc& arc : arcs)
      if (arc.from == u) text += std::to_string(arc.to + 1) + " " + std::to_string(arc.weight);
    text += "\n";
  }
  ByteSource source = ByteSource::from_memory("g.graph", text);
  EXPECT_THROW(read_metis(source, {}, {}), InputError);
}

using Arcs = std::vector<std::array<std::uint32_t, 3>>;  // from, to, weight bits

bool agree(const Arcs& arcs, std::size_t cut) {
  BothWays first, second;
  for (std::size_t i = 0; i < arcs.size(); ++i)
    (i < cut ? first : second).add(arcs[i][0], arcs[i][1], arcs[i][2]);
  first.add(second);
  return first.agree();
}

TEST(BothWays, the_same_arcs_both_ways_agree_in_any_order_and_parts) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Arcs arcs;
    for (std::uint64_t i = random() % 50; i > 0; --i) {
      const auto any = [&] { return static_cast<std::uint32_t>(random() >> random() % 64); };
      const std::uint32_t u = any(), v = any(), bits = any();
      if (u == v) continue;
      for (std::uint64_t times = 1 + random() % 3; times > 0; --times) {
        arcs.push_back({u, v, bits});
        arcs.push_back({v, u, bits});
      }
    }
    std::shuffle(arcs.begin(), arcs.end(), random);
    EXPECT_TRUE(agree(arcs, arcs.size() / 3));
    if (arcs.empty()) continue;
    for (const std::uint32_t bit : {1U, 1U << 31}) {
      for (std::size_t part = 0; part < 3; ++part) {
        Arcs other = arcs;
        other[0][part] ^= bit;
        if (other[0][0] == other[0][1]) continue;
        EXPECT_FALSE(agree(other, arcs.size() / 3));
      }
    }
    arcs.pop_back();
    EXPECT_FALSE(agree(arcs, 0));
  }
}

// Any sum of hashes that are linear in a part of the arc is 0 for these, whatever its key.
TEST(BothWays, four_arcs_of_which_every_linear_sum_is_0_do_not_agree) {
  EXPECT_FALSE(agree({{0, 9, 10}, {0, 9, 40}, {9, 0, 20}, {9, 0, 30}}, 2));
  EXPECT_FALSE(agree({{1, 9, 5}, {4, 9, 5}, {9, 2, 5}, {9, 3, 5}}, 2));
  EXPECT_FALSE(agree({{1, 8, 5}, {2, 9, 5}, {8, 2, 5}, {9, 1, 5}}, 2));
}

}  // namespace
}  // namespace copse
