// SPDX-License-Identifier: Apache-2.0
#include "learners/nearest_games.hpp"

namespace copse {
namespace {

TEST(Pounce, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) { play_pounce_games(1000, 11000); }
TEST(NearestNeighbor, answers_as_a_table_of_all_distances_says_in_ten_thousand_games) {
  play_nearest_neighbor_games(1000, 11000);
}

}  // namespace
}  // namespace copse
