// SPDX-License-Identifier: Apache-2.0
#include "copse/support/error.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace copse {
namespace {

TEST(Error, says_where_what_and_what_to_do) {
  const InputError error{at("edges.tsv", 17), "weight \"-0.5\" is not a positive number",
                         "weights are similarities"};
  EXPECT_STREQ(error.what(),
               "edges.tsv:17: weight \"-0.5\" is not a positive number\n  weights are similarities");
  EXPECT_EQ(error.where(), "edges.tsv:17");
  EXPECT_EQ(error.problem(), "weight \"-0.5\" is not a positive number");
  EXPECT_EQ(error.remedy(), "weights are similarities");
}

TEST(Error, leaves_out_what_is_not_known) {
  EXPECT_STREQ(UsageError("", "no graph was given", "").what(), "no graph was given");
  EXPECT_STREQ(UsageError("--seed", "x is not a number", "").what(), "--seed: x is not a number");
}

TEST(Error, kinds_can_be_told_apart_and_caught_together) {
  EXPECT_THROW(throw InputError("", "", ""), Error);
  EXPECT_THROW(throw UsageError("", "", ""), Error);
  EXPECT_THROW(throw InputError("", "", ""), std::runtime_error);
  const UsageError usage{"", "", ""};
  EXPECT_EQ(dynamic_cast<const InputError*>(static_cast<const Error*>(&usage)), nullptr);
  EXPECT_STREQ(Cancelled{}.what(), "interrupted");
}

TEST(At, counts_large_lines) { EXPECT_EQ(at("-", 12'345'678'901), "-:12345678901"); }

TEST(Quoted, shows_text_safely) {
  EXPECT_EQ(copse::quoted(""), "\"\"");
  EXPECT_EQ(copse::quoted("abc d"), "\"abc d\"");
  EXPECT_EQ(copse::quoted("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
  EXPECT_EQ(copse::quoted(std::string_view("a\0b\n\x1b[31m\x7f", 10)), "\"a\\x00b\\x0a\\x1b[31m\\x7f\"");
}

TEST(Quoted, shortens_long_text) {
  EXPECT_EQ(copse::quoted(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(copse::quoted(std::string(61, 'x')), "\"" + std::string(60, 'x') + "…\"");
  EXPECT_LT(copse::quoted(std::string(1'000'000, '\n')).size(), 300U);
}

TEST(WithCommas, groups_by_three) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(123'456), "123,456");
  EXPECT_EQ(with_commas(1'234'567), "1,234,567");
  EXPECT_EQ(with_commas(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

}  // namespace
}  // namespace copse
