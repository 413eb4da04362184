// SPDX-License-Identifier: Apache-2.0
// Rows that were made to look as if every edge stood in both of its own.

#include "graph/check_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "graph/mirror_words.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

struct Arc {
  NodeId from, to;
  Weight weight = 1;
  bool is_negative = false;
  bool operator<(const Arc& other) const { return from != other.from ? from < other.from : to < other.to; }
};

// Of arcs in any order, without two of the same ends.
RowCheck check_arcs(NodeId num_nodes, std::vector<Arc> arcs, bool is_weighted, bool is_signed,
                    int threads = 1) {
  std::sort(arcs.begin(), arcs.end());
  std::vector<EdgeIndex> offsets(num_nodes + std::size_t{1});
  std::vector<NodeId> neighbors;
  std::vector<Weight> weights;
  std::vector<std::uint64_t> negative(is_signed ? num_sign_words(arcs.size()) : 0);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    for (std::size_t u = arcs[i].from + std::size_t{1}; u <= num_nodes; ++u) ++offsets[u];
    neighbors.push_back(arcs[i].to);
    if (is_weighted) weights.push_back(arcs[i].weight);
    if (is_signed && arcs[i].is_negative) negative[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return check_rows({offsets, neighbors, weights, negative}, threads);
}

// By ciphers where the processor has them, and by words.
class Mirrors : public testing::TestWithParam<std::size_t> {
  const NarrowRegisters narrow_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Registers, Mirrors, testing::Values(16, 64));

TEST_P(Mirrors, tell_whether_every_edge_stands_in_both_rows_alike) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const auto num_nodes = static_cast<NodeId>(2 + random() % 70);
    const bool is_weighted = random() % 2 == 0, is_signed = random() % 2 == 0;
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (std::uint64_t i = 1 + random() % 60; i > 0; --i) {
      const auto u = static_cast<NodeId>(random() % num_nodes), v = static_cast<NodeId>(random() % num_nodes);
      if (u != v) pairs.insert(std::minmax(u, v));
    }
    std::vector<Arc> arcs;
    for (const auto& [u, v] : pairs) {
      const Arc arc{u, v, static_cast<Weight>(1 + random() % 9), random() % 2 == 0};
      arcs.push_back(arc);
      arcs.push_back({v, u, arc.weight, arc.is_negative});
    }
    const auto is_symmetric = [&] {
      return check_arcs(num_nodes, arcs, is_weighted, is_signed, 3).is_symmetric;
    };
    ASSERT_TRUE(is_symmetric());
    if (arcs.empty()) continue;
    Arc& some = arcs[random() % arcs.size()];
    const Arc before = some;
    some.weight = std::nextafter(some.weight, 100.0F);
    EXPECT_EQ(is_symmetric(), !is_weighted);
    some = before;
    some.is_negative = !some.is_negative;
    EXPECT_EQ(is_symmetric(), !is_signed);
    some = before;
    arcs.erase(arcs.begin() + static_cast<std::ptrdiff_t>(random() % arcs.size()));
    EXPECT_FALSE(is_symmetric());
  }
}

// Any sum of hashes that are linear in a part of the arc is 0 for these, whatever its key.
TEST_P(Mirrors, are_not_deceived_by_four_arcs_of_which_every_linear_sum_is_0) {
  EXPECT_FALSE(check_arcs(10, {{1, 9}, {4, 9}, {9, 2}, {9, 3}}, false, false).is_symmetric);
  EXPECT_FALSE(check_arcs(10, {{1, 8}, {2, 9}, {8, 2}, {9, 1}}, false, false).is_symmetric);
  EXPECT_FALSE(check_arcs(300, {{0, 256}, {1, 257}, {256, 1}, {257, 0}}, false, false).is_symmetric);
  EXPECT_FALSE(check_arcs(10, {{0, 9, 10}, {1, 8, 40}, {9, 0, 40}, {8, 1, 10}}, true, false).is_symmetric);
}

