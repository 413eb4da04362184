// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <limits>

#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "io/formats.hpp"
#include "oracle/graphs.hpp"
#include "oracle/temporary_directory.hpp"
#include "support/simd.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse {
namespace {

using oracle::contents;
using oracle::edges_of;
using oracle::put;
using oracle::TemporaryDirectory;

NodeNames names_of(const std::vector<std::string>& list) {
  struct Owner {
    std::vector<std::uint64_t> ends;
    std::string text;
  };
  auto owner = std::make_shared<Owner>();
  for (const std::string& name : list) {
    owner->text += name;
    owner->ends.push_back(owner->text.size());
  }
  return NodeNames::strings(owner->ends, owner->text, owner);
}

NamedGraph named_sample() {
  return {graph_from_edges(5, {{0, 1, 0.5}, {1, 2, 2}, {0, 3, 3}}),
          names_of({"alice", "bob", "", "d d", "eve"})};
}

std::string bytes_of(const NamedGraph& graph) {
  const TemporaryDirectory directory;
  write_copse(directory.file("g.copse"), graph, {});
  return contents(directory.file("g.copse"));
}

// The graph uses the bytes in place, so they are kept for as long as the tests run.
NamedGraph open(const std::string& bytes, int threads = 1) {
  static std::deque<std::string> kept;
  ByteSource source = ByteSource::from_memory("g.copse", kept.emplace_back(bytes));
  Execution execution;
  execution.threads = threads;
  return open_copse(source, execution);
}

std::string error_of(const std::string& bytes) {
  try {
    open(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// The layout of the comment in copse_file.cpp, written down a second time.
template <class T>
T get(const std::string& bytes, std::size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}
template <class T>
void set(std::string& bytes, std::size_t position, T value) {
  std::memcpy(bytes.data() + position, &value, sizeof value);
}
std::uint64_t section_position(const std::string& bytes, int section) {
  return get<std::uint64_t>(bytes, 64 + 24 * section);
}
std::uint64_t section_length(const std::string& bytes, int section) {
  return get<std::uint64_t>(bytes, 72 + 24 * section);
}

constexpr std::uint64_t kBlock = std::uint64_t{4} << 20;

// Makes the checksums right again: what a crafted file, or a wrong writer, would have.
void seal(std::string& bytes) {
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t length = section_length(bytes, i);
    if (length > bytes.size() || section_position(bytes, i) + length > bytes.size()) continue;
    std::vector<std::uint64_t> blocks;
    for (std::uint64_t begin = 0; begin < length; begin += kBlock)
      blocks.push_back(
          XXH3_64bits(bytes.data() + section_position(bytes, i) + begin, std::min(kBlock, length - begin)));
    set(bytes, 80 + 24 * i, XXH3_64bits(blocks.data(), blocks.size() * sizeof(std::uint64_t)));
  }
  set(bytes, 184, XXH3_64bits(bytes.data(), 184));
}

TEST(CopseFile, gives_back_graph_and_names) {
  const TemporaryDirectory directory;
  const NamedGraph graph = named_sample();
  write_copse(directory.file("g.copse"), graph, {});
  ReadReport report;
  const NamedGraph back = read_graph(directory.file("g.copse"), {}, {}, &report);
  EXPECT_EQ(report.format, GraphFormat::copse);
  EXPECT_EQ(edges_of(back.graph), edges_of(graph.graph));
  ASSERT_EQ(back.graph.num_nodes(), 5u);
  for (NodeId u = 0; u < 5; ++u) EXPECT_EQ(back.names.name(u), graph.names.name(u));
  EXPECT_EQ(back.names.find("eve"), 4u);
}

TEST(CopseFile, keeps_numbers_as_names_and_needs_no_weights) {
  const NamedGraph graph{graph_from_pairs(4, {{0, 1}, {1, 2}}), NodeNames::numbered(4, 1000)};
  const NamedGraph back = open(bytes_of(graph));
  EXPECT_FALSE(back.graph.view().is_weighted());
  EXPECT_EQ(edges_of(back.graph), edges_of(graph.graph));
  EXPECT_TRUE(back.names.is_numbered());
  EXPECT_EQ(back.names.name(3), "1003");
}

TEST(CopseFile, graphs_without_edges_or_nodes_are_graphs) {
  EXPECT_EQ(open(bytes_of({graph_from_edges(3, {}), NodeNames::numbered(3)})).graph.num_nodes(), 3u);
  EXPECT_EQ(open(bytes_of({Graph(), NodeNames()})).graph.num_nodes(), 0u);
}

TEST(CopseFile, gives_back_random_graphs_bit_by_bit_on_any_number_of_threads) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = 500, .num_edges = 3000, .seed = seed, .weighted = seed % 2 == 0});
    const std::string bytes = bytes_of({graph, NodeNames::numbered(500)});
    for (const int threads : {1, 2}) {
      const NamedGraph back = open(bytes, threads);
      EXPECT_TRUE(std::ranges::equal(back.graph.view().offsets, graph.view().offsets));
      EXPECT_TRUE(std::ranges::equal(back.graph.view().neighbors, graph.view().neighbors));
      EXPECT_TRUE(std::ranges::equal(back.graph.view().weights, graph.view().weights));
    }
    EXPECT_EQ(bytes, bytes_of(open(bytes)));
  }
}

