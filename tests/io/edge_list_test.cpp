// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "io/formats.hpp"
#include "io/numbers.hpp"

namespace copse {
namespace {

ParsedEdges parse_edge_list(const std::string& text, int threads = 1, const ReadOptions& options = {},
                            const EdgeListCut& cut = {}) {
  ByteSource source = ByteSource::from_memory("edges.tsv", text);
  return read_edge_list(source, options, {.threads = threads}, cut, EdgeListKeeps::list);
}

// Ways of cutting that a test's few lines can feel.
const EdgeListCut kCuts[] = {
    {}, {.piece = 1, .block = 1}, {.piece = 60, .block = 200}, {.piece = 700, .block = 4000}};

struct TextEdge {
  std::string u, v;
  float weight;
  bool operator==(const TextEdge&) const = default;
};

// The edges of a graph, in the user's words.
using TextEdges = std::map<std::set<std::string>, double>;

TextEdges edges_of(ParsedEdges parsed) {
  const Graph graph = build_graph(parsed, {}, {}, "edges.tsv");
  TextEdges edges;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.view().offsets[u]; arc < graph.view().offsets[u + 1]; ++arc)
      edges[{parsed.names.name(u), parsed.names.name(graph.view().neighbors[arc])}] =
          graph.view().weight(arc);
  return edges;
}

// What a list of them must give, one at a time: duplicates are summed in sorted order, then rounded.
TextEdges summed(const std::vector<TextEdge>& list) {
  std::map<std::set<std::string>, std::multiset<float>> weights;
  for (const TextEdge& edge : list)
    if (edge.u != edge.v && edge.weight != 0) weights[{edge.u, edge.v}].insert(edge.weight);
  TextEdges edges;
  for (const auto& [pair, of_pair] : weights)
    edges[pair] = static_cast<float>(std::accumulate(of_pair.begin(), of_pair.end(), 0.0));
  return edges;
}

std::vector<std::string> names_of(const ParsedEdges& parsed) {
  std::vector<std::string> names;
  for (NodeId u = 0; u < parsed.names.size(); ++u) names.push_back(parsed.names.name(u));
  return names;
}

using Names = std::vector<std::string>;

TEST(EdgeList, reads_each_separator_with_and_without_weights) {
  const TextEdges expected = summed({{"1", "2", 0.5F}, {"2", "10", 3}});
  for (const std::string text : {"1\t2\t0.5\n2\t10\t3\n", "1 2 0.5\n2 10 3", "1,2,0.5\r\n2,10,3\r\n",
                                 "  1   2 0.5  \n2\t10 3\n", "1, 2, 0.5\n2 ,10 ,3\n",
                                 "\xEF\xBB\xBF"
                                 "1\t2\t0.5\n2\t10\t3",
                                 "# c\n\n% d\n1 2 .5\n\n  # e\n2 10 3.0e0\n", "1\t2\t+0.5\n2\t10\t3.\n"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(edges_of(parse_edge_list(text)), expected);
  }
  ParsedEdges plain = parse_edge_list("1 2\n2 10\n");
  EXPECT_FALSE(build_graph(plain, {}, {}, "edges.tsv").view().is_weighted());
  EXPECT_EQ(plain.num_bytes, 9u);
  EXPECT_EQ(plain.num_nodes, 3u);
}

TEST(EdgeList, integer_ids_keep_their_numeric_order_and_only_those_mentioned_are_nodes) {
  EXPECT_EQ(names_of(parse_edge_list("10 3\n7 3\n")), (Names{"3", "7", "10"}));
  const ParsedEdges run = parse_edge_list("12 11\n10 13\n");
  EXPECT_TRUE(run.names.is_numbered());
  EXPECT_EQ(run.names.first_number(), 10u);
  EXPECT_EQ(run.num_nodes, 4u);
  EXPECT_TRUE(parse_edge_list("2 1\n0 2\n").names.is_numbered());
  EXPECT_EQ(edges_of(parse_edge_list("2 1\n0 2\n")), summed({{"2", "1", 1}, {"0", "2", 1}}));
}

TEST(EdgeList, long_integers_are_ids_like_others) {
  const std::string a = "9223372036854775807", b = "9223372036854775806", c = "18446744073709551616";
  const ParsedEdges near = parse_edge_list(a + " " + b + "\n");
  EXPECT_EQ(names_of(near), (Names{b, a}));
  EXPECT_TRUE(near.names.is_numbered());
  EXPECT_EQ(names_of(parse_edge_list(a + " " + b + "\n" + c + " 5\n")), (Names{a, b, c, "5"}));
  EXPECT_EQ(names_of(parse_edge_list("1 2\n3000000000000 2\n")), (Names{"1", "2", "3000000000000"}));
  EXPECT_EQ(names_of(parse_edge_list("4294967294 4294967295\n4294967296 4294967293\n")),
            (Names{"4294967293", "4294967294", "4294967295", "4294967296"}));
  EXPECT_EQ(names_of(parse_edge_list("4294967295 0\n")), (Names{"4294967295", "0"}));
}

TEST(EdgeList, far_apart_integers_do_not_allocate_what_lies_between) {
  const std::string text = "4000000000 5\n5 17\n";
  EXPECT_EQ(names_of(parse_edge_list(text)), (Names{"4000000000", "5", "17"}));
  EXPECT_EQ(edges_of(parse_edge_list(text)), summed({{"4000000000", "5", 1}, {"5", "17", 1}}));
}

TEST(EdgeList, leading_zeros_and_signs_make_other_nodes) {
  EXPECT_EQ(names_of(parse_edge_list("7 007\n+7 -7\n07 7\n")), (Names{"7", "007", "+7", "-7", "07"}));
  EXPECT_EQ(names_of(parse_edge_list("0 00\n")), (Names{"0", "00"}));
}

TEST(EdgeList, text_ids_are_numbered_by_first_appearance_and_may_hold_spaces_between_tabs) {
  EXPECT_EQ(names_of(parse_edge_list("b a\nc b\n")), (Names{"b", "a", "c"}));
  EXPECT_EQ(names_of(parse_edge_list("New York\tLos Angeles\nLos Angeles\tZürich\n")),
            (Names{"New York", "Los Angeles", "Zürich"}));
}

TEST(EdgeList, a_word_late_in_a_file_of_integers_turns_all_ids_into_text) {
  std::string text;
  std::vector<TextEdge> expected;
  Names order;
  std::set<std::string> seen;
  Stream stream(3, Purpose::test, 0);
  const auto add = [&](const std::string& u, const std::string& v) {
    text += u + "\t" + v + "\n";
    expected.push_back({u, v, 1});
    for (const std::string& id : {u, v})
      if (seen.insert(id).second) order.push_back(id);
  };
  for (int i = 0; i < 400'000; ++i) add(std::to_string(stream.below(900)), std::to_string(stream.below(900)));
  add("word", "17");
  for (int i = 0; i < 1000; ++i) add(std::to_string(stream.below(900)), "x" + std::to_string(i));
  for (const EdgeListCut& cut : kCuts) {
    ParsedEdges parsed = parse_edge_list(text, cut.block % 1000 == 0 ? 4 : 1, {}, cut);
    EXPECT_EQ(names_of(parsed), order);
    EXPECT_EQ(edges_of(std::move(parsed)), summed(expected));
  }
}

TEST(EdgeList, a_header_is_skipped_and_nothing_else_is) {
  const TextEdges expected = summed({{"a", "b", 2}});
  EXPECT_EQ(edges_of(parse_edge_list("source\ttarget\tweight\na\tb\t2\n")), expected);
  EXPECT_EQ(edges_of(parse_edge_list("# x\nSource,Target,Weight\na,b,2\n")), expected);
  EXPECT_EQ(edges_of(parse_edge_list("gene_a gene_b score\na b 2\n")), expected);
  EXPECT_EQ(edges_of(parse_edge_list("\"node_1\",\"node_2\"\n1,2\n")), summed({{"1", "2", 1}}));
  EXPECT_EQ(names_of(parse_edge_list("from to\n1 2\n2 3\n")), (Names{"1", "2", "3"}));
  EXPECT_TRUE(parse_edge_list("u v\n1 2\n").names.is_numbered());
  EXPECT_EQ(edges_of(parse_edge_list("alice bob\nbob 2\n")).size(), 2u);  // words, but no names of columns
  EXPECT_THROW(parse_edge_list("alice bob\n1 2\n"), InputError);          // which they may be above numbers
  EXPECT_EQ(edges_of(parse_edge_list("alice bob\n1 2\n", 1, {.table = {.no_header = true}})).size(), 2u);
  EXPECT_EQ(edges_of(parse_edge_list("a b 1\nsource target 2\n")).size(), 2u);
}

TEST(EdgeList, weight_zero_keeps_the_nodes) {
  ParsedEdges parsed = parse_edge_list("1 2 0\n3 4 0.0\n5 6 -0\n");
  BuildReport report;
  EXPECT_EQ(build_graph(parsed, {}, {}, "edges.tsv", &report).num_nodes(), 6u);
  EXPECT_EQ(report.num_zero_weights, 3u);
}

void expect_error(const std::string& text, const std::string& where, const std::string& part) {
  for (const int threads : {1, 4}) {
    try {
      parse_edge_list(text, threads, {}, {.piece = 10'000, .block = 100'000});
      ADD_FAILURE() << "no error for " << text.substr(0, 100);
    } catch (const InputError& error) {
      EXPECT_EQ(error.where(), where) << error.what();
      EXPECT_NE(error.problem().find(part), std::string::npos) << error.what();
      EXPECT_FALSE(error.remedy().empty());
    }
  }
}

TEST(EdgeList, a_bad_weight_is_named_with_its_line_and_a_remedy) {
  for (const std::string weight :
       {"-0.5", "nan", "inf", "-inf", "abc", "1.5x", "0x10", "1,5", "--1", "+-1", "-1e99", ""})
    expect_error("a\tb\t1\n# c\na\tc\t" + weight + "\n", "edges.tsv:3",
                 "weight \"" + weight + "\" is not a positive number");
  for (const std::string weight : {"-0.5", "nan", "1e", "0.5.5"})
    expect_error("1 2 1\n\n7 8 " + weight + "\n1 2 3\n", "edges.tsv:3", "weight \"" + weight + "\"");
  for (const std::string tiny :
       {"1e-60", "1e-500", "0.00000000000000000000000000000000000000000000000000000000001"})
    expect_error("1 2 1\n1 3 " + tiny + "\n", "edges.tsv:2", "too small");
  for (const std::string large : {"1e39", "1e500", "99999999999999999999999999999999999999999"})
    expect_error("1 2 1\n1 3 " + large + "\n", "edges.tsv:2", "too large");
  EXPECT_EQ(std::string([] {
              try {
                parse_edge_list("1 2 -0.5\n");
              } catch (const InputError& error) {
                return std::string(error.what());
              }
              return std::string();
            }()),
            "edges.tsv:1: weight \"-0.5\" is not a positive number\n"
            "  weights are similarities (> 0); leave the line out to mean \"no edge\", or read negative "
            "edges with --signed");
}

TEST(EdgeList, lines_that_are_not_alike_are_errors) {
  expect_error("1 2 3 4\n", "edges.tsv:1", "4 columns");
  expect_error("# c\nalone\n", "edges.tsv:2", "1 column");
  expect_error("1 2\n1 3\n1 3 0.5\n", "edges.tsv:3", "found 3 columns where the lines before have 2");
  expect_error("1 2 1\n1 3\n", "edges.tsv:2", "found 2 columns");
  expect_error("a\tb\nc d\n", "edges.tsv:2", "found 1 column where");
  expect_error("a\tb\n\tc\n", "edges.tsv:2", "first node has an empty id");
  expect_error("a,b\nc,\n", "edges.tsv:2", "second node has an empty id");
  expect_error("1\t2\t0.5\n1\t3\t0.5\t9\n", "edges.tsv:2", "found 4 columns");
}

TEST(EdgeList, input_without_an_edge_or_without_text_is_an_error) {
  for (const std::string text : {"", "\n\n", "# only\n% comments", "source target\n", "\xEF\xBB\xBF"})
    expect_error(text, "edges.tsv", "no edge");
  expect_error(std::string("\0\1\2\3noise", 9), "edges.tsv", "not text");
  expect_error(std::string("1 2\n3\0 4\n", 9), "edges.tsv", "not text");
}

TEST(EdgeList, the_first_of_many_bad_lines_is_reported_for_any_number_of_threads) {
  std::string text = "u\tv\tw\n";
  const int num_lines = 50'000, first_bad = 30'017;
  for (int i = 2; i <= num_lines; ++i)
    text += std::to_string(i) + "\t" + std::to_string(i % 1000) +
            (i >= first_bad && i % 7 == 0 ? "\tbad\n" : "\t0.25\n");
  const int expected = (first_bad + 6) / 7 * 7;
  expect_error(text, "edges.tsv:" + std::to_string(expected), "\"bad\"");
  // The same when a word in front of it makes all ids text.
  text.insert(6, "word\t1\t1\n");
  expect_error(text, "edges.tsv:" + std::to_string(expected + 1), "\"bad\"");
}

// The slow twin: line by line with strtod and a map.
struct TwinList {
  std::vector<TextEdge> edges;
  std::set<std::string> nodes;
};

TEST(EdgeList, random_lists_round_trip_for_any_shape_and_number_of_threads) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Stream stream(seed, Purpose::test, 1);
    const char separator = "\t, "[stream.below(3)];
    const bool has_weights = stream.below(2) == 0, is_crlf = stream.below(4) == 0;
    const std::uint64_t id_kind = stream.below(6), id_range = 1 + stream.below(300);
    const auto random_id = [&]() -> std::string {
      const std::uint64_t k = stream.below(id_range);
      switch (id_kind) {
        case 0:
          return std::to_string(k);
        case 1:
          return std::to_string(k * 1'000'003 + 99'999'900);
        case 2:
          return std::to_string((std::uint64_t{1} << 40) + k);
        case 3:
          return "n" + std::to_string(k);
        case 4:
          return stream.below(50) == 0 ? "0" + std::to_string(k) : std::to_string(k);
        default:
          return separator == '\t' ? "id " + std::to_string(k) : std::to_string(k * k * k * k * k);
      }
    };
    std::string text;
    TwinList twin;
    const std::uint64_t count = 1 + stream.below(400);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (stream.below(30) == 0) text += stream.below(2) == 0 ? "# remark, with\tall separators\n" : "\n";
      const std::string u = random_id(), v = random_id();
      text += u + separator + v;
      float weight = 1;
      if (has_weights) {
        char digits[64];
        const double value =
            stream.below(3) == 0 ? static_cast<double>(stream.below(1000)) : 1e3 * stream.uniform();
        const char* formats[] = {"%.0f", "%.3f", "%.9g", "%.17g", "%.5e"};
        std::snprintf(digits, sizeof digits, formats[stream.below(5)], value);
        weight = std::strtof(digits, nullptr);
        text += separator + std::string(digits);
      }
      text += is_crlf ? "\r\n" : "\n";
      twin.edges.push_back({u, v, weight});
      twin.nodes.insert({u, v});
    }
    if (stream.below(3) == 0) text.pop_back();
    for (const EdgeListCut& cut : kCuts) {
      ParsedEdges parsed = parse_edge_list(text, seed % 10 == 0 && cut.block > 1000 ? 4 : 1, {}, cut);
      const Names names = names_of(parsed);
      EXPECT_EQ(edges_of(std::move(parsed)), summed(twin.edges));
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), twin.nodes);
      EXPECT_EQ(names.size(), twin.nodes.size());
    }
  }
}

