// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "papers/bound_games.hpp"

namespace copse {
namespace {

TEST(BoundGames, no_bound_is_broken_in_20000_random_clustered_and_adversarial_games) {
  play_all_bounds(1000, 21000);
}

TEST(BoundGames, progress_of_active_trials_is_accounted_for_in_5000_games) { play_active_bounds(1000, 6000); }

}  // namespace
}  // namespace copse
