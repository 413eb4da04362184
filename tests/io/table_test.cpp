// SPDX-License-Identifier: Apache-2.0
#include "io/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

using Texts = std::vector<std::string>;

Texts split(const std::string& line, char delimiter) {
  UnquotedText unquoted;
  const RowFields fields = split_fields(line, delimiter, unquoted, "t.csv", 7);
  return {fields.begin(), fields.end()};
}

TEST(Table, fields_are_cut_and_freed_of_quotes) {
  EXPECT_EQ(split("a,b", ','), (Texts{"a", "b"}));
  EXPECT_EQ(split(" a , b c ,", ','), (Texts{"a", "b c", ""}));
  EXPECT_EQ(split("a\t b \t", '\t'), (Texts{"a", " b ", ""}));
  EXPECT_EQ(split("  a \t b  ", ' '), (Texts{"a", "b"}));
  EXPECT_EQ(split(R"("a,b" , "c""d""",e"f)", ','), (Texts{"a,b", "c\"d\"", "e\"f"}));
  EXPECT_EQ(split(R"("New York" b)", ' '), (Texts{"New York", "b"}));
  EXPECT_EQ(split(R"("","""")", ','), (Texts{"", "\""}));
  EXPECT_EQ(split("", ','), Texts{""});
  EXPECT_EQ(split("   ", ' '), Texts{});
}

TEST(Table, quotes_that_are_not_around_a_whole_field_are_errors_with_their_line) {
  for (const std::string line : {"\"a", "a,\"b", "\"a\"b,c", "\"a\"\"", "\""}) {
    SCOPED_TRACE(line);
    try {
      split(line, ',');
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_EQ(error.where(), "t.csv:7");
    }
  }
}

// The twin: one character at a time, as RFC 4180 says, without blanks to trim.
Texts slow_split(const std::string& line, char delimiter) {
  Texts fields{""};
  bool is_inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (is_inside && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      is_inside = !is_inside;
    } else if (line[i] == delimiter && !is_inside) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

TEST(Table, any_fields_in_quotes_come_out_again_as_a_twin_reads_them) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Stream stream(seed, Purpose::test, 0);
    const char delimiter = "\t,;|"[stream.below(4)];
    Texts fields;
    std::string line;
    for (std::uint64_t k = 1 + stream.below(5); k > 0; --k) {
      std::string field, text;
      for (std::uint64_t n = stream.below(4); n > 0; --n) field += "ab\",;\t| "[stream.below(8)];
      for (const char c : field) text.append(c == '"' ? 2 : 1, c);
      fields.push_back(field);
      line += (line.empty() && fields.size() == 1 ? "" : std::string(1, delimiter)) + "\"" + text + "\"";
    }
    EXPECT_EQ(split(line, delimiter), fields) << line;
    EXPECT_EQ(slow_split(line, delimiter), fields) << line;
  }
}

char delimiter_of(const std::string& text) { return detect_delimiter(TableSample(text, 1)); }

TEST(Table, the_delimiter_is_found_out_from_the_first_lines) {
  EXPECT_EQ(delimiter_of("# a,b\n\na,b\tc\n"), '\t');
  EXPECT_EQ(delimiter_of("a,b c\n"), ',');
  EXPECT_EQ(delimiter_of("a;b c\n"), ';');
  EXPECT_EQ(delimiter_of("a b\nc,d\n"), ' ');
  EXPECT_EQ(delimiter_of("a;b;1,5\nb;c;2\n"), ';');
  EXPECT_EQ(delimiter_of("a,b;x\nb,c\n"), ',');
  EXPECT_EQ(delimiter_of("a;b;1,5\nb;c;2,5\n"), '\0');
  EXPECT_EQ(delimiter_of("\"a,b\";c\n"), ';');
}

TEST(Table, names_of_columns_are_known_in_any_spelling) {
  for (const char* name : {"source", "Src", "FROM", "Sender_ID", ":START_ID(Person)", "node 1", "nameOrig"})
    EXPECT_TRUE(is_name_of(Role::source, name)) << name;
  for (const char* name : {"target", ":END_ID", "To Node", "recipient"})
    EXPECT_TRUE(is_name_of(Role::target, name)) << name;
  for (const char* name : {"Weight", "W", "combined_score"})
    EXPECT_TRUE(is_name_of(Role::weight, name)) << name;
  for (const char* name : {"timestamp", "distance", "", "cost"})
    EXPECT_FALSE(is_name_of(Role::weight, name)) << name;
  EXPECT_TRUE(is_name_of(Role::node, "Account-ID"));
  EXPECT_TRUE(is_name_of(Role::label, "is_fraud"));
}

}  // namespace
}  // namespace copse
