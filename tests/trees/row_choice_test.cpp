// SPDX-License-Identifier: Apache-2.0
#include "trees/row_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "copse/support/random.hpp"
#include "trees/arc_sampler.hpp"
#include "trees/arrow_bits.hpp"

namespace copse {
namespace {

/// Weights of very different sizes, and behind them what must not count.
std::vector<Weight> some_row(std::uint32_t size, Stream& stream) {
  std::vector<Weight> row(RowChoice::num_read(size), std::numeric_limits<Weight>::infinity());
  for (std::uint32_t i = 0; i < size; ++i)
    row[i] = std::ldexp(static_cast<Weight>(1 + stream.uniform()), static_cast<int>(stream.below(40)) - 20);
  return row;
}

std::vector<std::uint64_t> some_bits(Stream& stream) {
  std::vector<std::uint64_t> bits{0, 1, std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 63};
  for (int i = 0; i < 50; ++i) bits.push_back(stream.next64());
  return bits;
}

TEST(RowChoice, takes_the_arc_at_which_the_sum_passes_the_wanted_share) {
  Stream stream(1, Purpose::test, 0);
  for (std::uint32_t size = 1; size <= RowChoice::kMost; ++size) {
    const auto row = some_row(size, stream);
    long double total = 0;
    for (std::uint32_t i = 0; i < size; ++i) total += row[i];
    for (const std::uint64_t bits : some_bits(stream)) {
      std::uint32_t place = 0;
      RowChoice::best().in_row(row.data(), size, &bits, 1, &place);
      ASSERT_LT(place, size);
      long double before = 0;
      for (std::uint32_t i = 0; i < place; ++i) before += row[i];
      const long double wanted = RowChoice::uniform(bits) * total, rounding = total * 0x1p-48L;
      EXPECT_LE(before, wanted + rounding);
      EXPECT_GE(before + row[place], wanted - rounding);
    }
  }
}

TEST(RowChoice, gives_the_same_places_on_every_processor) {
  if (&RowChoice::best() == &RowChoice::kAnyProcessor) GTEST_SKIP() << "no wide registers here";
  Stream stream(2, Purpose::test, 0);
  for (int game = 0; game < 2000; ++game) {
    const auto size = static_cast<std::uint32_t>(1 + stream.below(RowChoice::kMost));
    const auto row = some_row(size, stream);
    const auto bits = some_bits(stream);
    std::vector<std::uint32_t> best(bits.size()), plain(bits.size());
    RowChoice::best().in_row(row.data(), size, bits.data(), static_cast<std::uint32_t>(bits.size()),
                             best.data());
    RowChoice::kAnyProcessor.in_row(row.data(), size, bits.data(), static_cast<std::uint32_t>(bits.size()),
                                    plain.data());
    ASSERT_EQ(best, plain);
    const auto part_size = static_cast<std::uint32_t>(1 + stream.below(RowChoice::kMostInPart));
    const auto part = some_row(part_size, stream);
    const double before = stream.uniform();
    for (const std::uint64_t some : bits) {
      const double wanted = before + RowChoice::uniform(some) * double{part[0]} * part_size;
      ASSERT_EQ(RowChoice::best().in_part(part.data(), part_size, before, wanted),
                RowChoice::kAnyProcessor.in_part(part.data(), part_size, before, wanted));
    }
  }
}

TEST(RowChoice, many_rows_give_what_each_would_alone_but_for_empty_and_long_ones) {
  Stream stream(3, Purpose::test, 0);
  constexpr std::uint32_t kUntouched = 12345;
  for (int game = 0; game < 300; ++game) {
    const auto count = static_cast<std::uint32_t>(1 + stream.below(3));
    std::vector<EdgeIndex> offsets{0};
    const std::uint32_t special[] = {0, 1, RowChoice::kMost, RowChoice::kMost + 1, 1000};
    for (int i = 0; i < 40; ++i)
      offsets.push_back(offsets.back() +
                        (stream.below(3) == 0 ? special[stream.below(5)] : stream.below(30)));
    const auto num_rows = static_cast<std::uint32_t>(offsets.size() - 1);
    std::vector<Weight> weights(offsets.back() + RowChoice::kMost);
    for (Weight& weight : weights) weight = static_cast<Weight>(stream.uniform());
    std::vector<std::uint64_t> bits(num_rows * count);
    for (std::uint64_t& some : bits) some = stream.next64();
    std::vector<std::uint32_t> expected(bits.size(), kUntouched);
    for (std::uint32_t i = 0; i < num_rows; ++i) {
      const auto size = static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]);
      if (size == 0 || size > RowChoice::kMost) continue;
      RowChoice::kAnyProcessor.in_row(&weights[offsets[i]], size, &bits[i * count], count,
                                      &expected[i * count]);
    }
    for (const RowChoice* choice : {&RowChoice::best(), &RowChoice::kAnyProcessor}) {
      std::vector<std::uint32_t> places(bits.size(), kUntouched);
      choice->in_rows(weights.data(), offsets.data(), num_rows, bits.data(), count, places.data());
      ASSERT_EQ(places, expected);
    }
  }
}

