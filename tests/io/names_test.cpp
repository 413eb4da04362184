// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "io/intern.hpp"

namespace copse {
namespace {

struct Block {
  std::vector<std::uint64_t> ends;
  std::string text;
};

NodeNames string_names(const std::vector<std::string>& list) {
  auto block = std::make_shared<Block>();
  for (const std::string& name : list) {
    block->text += name;
    block->ends.push_back(block->text.size());
  }
  return NodeNames::strings(block->ends, block->text, block);
}

TEST(NodeNames, numbered_names_go_both_ways_and_only_in_their_own_spelling) {
  const NodeNames names = NodeNames::numbered(5, 10);
  EXPECT_EQ(names.size(), 5u);
  EXPECT_TRUE(names.is_numbered());
  EXPECT_EQ(names.first_number(), 10u);
  for (NodeId u = 0; u < 5; ++u) {
    EXPECT_EQ(names.name(u), std::to_string(10 + u));
    EXPECT_EQ(names.find(std::to_string(10 + u)), u);
  }
  for (const char* other :
       {"", "9", "15", "010", "+10", "-10", "10 ", " 10", "1e1", "99999999999999999999999", "a"})
    EXPECT_EQ(names.find(other), std::nullopt) << other;
  EXPECT_EQ(NodeNames::numbered(1).find("0"), NodeId{0});
  const std::uint64_t large = std::uint64_t{1} << 62;
  EXPECT_EQ(NodeNames::numbered(3, large).find(std::to_string(large + 2)), NodeId{2});
}

NodeNames integer_names(std::uint64_t base, const std::vector<NodeId>& distances) {
  Buffer<NodeId> copy(distances.size());
  std::copy(distances.begin(), distances.end(), copy.begin());
  return NodeNames::integers(base, std::move(copy));
}

TEST(NodeNames, integers_with_gaps_go_both_ways_and_only_in_their_own_spelling) {
  Stream stream(7, Purpose::test, 0);
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 62}) {
    for (const std::uint64_t widest : {1u, 2u, 10u, 100'000u}) {  // gap
      std::vector<NodeId> distances;
      for (std::uint64_t at = stream.below(20); distances.size() < 300; at += 1 + stream.below(widest))
        distances.push_back(static_cast<NodeId>(at));
      const NodeNames names = integer_names(base, distances), text = names.as_text();
      EXPECT_FALSE(names.is_numbered());
      EXPECT_EQ(names.bytes(), 4 * distances.size());
      ASSERT_EQ(names.size(), distances.size());
      ASSERT_EQ(text.ends().size(), distances.size());
      for (NodeId u = 0; u < distances.size(); ++u) {
        const std::string name = std::to_string(base + distances[u]);
        EXPECT_EQ(names.name(u), name);
        EXPECT_EQ(names.find(name), u);
        EXPECT_EQ(names.find("0" + name), std::nullopt);
        EXPECT_EQ(text.name(u), name);
        EXPECT_EQ(text.find(name), u);
      }
      for (std::uint64_t number = 0; number < distances.back() + 30; number += 1 + widest / 50) {
        const auto place = std::lower_bound(distances.begin(), distances.end(), number);
        const bool is_there = place != distances.end() && *place == number;
        EXPECT_EQ(names.find(std::to_string(base + number)).has_value(), is_there);
      }
      for (const char* other : {"", "x", "-1", "+7", "99999999999999999999999", "18446744073709551615"})
        EXPECT_EQ(names.find(other), std::nullopt) << other;
    }
  }
  const NodeNames wide = integer_names(10, {0, 0xFFFFFFFE});
  EXPECT_EQ(wide.find("4294967304"), NodeId{1});
  EXPECT_EQ(wide.find("4294967303"), std::nullopt);
  EXPECT_EQ(wide.find("9"), std::nullopt);
}

TEST(NodeNames, without_any_names_finds_nothing) {
  EXPECT_EQ(NodeNames().size(), 0u);
  EXPECT_EQ(NodeNames().find("0"), std::nullopt);
  EXPECT_EQ(string_names({}).find(""), std::nullopt);
}

TEST(NodeNames, strings_go_both_ways_whatever_is_in_them) {
  std::vector<std::string> list = {"", "a", "ab", "b", "07", "7", "two words", "Zürich", "\xff\"',;#"};
  for (int i = 0; i < 5000; ++i) list.push_back("node-" + std::to_string(i * 7919));
  const NodeNames names = string_names(list);
  EXPECT_FALSE(names.is_numbered());
  ASSERT_EQ(names.size(), list.size());
  for (NodeId u = 0; u < list.size(); ++u) {
    EXPECT_EQ(names.name(u), list[u]);
    EXPECT_EQ(names.find(list[u]), u);
  }
  for (const char* other : {"c", "node-1", "007", "A"}) EXPECT_EQ(names.find(other), std::nullopt) << other;
}

TEST(NodeNames, names_that_no_line_could_hold_are_refused_with_their_node) {
  for (const char end : {'\t', '\n', '\r', '\0'}) {
    const std::string bad = std::string("x") + end + "y";
    try {
      string_names({"a", "", bad, "b"});
      ADD_FAILURE() << "no error for byte " << int{end};
    } catch (const InputError& error) {
      EXPECT_EQ(error.where(), "node 2");
      EXPECT_EQ(error.problem(), copse::quoted(bad) + " holds a tab, a line end or a zero byte");
    }
    EXPECT_THROW(ClassNames().intern(bad), InputError);
  }
}

TEST(NodeNames, many_threads_may_ask_first) {
  std::vector<std::string> list;
  for (int i = 0; i < 20'000; ++i) list.push_back("x" + std::to_string(i));
  const NodeNames names = string_names(list);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (NodeId u = 0; u < list.size(); ++u) wrong[t] += names.find(list[u]) != u;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Interner, numbers_ids_by_first_appearance_like_a_map) {
  Stream stream(1, Purpose::test, 0);
  Interner interner;
  std::map<std::string, NodeId> twin;
  std::vector<std::string> order;
  for (int i = 0; i < 50'000; ++i) {
    const std::string id = "k" + std::to_string(stream.below(20'000) * stream.below(3));
    const auto [place, is_new] = twin.try_emplace(id, static_cast<NodeId>(twin.size()));
    if (is_new) order.push_back(id);
    ASSERT_EQ(interner.intern(id), place->second);
  }
  ASSERT_EQ(interner.size(), twin.size());
  const NodeNames names = interner.take_names();
  for (NodeId u = 0; u < order.size(); ++u) ASSERT_EQ(names.name(u), order[u]);
}

}  // namespace
}  // namespace copse
