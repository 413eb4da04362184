// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "copse/graph/components.hpp"
#include "oracle/temporary_directory.hpp"

namespace copse {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

const SharedSet& find(const std::vector<SharedSet>& sets, const std::string& name) {
  for (const SharedSet& set : sets)
    if (set.name() == name) return set;
  throw std::runtime_error("no set " + name);
}

TEST(TreeSets, without_data_are_graphs_of_the_carried_digits) {
  const std::vector<SharedSet> sets = tree_sets({}, {.seed = 1});
  ASSERT_EQ(sets.size(), 2u);
  const TreeSet& set = find(sets, "digits-10")();
  EXPECT_EQ(set.graph.num_nodes(), 1797u);
  EXPECT_TRUE(set.graph.view().is_weighted());
  ASSERT_TRUE(set.single.has_value());
  EXPECT_EQ(set.labels.classes.size(), 10u);
  EXPECT_EQ(set.single->of_node, set.labels.set_of_node);
}

TEST(TreeSets, trees_span_the_graph_with_edges_and_weights_of_it) {
  const std::vector<SharedSet> sets = tree_sets({}, {.seed = 1});
  const SharedSet& set = find(sets, "digits-10");
  const GraphView graph = set().graph;
  double heaviest = 0;
  for (const TreeKind kind : {TreeKind::mst, TreeKind::rst, TreeKind::nwrst, TreeKind::dfst, TreeKind::spt}) {
    SCOPED_TRACE(to_string(kind));
    const GraphView tree = set.tree(kind, 1);
    EXPECT_EQ(tree.num_edges(), graph.num_nodes() - connected_components(graph).count());
    EXPECT_EQ(connected_components(tree).count(), connected_components(graph).count());
    double weight = 0;
    for (NodeId u = 0; u < tree.num_nodes(); ++u)
      for (std::size_t i = 0; i < tree.neighbors_of(u).size(); ++i) {
        const auto row = graph.neighbors_of(u);
        const auto found = std::find(row.begin(), row.end(), tree.neighbors_of(u)[i]);
        ASSERT_NE(found, row.end());
        EXPECT_EQ(tree.weights_of(u)[i], graph.weights_of(u)[static_cast<std::size_t>(found - row.begin())]);
        weight += tree.weights_of(u)[i];
      }
    if (kind == TreeKind::mst)
      heaviest = weight;
    else
      EXPECT_LT(weight, heaviest);
  }
}

TEST(TreeSets, random_trees_differ_and_the_minimum_tree_does_not) {
  const std::vector<SharedSet> sets = tree_sets({}, {.seed = 1});
  const SharedSet& set = find(sets, "digits-10");
  const auto arcs = [&](TreeKind kind, std::size_t instance) {
    const auto all = set.tree(kind, instance).view().neighbors;
    return std::vector<NodeId>(all.begin(), all.end());
  };
  EXPECT_NE(arcs(TreeKind::rst, 0), arcs(TreeKind::rst, 1));
  EXPECT_EQ(arcs(TreeKind::mst, 0), arcs(TreeKind::mst, 1));
}

TEST(TreeSets, keep_the_largest_component_and_its_labels) {
  const oracle::TemporaryDirectory directory;
  const std::filesystem::path data = directory.path();
  write(data / "krogan" / "edges.tsv", "0\t1\t0.5\n2\t3\t1\n3\t4\t0.25\n2\t4\t1\n");
  write(data / "krogan" / "labels.tsv", "0\ta\n1\tb\n2\tb\n2\tc\n3\tc\n4\ta\n");
  const std::vector<SharedSet> sets = tree_sets({.data = data.string()}, {});
  ASSERT_EQ(sets.size(), 1u);
  const TreeSet& set = sets[0]();
  ASSERT_EQ(set.graph.num_nodes(), 3u);
  EXPECT_EQ(set.graph.view().num_edges(), 3u);
  EXPECT_FALSE(set.single.has_value());  // one node has two labels
  std::vector<std::string> texts;
  for (const Label number : set.labels.set_of_node) {
    std::string text;
    for (const Label label : set.labels.sets[number]) text += set.labels.classes.name(label);
    texts.push_back(text);
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"bc", "c", "a"}));
}

TEST(TreeSets, of_documents_ask_about_the_four_most_frequent_topics) {
  const oracle::TemporaryDirectory directory;
  const std::filesystem::path data = directory.path();
  std::string points, labels;
  for (int i = 0; i < 110;
       ++i) {  // topic k at every node that k divides, for k = 1 ... 6; neighbours in a row
    points += "0:" + std::to_string(i) + " 1:1\n";
    for (int k = 1; k <= 6; ++k)
      if (i % k == 0) labels += std::to_string(i) + "\ttopic" + std::to_string(k) + "\n";
  }
  write(data / "rcv1_2316" / "points.svm", points);
  write(data / "rcv1_2316" / "labels.tsv", labels);
  const std::vector<SharedSet> sets = tree_sets({.data = data.string()}, {});
  ASSERT_EQ(sets.size(), 2u);
  const MultiLabels& found = find(sets, "rcv1-10")().labels;
  ASSERT_EQ(found.classes.size(), 4u);
  for (int k = 1; k <= 4; ++k) EXPECT_NE(found.classes.find("topic" + std::to_string(k)), kNoLabel) << k;
  EXPECT_EQ(found.sets[found.set_of_node[12]].size(), 4u);  // 1, 2, 3 and 4 divide 12
  EXPECT_EQ(found.sets[found.set_of_node[5]].size(), 1u);   // 5 is not asked about
}

TEST(TreeSets, a_directory_without_any_of_them_is_told_what_is_expected) {
  const oracle::TemporaryDirectory directory;
  try {
    tree_sets({.data = directory.path()}, {});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(error.remedy().find("krogan"), std::string::npos);
    EXPECT_NE(error.remedy().find("webspam"), std::string::npos);
  }
}

TEST(TreeSets, a_set_whose_labels_are_missing_says_so_when_it_is_needed) {
  const oracle::TemporaryDirectory directory;
  const std::filesystem::path data = directory.path();
  write(data / "krogan" / "edges.tsv", "0\t1\t0.5\n");
  const std::vector<SharedSet> sets = tree_sets({.data = data.string()}, {});
  EXPECT_THROW(sets[0](), InputError);
  EXPECT_THROW(sets[0](), InputError);  // and again: nothing half-made is kept
}

}  // namespace
}  // namespace copse