/// Many nodes choose what each would alone.
void expect_same_together(const WeightedArcs& arcs, NodeId num_nodes, Stream& stream) {
  std::vector<Draws<2>> bits(num_nodes);
  for (Draws<2>& two : bits) two = {stream.next64(), stream.next64()};
  for (NodeId first = 0, size = 0; first < num_nodes; first += size) {
    size = static_cast<NodeId>(1 + stream.below(num_nodes - first));
    std::vector<Places<2>> together(size);
    arcs.choose<2>(first, {&bits[first], size}, together);
    for (NodeId i = 0; i < size; ++i) {
      Places<2> alone = arcs.begin_choice<2>(first + i, bits[first + i]);
      arcs.finish_choice<2>(first + i, bits[first + i], alone);
      ASSERT_EQ(together[i], alone);
    }
  }
}

// Rows at the limits of blocks, side by side: none may read the sums of another.
TEST(WeightedArcs, chooses_by_weight_in_rows_of_every_length) {
  Stream stream(4, Purpose::test, 0);
  constexpr std::uint32_t kMost = RowChoice::kMost;
  for (int game = 0; game < 30; ++game) {
    const std::uint32_t special[] = {1,         kMost - 1,     kMost,     kMost + 1, 2 * kMost - 1,
                                     2 * kMost, 2 * kMost + 1, 3 * kMost, 1000};
    std::vector<EdgeIndex> ends{0};
    for (int i = 0; i < 40; ++i)
      ends.push_back(ends.back() + (stream.below(4) == 0 ? 1 + stream.below(400) : special[stream.below(9)]));
    Buffer<EdgeIndex> offsets(ends.size());
    std::copy(ends.begin(), ends.end(), offsets.begin());
    Buffer<Weight> weights(ends.back());
    for (Weight& weight : weights) weight = static_cast<Weight>(1e-3 + stream.uniform());
    const Graph graph(std::move(offsets), Buffer<NodeId>(ends.back()), std::move(weights));
    const WeightedArcs arcs(graph);
    expect_same_together(arcs, graph.view().num_nodes(), stream);
    for (NodeId u = 0; u < graph.view().num_nodes(); ++u) {
      const std::span<const Weight> row(graph.view().weights.narrow().data() + ends[u],
                                        ends[u + 1] - ends[u]);
      long double total = 0;
      for (const Weight weight : row) total += weight;
      for (const std::uint64_t bits : some_bits(stream)) {
        Places<1> places = arcs.begin_choice<1>(u, {bits});
        arcs.finish_choice<1>(u, {bits}, places);
        ASSERT_LT(places[0], row.size());
        long double before = 0;
        for (std::uint32_t i = 0; i < places[0]; ++i) before += row[i];
        const long double wanted = RowChoice::uniform(bits) * total, rounding = total * 0x1p-44L;
        EXPECT_LE(before, wanted + rounding);
        EXPECT_GE(before + row[places[0]], wanted - rounding);
      }
    }
  }
}

TEST(RowChoice, the_bits_of_a_block_of_nodes_are_those_of_its_nodes) {
  const ArrowBits bits(0x0123456789ABCDEF, 0xFEDCBA9876543210);
  std::array<std::uint64_t, ArrowBits::kBlock> even, odd;
  for (const NodeId first : {NodeId{0}, NodeId{1'000'003}, kNoNode - ArrowBits::kBlock + 1}) {
    for (const std::uint32_t pair : {0u, 1u, 0xFFFFFFFFu}) {
      bits.of_block(first, pair, even, odd);
      for (std::uint32_t i = 0; i < ArrowBits::kBlock; ++i) {
        const std::array<std::uint64_t, 2> of_block{even[i], odd[i]};
        ASSERT_EQ(of_block, bits.of(first + i, pair));
      }
    }
  }
}

}  // namespace
}  // namespace copse
