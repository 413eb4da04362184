// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/majority_vote.hpp"

#include <gtest/gtest.h>

#include "copse/graph/build.hpp"

namespace copse {
namespace {

TEST(MajorityVote, a_tie_goes_to_the_more_frequent_class_then_to_the_first) {
  // Node 0 lies between the two classes; node 3, elsewhere, says which is more frequent.
  const Graph graph = graph_from_pairs(5, {{0, 1}, {0, 2}, {3, 4}});
  MajorityVote learner(graph, {}, {});
  learner.reveal(1, 0);
  learner.reveal(2, 1);
  EXPECT_EQ(learner.predict(0).label, 0);
  learner.reveal(3, 1);
  EXPECT_EQ(learner.predict(0).label, 1);
  EXPECT_EQ(learner.predict(0).confidence, 0.5);
  learner.retract(3);
  EXPECT_EQ(learner.predict(0).label, 0);
}

TEST(MajorityVote, a_heavy_neighbour_outvotes_two_light_ones_unless_weights_do_not_count) {
  const Graph graph = graph_from_edges(4, {{0, 1, 3}, {0, 2, 1}, {0, 3, 1}});
  for (const bool weighted : {true, false}) {
    MajorityVote learner(graph, {.weighted = weighted}, {});
    learner.reveal(1, 0);
    learner.reveal(2, 1);
    learner.reveal(3, 1);
    EXPECT_EQ(learner.predict(0).label, weighted ? 0 : 1);
    EXPECT_DOUBLE_EQ(learner.predict(0).confidence, weighted ? 3.0 / 5 : 2.0 / 3);
  }
}

TEST(MajorityVote, explains_by_its_labelled_neighbours_the_heaviest_first) {
  const Graph graph = graph_from_edges(4, {{0, 1, 1}, {0, 2, 4}, {0, 3, 2}});
  MajorityVote learner(graph, {}, {});
  learner.reveal(1, 0);
  learner.reveal(2, 1);
  const std::vector<Reason> reasons = learner.explain(0);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].node, 2u);
  EXPECT_DOUBLE_EQ(reasons[0].share, 0.8);
  EXPECT_DOUBLE_EQ(reasons[0].resistance, 0.25);
  EXPECT_DOUBLE_EQ(reasons[1].share, 0.2);
  EXPECT_DOUBLE_EQ(reasons[1].resistance, 1);
}

}  // namespace
}  // namespace copse