// Two eigenvalues, then two numbers of each of five nodes.
std::vector<double> some_embedding() {
  std::vector<double> values{0.9, -0.5};
  std::vector<float> rows(10, 0.25F);
  rows[7] = -1;
  values.resize(7);
  std::memcpy(&values[2], rows.data(), rows.size() * sizeof(float));
  return values;
}

std::string bytes_with(const std::vector<double>& values) {
  const KeptEmbedding kept{
      7, 2, 8, 10, 1.5, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)}};
  const NamedGraph graph = named_sample();
  GraphView view = graph.graph;
  view.embedding = &kept;
  return bytes_of({Graph(view, nullptr), graph.names});
}

TEST(CopseFile, keeps_an_embedding_and_what_it_was_made_with) {
  const std::string bytes = bytes_with(some_embedding());
  EXPECT_EQ(get<std::uint32_t>(bytes, 8), 3u);
  const NamedGraph back = open(bytes);
  EXPECT_EQ(edges_of(back.graph), edges_of(named_sample().graph));
  ASSERT_NE(back.graph.view().embedding, nullptr);
  const KeptEmbedding& kept = *back.graph.view().embedding;
  EXPECT_EQ(std::tuple(kept.seed, kept.dimension, kept.power, kept.oversample, kept.tau),
            std::tuple(7u, 2u, 8u, 10u, 1.5));
  EXPECT_EQ(kept.eigenvalues()[1], -0.5);
  ASSERT_EQ(kept.rows().size(), 10u);
  EXPECT_EQ(kept.rows()[7], -1.0F);
  EXPECT_EQ(bytes, bytes_of(back));
}

TEST(CopseFile, no_bit_of_a_kept_embedding_changes_unseen) {
  const std::string bytes = bytes_with(some_embedding());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_NE(error_of(damaged), "no error") << i;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(error_of(bytes.substr(0, length)), "no error") << length;
  std::vector<double> broken = some_embedding();
  broken[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error_of(bytes_with(broken)).find("the embedding holds what is no number"), std::string::npos);
}

