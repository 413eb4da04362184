// SPDX-License-Identifier: Apache-2.0
// The games of the fast suite, many times over.

#include "learners/bound_games.hpp"
#include "learners/kernel_games.hpp"
#include "learners/nearest_games.hpp"

namespace copse {
namespace {

TEST(WtaBounds, hold_on_a_hundred_thousand_random_and_adversarial_games) { play_bound_games(2000, 102000); }
TEST(GraphPerceptron, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) {
  play_perceptron_games(1000, 11000);
}
TEST(Projection, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) {
  play_projection_games(1000, 11000);
}
TEST(Pounce, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) { play_pounce_games(1000, 11000); }
TEST(NearestNeighbor, answers_as_a_table_of_all_distances_says_in_ten_thousand_games) {
  play_nearest_neighbor_games(1000, 11000);
}

}  // namespace
}  // namespace copse
