// SPDX-License-Identifier: Apache-2.0
#include "graph/edge_collector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "graph/arc_lists.hpp"
#include "graph/sort_rows.hpp"
#include "io/formats.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

struct Read {
  std::vector<EdgeIndex> offsets;
  std::vector<NodeId> neighbors;
  std::vector<Weight> weights;
  std::vector<std::string> names;
  std::uint64_t listed, loops, zeros, merged;
  bool both_ways;
  bool operator==(const Read&) const = default;
};

Read collect(const std::string& text, EdgeListKeeps keeps, const EdgeListCut& cut, int threads,
             Duplicates policy) {
  ByteSource source = ByteSource::from_memory("edges.tsv", text);
  const Execution execution{.threads = threads};
  ParsedEdges parsed = read_edge_list(source, {}, execution, cut, keeps);
  BuildReport report;
  const Graph built = build_graph(parsed, {policy}, execution, "edges.tsv", &report);
  check_graph(built, "built");
  const GraphView graph = built;
  Read result{{graph.offsets.begin(), graph.offsets.end()},
              {graph.neighbors.begin(), graph.neighbors.end()},
              {graph.weights.begin(), graph.weights.end()},
              {},
              report.num_listed,
              report.num_self_loops,
              report.num_zero_weights,
              report.num_merged,
              report.listed_both_ways};
  for (NodeId u = 0; u < graph.num_nodes(); ++u) result.names.push_back(parsed.names.name(u));
  return result;
}