TEST(CopseFile, opening_a_file_uses_it_in_place) {
  const std::string bytes = bytes_of(named_sample());
  std::vector<std::uint64_t> aligned(bytes.size() / 8 + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const std::span<const char> span(reinterpret_cast<const char*>(aligned.data()), bytes.size());
  ByteSource source = ByteSource::from_memory("g.copse", span);
  const NamedGraph graph = open_copse(source, {});
  EXPECT_EQ(reinterpret_cast<const char*>(graph.graph.view().neighbors.data()),
            span.data() + section_position(bytes, 1));
  EXPECT_EQ(graph.names.text().data(), span.data() + section_position(bytes, 4));
}

TEST(CopseFile, bytes_that_are_not_aligned_are_copied) {
  const std::string bytes = bytes_of(named_sample());
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string shifted = std::string(shift, 'x') + bytes;
    ByteSource source = ByteSource::from_memory("g.copse", std::span(shifted).subspan(shift));
    EXPECT_EQ(edges_of(open_copse(source, {}).graph), edges_of(named_sample().graph));
  }
}

TEST(CopseFile, has_the_layout_that_its_comment_promises) {
  const std::string bytes = bytes_of(named_sample());
  EXPECT_EQ(bytes.substr(0, 8),
            "\x89"
            "copse\r\n");
  EXPECT_EQ(get<std::uint32_t>(bytes, 8), 1u);
  EXPECT_EQ(get<std::uint32_t>(bytes, 12), 0x01020304u);
  EXPECT_EQ(bytes.substr(16, 4), std::string("\x08\x04\x04\x00", 4));
  EXPECT_EQ(get<std::uint32_t>(bytes, 20), 1u);
  EXPECT_EQ(get<std::uint64_t>(bytes, 24), 5u);
  EXPECT_EQ(get<std::uint64_t>(bytes, 32), 6u);
  EXPECT_EQ(get<std::uint64_t>(bytes, 48), bytes.size());
  EXPECT_EQ(section_position(bytes, 0), 192u);
  const std::uint64_t lengths[5] = {48, 24, 24, 40, 14};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(section_position(bytes, i) % 64, 0u);
    EXPECT_EQ(section_length(bytes, i), lengths[i]);
  }
  std::string sealed = bytes;
  seal(sealed);
  EXPECT_EQ(sealed, bytes) << "the checksums are those of the comment";
}

TEST(CopseFile, no_byte_can_change_unseen) {
  for (const NamedGraph& graph :
       {named_sample(), NamedGraph{graph_from_pairs(9, {{0, 1}, {1, 2}}), NodeNames::numbered(9, 1)}}) {
    const std::string bytes = bytes_of(graph);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int bit : {0, 3, 7}) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        EXPECT_NE(error_of(flipped), "no error") << "byte " << i << " bit " << bit;
      }
    }
  }
}

TEST(CopseFile, no_length_but_the_whole_one_is_accepted) {
  const std::string bytes = bytes_of(named_sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error_of(bytes.substr(0, size)), "no error") << size;
  }
  const std::string size = std::to_string(bytes.size());
  EXPECT_EQ(error_of(bytes.substr(0, 300)),
            "g.copse: has 300 bytes, its header says " + size +
                "\n  the file is cut short: copy it again, or convert it again from its source");
  EXPECT_EQ(error_of(bytes.substr(0, 100)),
            "g.copse: ends in its header\n  the file is cut short: copy it again, or convert it again from "
            "its source");
  EXPECT_EQ(error_of(bytes + "\n"),
            "g.copse: has " + std::to_string(bytes.size() + 1) + " bytes, its header says " + size +
                "\n  something was added behind the end: copy it again, or convert it again from its source");
  EXPECT_EQ(error_of(""),
            "g.copse: is not a .copse file\n  make one with copse graph convert, or give another --format");
}

TEST(CopseFile, damage_in_each_part_is_told_apart) {
  const std::string bytes = bytes_of(named_sample());
  const std::string remedy = "\n  the file is damaged: copy it again, or convert it again from its source";
  const char* names[5] = {"offsets", "neighbors", "weights", "name ends", "name text"};
  for (int i = 0; i < 5; ++i) {
    std::string flipped = bytes;
    flipped[section_position(bytes, i) + section_length(bytes, i) / 2] ^= 4;
    EXPECT_EQ(error_of(flipped),
              std::string("g.copse: the ") + names[i] + " do not match their checksum" + remedy);
  }
  std::string header = bytes, gap = bytes, order = bytes;
  header[33] ^= 1;
  EXPECT_EQ(error_of(header), "g.copse: the header does not match its checksum" + remedy);
  gap[section_position(bytes, 1) - 1] ^= 1;
  EXPECT_EQ(error_of(gap), "g.copse: has bytes between its sections" + remedy);
  order[13] ^= 1;
  EXPECT_EQ(error_of(order), "g.copse: has a damaged header" + remedy);
}

