// SPDX-License-Identifier: Apache-2.0
#include "learners/nearest_games.hpp"

namespace copse {
namespace {

TEST(Pounce, decides_and_learns_as_its_dense_twin_in_random_games) { play_pounce_games(0, 300); }
TEST(NearestNeighbor, answers_as_a_table_of_all_distances_says) { play_nearest_neighbor_games(0, 300); }

TEST(Pounce, corrects_a_stored_example_that_comes_again_with_another_label) {
  const Graph graph = oracle::path(4);
  Pounce learner(graph, {}, {});
  learner.reveal(0, 0);
  EXPECT_EQ(learner.guess(0).label, 0);
  learner.reveal(0, 1);
  EXPECT_EQ(learner.guess(0).label, 1);
  EXPECT_EQ(learner.guess(3).label, 1);
  EXPECT_EQ(learner.num_updates(), 2u);
}

TEST(Pounce, takes_the_oldest_of_two_examples_as_near) {
  const Graph graph = oracle::path(5);
  for (const KernelOn on : {KernelOn::graph, KernelOn::tree}) {
    Pounce learner(graph, {.kernel = {.on = on, .num_trees = 1}}, {});
    learner.reveal(4, 1);
    learner.reveal(0, 0);
    ASSERT_EQ(learner.num_updates(), 2u);
    std::vector<double> margins(2);
    learner.margins(2, margins);  // w(2) - w(4) is half the way to a difference of -2
    EXPECT_NEAR(margins[1], 0, 1e-6);
    const auto reasons = learner.explain(2);
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_EQ(reasons[0].node, 4u);
    EXPECT_NEAR(reasons[0].resistance, 2, 1e-6);
  }
}

TEST(NearestNeighbor, of_two_labels_as_near_takes_that_of_the_lower_node) {
  const Graph graph = oracle::path(5);
  NearestNeighbor learner(graph, {}, {});
  learner.reveal(4, 1);
  learner.reveal(0, 0);
  EXPECT_EQ(learner.predict(2).label, 0);
  EXPECT_EQ(learner.predict(3).label, 1);
}

}  // namespace
}  // namespace copse
