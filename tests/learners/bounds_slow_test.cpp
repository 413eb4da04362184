// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "learners/bound_games.hpp"

namespace copse {
namespace {

TEST(WtaBounds, hold_on_a_hundred_thousand_random_and_adversarial_games) { play_bound_games(2000, 102000); }

}  // namespace
}  // namespace copse