TEST(CopseFile, other_versions_and_other_machines_are_told_with_what_to_do) {
  std::string newer = bytes_of(named_sample()), older = newer, swapped = newer, sizes = newer;
  set<std::uint32_t>(newer, 8, 4);
  EXPECT_EQ(error_of(newer),
            "g.copse: has format version 4, this copse reads versions 1 to 3\n"
            "  written by a newer copse: upgrade, or convert it again with this one");
  set<std::uint32_t>(older, 8, 0);
  EXPECT_EQ(error_of(older),
            "g.copse: has format version 0, this copse reads versions 1 to 3\n"
            "  written by an older copse: convert it again with this one");
  set<std::uint32_t>(swapped, 12, 0x04030201);
  EXPECT_EQ(
      error_of(swapped),
      "g.copse: was written on a machine with the other byte order\n  convert it again on this machine");
  sizes[17] = 8;
  seal(sizes);
  EXPECT_EQ(error_of(sizes),
            "g.copse: holds numbers of other sizes than this copse uses\n  convert it again with this copse");
}

// Whole files with right checksums whose content breaks a promise: what a crafted file would do.
TEST(CopseFile, every_promise_is_checked_even_where_the_checksums_are_right) {
  const std::string whole = bytes_of(named_sample());
  const std::uint64_t offsets = section_position(whole, 0), neighbors = section_position(whole, 1),
                      weights = section_position(whole, 2), ends = section_position(whole, 3),
                      text = section_position(whole, 4);
  struct Craft {
    std::string problem;
    std::function<void(std::string&)> change;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  // Rows of the sample: 0: 1 3, 1: 0 2, 2: 1, 3: 0, 4: none.
  const Craft crafts[] = {
      {"the header makes no sense: unknown flags", [](std::string& b) { b[20] |= 4; }},
      {"the header makes no sense: unknown flags", [](std::string& b) { b[56] = 1; }},
      {"the header makes no sense: more nodes or arcs than there can be",
       [](std::string& b) { set<std::uint64_t>(b, 24, std::uint64_t{1} << 33); }},
      {"the header makes no sense: more nodes or arcs than there can be",
       [](std::string& b) { set<std::uint64_t>(b, 32, std::uint64_t{1} << 62); }},
      {"the header makes no sense: the first number", [](std::string& b) { set<std::uint64_t>(b, 40, 1); }},
      {"the header makes no sense: the section of the offsets",
       [](std::string& b) { set<std::uint64_t>(b, 24, 4000000000u); }},
      {"the header makes no sense: the section of the neighbors",
       [](std::string& b) { set<std::uint64_t>(b, 32, 8); }},
      {"the header makes no sense: the section of the weights", [](std::string& b) { b[20] = 0; }},
      {"the header makes no sense: the section of the name text",
       [](std::string& b) { set<std::uint64_t>(b, 64 + 24 * 4 + 8, ~std::uint64_t{0}); }},
      {"the header makes no sense: the section of the neighbors",
       [](std::string& b) { set<std::uint64_t>(b, 64 + 24, 200); }},
      {"the rows do not cover the arcs", [&](std::string& b) { set<std::uint64_t>(b, offsets, 1); }},
      {"the rows do not cover the arcs", [&](std::string& b) { set<std::uint64_t>(b, offsets + 40, 5); }},
      {"the row of node 1 ends before it begins",
       [&](std::string& b) { set<std::uint64_t>(b, offsets + 8, 5); }},
      {"the row of node 2 ends before it begins",
       [&](std::string& b) {
         set<std::uint64_t>(b, offsets + 8, ~std::uint64_t{0});
         set<std::uint64_t>(b, offsets + 16, ~std::uint64_t{0});
       }},
      {"the neighbours of node 2 are not in ascending order or no nodes",
       [&](std::string& b) { set<std::uint32_t>(b, neighbors + 16, 5); }},
      {"the neighbours of node 0 are not in ascending order or no nodes",
       [&](std::string& b) { set<std::uint32_t>(b, neighbors, 3); }},
      {"the neighbours of node 0 are not in ascending order or no nodes",
       [&](std::string& b) { set<std::uint32_t>(b, neighbors, 4000000000u); }},
      {"node 3 is its own neighbour", [&](std::string& b) { set<std::uint32_t>(b, neighbors + 20, 3); }},
      {"an edge stands in one row only, or with two weights",
       [&](std::string& b) { set<std::uint32_t>(b, neighbors + 20, 4); }},
      {"an edge stands in one row only, or with two weights",
       [&](std::string& b) { set<float>(b, weights, 9); }},
      {"a weight of node 0 is not finite and > 0", [&](std::string& b) { set<float>(b, weights, 0); }},
      {"a weight of node 1 is not finite and > 0", [&](std::string& b) { set<float>(b, weights + 8, -1); }},
      {"a weight of node 1 is not finite and > 0", [&](std::string& b) { set<float>(b, weights + 12, nan); }},
      {"a weight of node 2 is not finite and > 0", [&](std::string& b) { set<float>(b, weights + 16, inf); }},
      {"the names do not cover their text", [&](std::string& b) { set<std::uint64_t>(b, ends + 32, 13); }},
      {"the name of node 2 ends before it begins",
       [&](std::string& b) { set<std::uint64_t>(b, ends + 8, 13); }},
      {"a node's name holds a tab, a line end or a zero byte", [&](std::string& b) { b[text + 3] = '\t'; }},
      {"a node's name holds a tab, a line end or a zero byte", [&](std::string& b) { b[text + 3] = '\0'; }},
  };
  for (const Craft& craft : crafts) {
    std::string bytes = whole;
    craft.change(bytes);
    seal(bytes);
    EXPECT_EQ(error_of(bytes),
              "g.copse: " + craft.problem +
                  "\n  the file was not written by copse: convert it again with copse graph convert");
  }
}

// Rows go on from block to block; on registers of every size.
TEST(CopseFile, of_several_blocks_are_checked_to_the_last_one) {
  std::vector<Edge> edges;
  constexpr NodeId kNodes = 400'000;
  for (NodeId u = 0; u < kNodes; ++u)
    for (const NodeId step : {1, 7, 1000}) edges.push_back({u, (u + step) % kNodes, 1});
  for (NodeId u = 2; u < kNodes; u += 3) edges.push_back({0, u, 1});
  const std::string whole = bytes_of({graph_from_pairs(kNodes, edges), NodeNames::numbered(kNodes)});
  const std::uint64_t neighbors = section_position(whole, 1), length = section_length(whole, 1);
  ASSERT_GT(length, 2 * kBlock);
  ASSERT_NE(length % 64, 0u);
  for (const std::size_t register_bytes : {16, 32, 64}) {
    const NarrowRegisters narrow(register_bytes);
    EXPECT_EQ(error_of(whole), "no error");
    for (const std::uint64_t at : {std::uint64_t{0}, kBlock - 4, kBlock, 2 * kBlock + 65536, length - 4}) {
      std::string changed = whole;
      changed[neighbors + at] = static_cast<char>(changed[neighbors + at] ^ 1);
      EXPECT_NE(error_of(changed).find("the neighbors do not match their checksum"), std::string::npos) << at;
      seal(changed);
      EXPECT_NE(error_of(changed).find("the file was not written by copse"), std::string::npos) << at;
    }
  }
}

}  // namespace
}  // namespace copse
