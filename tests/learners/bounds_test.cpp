// SPDX-License-Identifier: Apache-2.0
// The mistake bounds of the line and of the tree hold in every game, however adversarial.

#include <gtest/gtest.h>

#include "learners/bound_games.hpp"

namespace copse {
namespace {

TEST(WtaBounds, hold_on_two_thousand_random_and_adversarial_games) { play_bound_games(0, 2000); }

}  // namespace
}  // namespace copse
