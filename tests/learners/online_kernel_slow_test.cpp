// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_games.hpp"

namespace copse {
namespace {

TEST(GraphPerceptron, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) {
  play_perceptron_games(1000, 11000);
}
TEST(Projection, decides_and_learns_as_its_dense_twin_in_ten_thousand_games) {
  play_projection_games(1000, 11000);
}

}  // namespace
}  // namespace copse
