// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read_labels.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

std::string file(const std::string& text) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + "_copse_labels.tsv";
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string label_of(const Labels& labels, NodeId node) {
  return labels.of_node[node] == kNoLabel ? "-" : labels.classes.name(labels.of_node[node]);
}

TEST(ClassNames, number_classes_by_first_appearance_up_to_the_limit) {
  ClassNames classes;
  EXPECT_EQ(classes.find("a"), kNoLabel);
  for (std::uint64_t i = 0; i < kMaxClasses; ++i) ASSERT_EQ(classes.intern("class " + std::to_string(i)), i);
  for (std::uint64_t i = 0; i < kMaxClasses; ++i) ASSERT_EQ(classes.find("class " + std::to_string(i)), i);
  EXPECT_EQ(classes.intern("class 7"), 7);
  EXPECT_EQ(classes.size(), 65'535u);
  EXPECT_THROW(classes.intern("one more"), InputError);
  EXPECT_EQ(classes.find("one more"), kNoLabel);
}

TEST(Labels, rows_of_every_separator_are_read) {
  const NodeNames names = NodeNames::numbered(6);
  for (const std::string text :
       {"0\tred wine\n2\tblue\n3\tred wine\n", "node\tlabel\r\n0\tred wine\r\n2\tblue\r\n3\tred wine",
        "# c\n0,red wine\n% d\n\n2, blue\n3 ,red wine\n",
        "Node,Label\n0,red wine\n2,blue\n3,red wine\n4,\n5\t\n", "0 red wine\n2   blue\n3 red wine\n1\n",
        "\xEF\xBB\xBF"
        "0\tred wine\n2\tblue\n2\tblue\n3\tred wine\n"}) {
    SCOPED_TRACE(text);
    LabelReadReport report;
    const Labels labels = read_labels(file(text), names, {}, &report);
    ASSERT_EQ(labels.of_node.size(), 6u);
    EXPECT_EQ(label_of(labels, 0) + "," + label_of(labels, 1) + "," + label_of(labels, 2) + "," +
                  label_of(labels, 3) + "," + label_of(labels, 4) + "," + label_of(labels, 5),
              "red wine,-,blue,red wine,-,-");
    EXPECT_EQ(labels.num_labelled(), 3u);
    EXPECT_EQ(labels.classes.names(), (std::vector<std::string>{"red wine", "blue"}));
    EXPECT_EQ(report.num_unknown_nodes, 0u);
  }
}

std::string problem(const std::string& text, const NodeNames& names, const std::string& where_end,
                    const LabelReadOptions& options = {}) {
  try {
    read_labels(file(text), names, options);
  } catch (const InputError& error) {
    EXPECT_TRUE(error.where().ends_with(where_end)) << error.what();
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  return "no error";
}

TEST(Labels, two_labels_of_one_node_name_both_lines) {
  const std::string what = problem("# x\n0\ta\n1\tb\n0\ta\n0\tb\n", NodeNames::numbered(3), ".tsv:5");
  EXPECT_NE(what.find("\"b\", but line 2 says \"a\""), std::string::npos) << what;
  EXPECT_NE(what.find("--multi-label"), std::string::npos) << what;
}

TEST(Labels, unknown_nodes_are_counted_and_the_first_five_named) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += std::to_string(i) + "\ta\n";
  LabelReadReport report;
  read_labels(file(text), NodeNames::numbered(8), {}, &report);
  EXPECT_EQ(report.num_rows, 16u);
  EXPECT_EQ(report.num_unknown_nodes, 8u);
  ASSERT_EQ(report.unknown_examples.size(), 5u);
  EXPECT_TRUE(report.unknown_examples[0].ends_with("copse_labels.tsv:9: 8")) << report.unknown_examples[0];
  EXPECT_NE(
      problem(text, NodeNames::numbered(8), ".tsv:9", {.strict = true}).find("\"8\" is not in the graph"),
      std::string::npos);
}

TEST(Labels, mostly_unknown_nodes_mean_ids_of_another_kind) {
  const std::string what = problem("n0\ta\nn1\ta\n2\tb\n", NodeNames::numbered(8, 1), ".tsv");
  EXPECT_NE(what.find("another kind"), std::string::npos) << what;
  EXPECT_NE(what.find("\"n0\""), std::string::npos) << what;
  EXPECT_NE(what.find("\"1\""), std::string::npos) << what;
}

TEST(Labels, too_many_classes_name_the_line) {
  std::string text;
  for (std::uint64_t i = 0; i <= kMaxClasses; ++i)
    text += std::to_string(i) + "\t" + std::to_string(i) + "\n";
  EXPECT_NE(problem(text, NodeNames::numbered(70'000), ":65536").find("classes"), std::string::npos);
}

TEST(Labels, rows_without_a_node_and_binary_files_are_errors) {
  EXPECT_NE(problem("0\ta\n\tb\n", NodeNames::numbered(3), ".tsv:2").find("empty id"), std::string::npos);
  EXPECT_NE(problem(std::string("0\ta\n\0", 5), NodeNames::numbered(3), ".tsv").find("not text"),
            std::string::npos);
  EXPECT_EQ(read_labels(file(""), NodeNames::numbered(3)).num_labelled(), 0u);
}

TEST(Labels, a_node_that_is_called_node_is_not_a_header) {
  Stream stream(1, Purpose::test, 0);
  const std::vector<std::uint64_t> ends = {4, 5};
  const std::string text = "nodeb";
  const NodeNames names = NodeNames::strings(ends, text, nullptr);
  EXPECT_EQ(read_labels(file("node\tlabel\nb\tx\n"), names).num_labelled(), 2u);
}

TEST(MultiLabels, sets_agree_with_a_map_of_sets) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Stream stream(seed, Purpose::test, 0);
    std::map<NodeId, std::set<std::string>> twin;
    std::string text;
    const std::uint64_t num_rows = stream.below(60);
    for (std::uint64_t i = 0; i < num_rows; ++i) {
      const auto node = static_cast<NodeId>(stream.below(20));
      const std::string label = "c" + std::to_string(stream.below(4));
      text += std::to_string(node) + "\t" + label + "\n";
      twin[node].insert(label);
    }
    const MultiLabels labels = read_multi_labels(file(text), NodeNames::numbered(20));
    ASSERT_EQ(labels.set_of_node.size(), 20u);
    std::set<std::vector<Label>> distinct(labels.sets.begin(), labels.sets.end());
    EXPECT_EQ(distinct.size(), labels.sets.size());
    for (NodeId u = 0; u < 20; ++u) {
      std::set<std::string> names;
      if (labels.set_of_node[u] != kNoLabel)
        for (const Label label : labels.sets[labels.set_of_node[u]]) names.insert(labels.classes.name(label));
      EXPECT_EQ(names, twin[u]);
    }
  }
}

}  // namespace
}  // namespace copse