// Ids of one of several kinds: dense, with gaps, thin, far from 0, beyond 32 bits, or with words among them.
std::string random_id(std::uint64_t kind, Stream& stream) {
  switch (kind) {
    case 0:
      return std::to_string(stream.below(40));
    case 1:
      return std::to_string(3 * stream.below(40));
    case 2:
      return std::to_string(100'000 * stream.below(40));
    case 3:
      return std::to_string(4'000'000'000 + stream.below(60));
    case 4:
      return std::to_string(50'000'000'000 + stream.below(60));
    default:
      return stream.below(100) == 0 ? "word" : std::to_string(stream.below(50));
  }
}

std::string random_text(std::uint64_t seed) {
  Stream stream(seed, Purpose::test, 0);
  const std::uint64_t kind = seed % 6, shape = seed / 6 % 3;  // as it comes, from the smaller end, both ways
  const bool has_weights = seed / 18 % 2 == 0;
  const std::string separator(1, "\t, ;"[seed / 2 % 4]);
  const auto line_end = [&] {  // now and then of another system, or something to skip
    const std::uint64_t which = stream.below(30);
    return which == 0 ? "\r\n" : which == 1 ? "\n# 1 2\n" : which == 2 ? "\n\n" : "\n";
  };
  std::string text;
  const std::uint64_t count = 1 + stream.below(400);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string u = random_id(kind, stream), v = random_id(kind, stream);
    if (shape == 1 && u.size() == v.size() && u > v) std::swap(u, v);
    const std::string weight =
        has_weights ? separator + std::to_string(stream.below(4)) + (i % 3 == 0 ? ".25" : "") : "";
    text += u + separator + v + weight + line_end();
    if (shape == 2) text += v + separator + u + weight + line_end();
  }
  return text;
}

// Lines that stand alone go the careful way, others the fast one.
TEST(EdgeCollector, gives_the_graph_that_keeping_the_list_gives) {
  const EdgeListCut cuts[] = {{}, {.piece = 1, .block = 1}, {.piece = 90, .block = 700}};
  for (std::uint64_t seed = 0; seed < 72; ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = random_text(seed);
    const Duplicates policy = seed % 2 == 0 ? Duplicates::sum : Duplicates::max;
    const Read expected = collect(text, EdgeListKeeps::list, {}, 1, policy);
    for (const EdgeListCut& cut : cuts)
      for (const int threads : {1, 3})
        EXPECT_EQ(collect(text, EdgeListKeeps::buckets, cut, threads, policy), expected);
  }
}

TEST(EdgeCollector, buckets_that_turn_out_too_narrow_are_joined) {
  // Ids grow along the list, so that the first block says little of the rest.
  Stream stream(3, Purpose::test, 1);
  std::string text;
  for (std::uint64_t i = 0; i < 150'000; ++i)
    text += std::to_string(i / 2) + " " + std::to_string(stream.below(1 + i / 2)) + "\n";
  const EdgeListCut cut{.piece = 30'000, .block = 100'000};
  const Read expected = collect(text, EdgeListKeeps::list, {}, 1, Duplicates::sum);
  EXPECT_EQ(collect(text, EdgeListKeeps::buckets, cut, 1, Duplicates::sum), expected);
  EXPECT_EQ(collect(text, EdgeListKeeps::buckets, cut, 4, Duplicates::sum), expected);
}

TEST(EdgeCollector, long_rows_are_sorted_and_merged_as_short_ones) {
  Stream stream(4, Purpose::test, 2);
  std::string text;
  for (std::uint64_t i = 0; i < 120'000; ++i)
    text += std::to_string(stream.below(300)) + "," +
            std::to_string(stream.below(i % 7 == 0 ? 100'000 : 900)) + "," +
            std::to_string(1 + stream.below(5)) + ".25\n";
  for (const Duplicates policy : {Duplicates::sum, Duplicates::min, Duplicates::max}) {
    const Read expected = collect(text, EdgeListKeeps::list, {}, 1, policy);
    EXPECT_EQ(collect(text, EdgeListKeeps::buckets, {.piece = 50'000, .block = 400'000}, 2, policy),
              expected);
  }
}

TEST(EdgeCollector, ids_at_the_ends_of_the_range_are_read) {
  for (const std::string text :
       {"5666 2929339992\n", "0 4294967294\n", "0 4294967295\n", "4294967294 4294967293\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(collect(text, EdgeListKeeps::buckets, {}, 1, Duplicates::sum),
              collect(text, EdgeListKeeps::list, {}, 1, Duplicates::sum));
  }
}

TEST(EdgeCollector, a_wrong_line_is_named_in_either_way_of_reading) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "\t" + std::to_string(i + 1) + "\n";
  text += "1\t2\t3\t4\n";
  for (const std::string start : {"", "word\tother\n"})
    for (const EdgeListKeeps keeps : {EdgeListKeeps::list, EdgeListKeeps::buckets}) {
      const std::string all = text + (start.empty() ? "" : start);
      try {
        collect(all, keeps, {.piece = 400, .block = 3000}, 2, Duplicates::sum);
        FAIL() << "read";
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("edges.tsv:5001"), std::string::npos) << error.what();
      }
    }
}

template <class Arc>
std::vector<std::uint64_t> contents(const ArcLists<Arc>& lists, std::size_t list) {
  std::vector<std::uint64_t> all;
  lists.visit(list, [&](std::span<Arc> arcs) {
    for (const Arc& a : arcs) all.push_back(std::uint64_t{a.row} << 32 | a.neighbor);
  });
  return all;
}

template <class Arc>
void play_with_lists(std::uint64_t seed) {
  Stream stream(seed, Purpose::test, 3);
  BlockPool pool;
  std::size_t count = 16;
  ArcLists<Arc> lists(pool, count);
  std::vector<std::vector<std::uint64_t>> twin(count);
  std::uint32_t next = 0;
  for (int round = 0; round < 60; ++round) {
    const std::size_t list = stream.below(count);
    if (stream.below(9) == 0) {
      lists.clear(list);
      twin[list].clear();
    } else if (round == 20 || round == 40) {
      lists.join_pairs();
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::uint64_t> both;
        if (2 * i < count) both = twin[2 * i];
        if (2 * i + 1 < count) both.insert(both.end(), twin[2 * i + 1].begin(), twin[2 * i + 1].end());
        twin[i] = both;
      }
    } else {
      // Sizes around those of whole blocks.
      const std::uint64_t more = stream.below(3) * ArcLists<Arc>::kPerBlock + stream.below(5);
      auto cursor = lists.append(list, more);
      for (std::uint64_t i = 0; i < more; ++i, ++next) {
        Arc arc{};
        arc.row = static_cast<NodeId>(list);
        arc.neighbor = next;
        ArcLists<Arc>::put(cursor, arc);
        twin[list].push_back(std::uint64_t{arc.row} << 32 | arc.neighbor);
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::uint64_t> found = contents(lists, i);
    EXPECT_EQ(lists.size(i), found.size());
    std::sort(found.begin(), found.end());  // joined lists come in no order
    std::sort(twin[i].begin(), twin[i].end());
    EXPECT_EQ(found, twin[i]);
  }
}

TEST(ArcLists, hold_what_vectors_hold) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    play_with_lists<PlainArc>(seed);
    play_with_lists<WeightedArc>(seed);
  }
}

template <class Key>
void sort_rows_of_every_length(unsigned bits) {
  Stream stream(bits, Purpose::test, 4);
  constexpr unsigned kBelow = std::numeric_limits<Key>::digits - 32;
  std::vector<Key> keys, expected;
  std::vector<std::uint64_t> ends;
  for (std::size_t size = 0; size < 200; ++size)
    for (const std::uint64_t range : {std::uint64_t{5}, std::uint64_t{1} << bits}) {
      for (std::size_t i = 0; i < size; ++i) {
        keys.push_back(static_cast<Key>(static_cast<Key>(stream.below(range)) << kBelow));
        if (kBelow != 0) keys.back() |= static_cast<Key>(stream.below(3));
      }
      ends.push_back(keys.size());
      expected = keys;
    }
  for (std::size_t row = 0; row < ends.size(); ++row)
    std::sort(expected.begin() + (row == 0 ? 0 : static_cast<std::ptrdiff_t>(ends[row - 1])),
              expected.begin() + static_cast<std::ptrdiff_t>(ends[row]));
  keys.resize(keys.size() + RowSorter<Key>::kBehind);
  for (const std::size_t bytes : {16, 32, 64}) {
    const NarrowRegisters narrow(bytes);
    std::vector<Key> sorted = keys;
    RowSorter<Key>(bits).sort(sorted.data(), ends);
    sorted.resize(expected.size());
    EXPECT_EQ(sorted, expected) << bytes;
  }
}

TEST(RowSorter, sorts_rows_of_every_length_with_and_without_equal_keys) {
  for (const unsigned bits : {3u, 8u, 9u, 20u, 31u, 32u}) {
    sort_rows_of_every_length<std::uint32_t>(bits);
    sort_rows_of_every_length<std::uint64_t>(bits);
  }
}

}  // namespace
}  // namespace copse