// Rows longer and shorter than the pieces that they are looked at in, empty ones between them, and ends that
// no register is full of; one arc is made wrong.
TEST_P(Mirrors, name_the_first_row_that_a_plain_scan_finds_wrong) {
  std::mt19937_64 random(7);
  constexpr NodeId kNodes = 9000;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    std::set<std::pair<NodeId, NodeId>> pairs;
    const auto hub = static_cast<NodeId>(random() % kNodes);
    for (NodeId v = 0; v < kNodes; v += static_cast<NodeId>(1 + random() % 3))
      if (v != hub && random() % 2 == 0) pairs.insert(std::minmax(hub, v));
    for (std::uint64_t i = random() % 70'000; i > 0; --i) {
      const auto u = static_cast<NodeId>(random() % kNodes), v = static_cast<NodeId>(random() % kNodes);
      if (u / 100 % 3 != 0 && v / 100 % 3 != 0 && u != v) pairs.insert(std::minmax(u, v));
    }
    std::vector<std::pair<NodeId, NodeId>> arcs;
    for (const auto& [u, v] : pairs) arcs.insert(arcs.end(), {{u, v}, {v, u}});
    std::sort(arcs.begin(), arcs.end());
    std::vector<EdgeIndex> offsets(kNodes + std::size_t{1});
    std::vector<NodeId> neighbors;
    std::vector<Weight> weights;
    for (const auto& [u, v] : arcs) {
      ++offsets[u + std::size_t{1}];
      neighbors.push_back(v);
      weights.push_back(static_cast<Weight>(u + v + 1));
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    const bool is_weighted = round % 2 == 0;
    const auto check = [&] {
      return check_rows({offsets,
                         neighbors,
                         is_weighted ? std::span<const Weight>(weights) : std::span<const Weight>(),
                         {}},
                        2);
    };
    ASSERT_EQ(check().bad_row, kNoNode);
    ASSERT_TRUE(check().is_symmetric);
    const std::size_t some = random() % arcs.size();
    switch (random() % 4) {
      case 0:
        neighbors[some] = static_cast<NodeId>(random() % kNodes);
        break;
      case 1:
        neighbors[some] = kNodes + static_cast<NodeId>(random() % 2) * 0x80000000U;
        break;
      case 2:
        weights[some] = random() % 2 == 0 ? 0.0F : -1.0F;
        break;
      default:
        neighbors[some] = arcs[some].first;
    }
    NodeId bad = kNoNode;
    bool is_same = true;
    for (std::size_t i = 0; i < arcs.size() && bad == kNoNode; ++i) {
      const NodeId u = arcs[i].first;
      if (neighbors[i] >= kNodes || neighbors[i] == u ||
          (i > offsets[u] && neighbors[i] <= neighbors[i - 1]) || (is_weighted && !(weights[i] > 0)))
        bad = u;
      is_same = is_same && neighbors[i] == arcs[i].second;
    }
    EXPECT_EQ(check().bad_row, bad);
    if (bad == kNoNode) {
      EXPECT_EQ(check().is_symmetric, is_same);
    }
  }
}

TEST(MirrorWords, are_asked_for_no_word_that_is_not_there) {
  for (const NodeId num_nodes : {1U, 2U, 3U, 255U, 256U, 257U, 70'000U, NodeId{kNoNode}}) {
    const MirrorWords words(num_nodes, true);
    for (const NodeId node : {0U, 1U, num_nodes - 1, 0x7FFFFFFFU, 0xFFFFFFFFU})
      EXPECT_NE(words.end(node, false), words.end(node, true));
    EXPECT_NE(words.bits(0), words.bits(0xFFFFFFFFU));
  }
  EXPECT_EQ(check_arcs(3, {{0, 1}, {1, 0xFFFFFFFFU}, {1, 2}, {2, 1}}, false, false).bad_row, 1U);
}

}  // namespace
}  // namespace copse