TEST(EdgeList, large_lists_of_text_ids_are_the_same_for_any_number_of_threads) {
  Stream stream(5, Purpose::test, 2);
  std::string text;
  std::vector<TextEdge> list;
  Names order;
  std::set<std::string> seen;
  const auto next_id = [&] {
    std::string id = "user_" + std::to_string(stream.below(1 + stream.below(40'000)));
    if (seen.insert(id).second) order.push_back(id);
    return id;
  };
  for (int i = 0; i < 120'000; ++i) {
    const std::string u = next_id(), v = next_id();
    list.push_back({u, v, 1});
    text += u + '\t' + v + '\n';
  }
  for (const int threads : {1, 2, 4}) {
    ParsedEdges parsed = parse_edge_list(text, threads, {}, {.piece = 100'000, .block = 1'000'000});
    EXPECT_EQ(names_of(parsed), order);
    EXPECT_EQ(edges_of(std::move(parsed)), summed(list));
  }
}

std::string temp_file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "_copse_edge_list_" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(EdgeList, a_file_of_nodes_adds_those_that_no_edge_mentions) {
  const std::string numbers = temp_file("numbers", "# ids\n4\n2\n\n1\n"),
                    words = temp_file("words", "x\r\n2\n"), gaps = temp_file("gaps", "9\n"),
                    labels = temp_file("labels", "node\tlabel\n4\tred\n2\t\n"),
                    wrong = temp_file("wrong", "3\n\tred\n"),
                    header = temp_file("header", "# labels\nNode\tLabel\n4\tred\n");
  EXPECT_EQ(names_of(parse_edge_list("2 3\n", 1, {.nodes_path = numbers})), (Names{"1", "2", "3", "4"}));
  EXPECT_TRUE(parse_edge_list("2 3\n", 1, {.nodes_path = numbers}).names.is_numbered());
  EXPECT_EQ(names_of(parse_edge_list("2 3\n", 1, {.nodes_path = gaps})), (Names{"2", "3", "9"}));
  EXPECT_EQ(names_of(parse_edge_list("2 3\n", 1, {.nodes_path = words})), (Names{"2", "3", "x"}));
  EXPECT_EQ(names_of(parse_edge_list("b a\n", 1, {.nodes_path = numbers})), (Names{"b", "a", "4", "2", "1"}));
  EXPECT_EQ(names_of(parse_edge_list("2 3\n", 1, {.nodes_path = labels})), (Names{"2", "3", "4"}));
  EXPECT_EQ(names_of(parse_edge_list("b\ta\n", 1, {.nodes_path = labels})), (Names{"b", "a", "4", "2"}));
  EXPECT_EQ(names_of(parse_edge_list("2 3\n", 1, {.nodes_path = header})), (Names{"2", "3", "4"}));
  EXPECT_THROW(parse_edge_list("2 3\n", 1, {.nodes_path = wrong}), InputError);
  EXPECT_THROW(parse_edge_list("2 3\n", 1, {.nodes_path = numbers + ".none"}), InputError);
}

TEST(IntegerText, is_found_and_read_as_the_standard_library_does) {
  Stream stream(9, Purpose::test, 3);
  for (int i = 0; i < 100'000; ++i) {
    const int digits = 1 + static_cast<int>(stream.below(19));
    std::string number;
    for (int k = 0; k < digits; ++k) number += static_cast<char>('0' + stream.below(10));
    std::string text = number;
    while (text.size() < 64)
      text += static_cast<char>(stream.below(2) == 0 ? '0' + stream.below(10) : stream.below(256));
    std::uint64_t others = 0;
    for (std::size_t k = 0; k < 64; ++k)
      if (text[k] < '0' || text[k] > '9') others |= std::uint64_t{1} << k;
    EXPECT_EQ(find_other_than_digits(text.data()), others) << text;
    const bool is_canonical = number[0] != '0' || digits == 1;
    if (digits < 16) EXPECT_EQ(integer_of_digits(text.data(), number.size()), std::stoull(number)) << text;
    const auto slow = canonical_integer(number);
    EXPECT_EQ(slow.has_value(), is_canonical) << number;
    EXPECT_EQ(slow ? std::to_string(*slow) : number, number);
  }
  EXPECT_TRUE(canonical_integer("18446744073709551615"));
  EXPECT_FALSE(canonical_integer("18446744073709551616"));
  for (const std::string text : {"", "+7", "-7", " 7", "7 ", "0x7"}) EXPECT_FALSE(canonical_integer(text));
}

}  // namespace
}  // namespace copse
