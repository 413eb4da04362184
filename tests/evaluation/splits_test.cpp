// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/splits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "copse/support/error.hpp"

namespace copse {
namespace {

// 60 nodes of three classes (30, 20 and 1 of them labelled), the others unlabelled.
std::vector<Label> some_labels() {
  std::vector<Label> labels(60, kNoLabel);
  for (std::size_t u = 0; u < 30; ++u) labels[2 * u] = 0;
  for (std::size_t u = 0; u < 20; ++u) labels[2 * u + 1] = 1;
  labels[59] = 2;
  return labels;
}

void expect_partition(const Split& split, const std::vector<Label>& labels) {
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_TRUE(std::is_sorted(split.test.begin(), split.test.end()));
  std::set<NodeId> all(split.train.begin(), split.train.end());
  all.insert(split.test.begin(), split.test.end());
  EXPECT_EQ(all.size(), split.train.size() + split.test.size());
  for (std::size_t u = 0; u < labels.size(); ++u)
    EXPECT_EQ(all.count(static_cast<NodeId>(u)) == 1, labels[u] != kNoLabel) << u;
}

std::map<Label, int> classes_of(const std::vector<NodeId>& nodes, const std::vector<Label>& labels) {
  std::map<Label, int> counts;
  for (const NodeId u : nodes) ++counts[labels[u]];
  return counts;
}

TEST(RandomSplit, gives_the_share_asked_for_and_hides_the_rest) {
  const auto labels = some_labels();
  for (const auto& [fraction, expected] :
       std::map<double, std::size_t>{{0.001, 1}, {0.1, 5}, {0.5, 26}, {0.999, 50}}) {
    const Split split = random_split(labels, fraction, 1, 0);
    expect_partition(split, labels);
    EXPECT_EQ(split.train.size(), expected) << fraction;
  }
}

TEST(RandomSplit, is_a_function_of_seed_and_index) {
  const auto labels = some_labels();
  const Split split = random_split(labels, 0.3, 5, 7);
  EXPECT_EQ(split.train, random_split(labels, 0.3, 5, 7).train);
  EXPECT_NE(split.train, random_split(labels, 0.3, 5, 8).train);
  EXPECT_NE(split.train, random_split(labels, 0.3, 6, 7).train);
}

TEST(RandomSplit, chooses_every_subset_equally_often) {
  const std::vector<Label> labels(5, 0);
  std::map<std::vector<NodeId>, int> chosen;
  constexpr int kSplits = 5000;
  for (std::uint64_t index = 0; index < kSplits; ++index) ++chosen[random_split(labels, 0.4, 1, index).train];
  ASSERT_EQ(chosen.size(), 10U);  // 5 choose 2
  double chi_square = 0;          // 9 degrees of freedom: above 34 once in 10 000
  for (const auto& entry : chosen)
    chi_square += std::pow(entry.second - kSplits / 10.0, 2) / (kSplits / 10.0);
  EXPECT_LT(chi_square, 34);
}

TEST(StratifiedSplit, keeps_the_shares_of_the_classes) {
  const auto labels = some_labels();
  for (std::uint64_t index = 0; index < 5; ++index) {
    const Split split = stratified_split(labels, 0.1, 1, index);
    expect_partition(split, labels);
    EXPECT_EQ(classes_of(split.train, labels), (std::map<Label, int>{{0, 3}, {1, 2}, {2, 1}}));
  }
  // One of each class is given and, where there are two, hidden, however extreme the fraction.
  EXPECT_EQ(classes_of(stratified_split(labels, 0.001, 1, 0).train, labels),
            (std::map<Label, int>{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(classes_of(stratified_split(labels, 0.999, 1, 0).test, labels),
            (std::map<Label, int>{{0, 1}, {1, 1}}));
}

TEST(PerClassSplit, gives_as_many_of_each_class_but_hides_one) {
  const auto labels = some_labels();
  EXPECT_EQ(classes_of(per_class_split(labels, 1, 1, 0).train, labels),
            (std::map<Label, int>{{0, 1}, {1, 1}}));
  EXPECT_EQ(classes_of(per_class_split(labels, 4, 1, 0).train, labels),
            (std::map<Label, int>{{0, 4}, {1, 4}}));
  const Split split = per_class_split(labels, 25, 1, 0);
  expect_partition(split, labels);
  EXPECT_EQ(classes_of(split.train, labels), (std::map<Label, int>{{0, 25}, {1, 19}}));
}

TEST(Splits, refuse_what_cannot_be_split) {
  const auto labels = some_labels();
  for (const double fraction : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
    EXPECT_THROW(random_split(labels, fraction, 1, 0), UsageError) << fraction;
    EXPECT_THROW(stratified_split(labels, fraction, 1, 0), UsageError) << fraction;
  }
  EXPECT_THROW(per_class_split(labels, 0, 1, 0), UsageError);
  const std::vector<Label> one{kNoLabel, 0, kNoLabel}, all_different{0, 1, 2};
  EXPECT_THROW(random_split(one, 0.5, 1, 0), UsageError);
  EXPECT_THROW(stratified_split(one, 0.5, 1, 0), UsageError);
  EXPECT_THROW(per_class_split(one, 1, 1, 0), UsageError);
  EXPECT_NO_THROW(random_split(all_different, 0.5, 1, 0));
  EXPECT_THROW(stratified_split(all_different, 0.5, 1, 0), UsageError);
  EXPECT_THROW(per_class_split(all_different, 1, 1, 0), UsageError);
}

TEST(RandomOrder, holds_every_labelled_node_once_and_every_order_equally_often) {
  const std::vector<Label> labels{0, kNoLabel, 1, 0, kNoLabel};
  std::map<std::vector<NodeId>, int> orders;
  constexpr int kOrders = 3000;
  for (std::uint64_t index = 0; index < kOrders; ++index) ++orders[random_order(labels, 2, index)];
  ASSERT_EQ(orders.size(), 6U);
  for (const auto& [order, count] : orders) {
    EXPECT_EQ(std::set<NodeId>(order.begin(), order.end()), (std::set<NodeId>{0, 2, 3}));
    EXPECT_NEAR(count, kOrders / 6, 100);  // standard deviation 20
  }
  EXPECT_TRUE(random_order(std::vector<Label>(3, kNoLabel), 1, 0).empty());
}

}  // namespace
}  // namespace copse
