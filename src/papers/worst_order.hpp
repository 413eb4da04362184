// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "copse/evaluation/splits.hpp"
#include "copse/learners/learner.hpp"

namespace copse {

/// Mistakes against an opponent who always asks about a node that will be guessed wrong, as long as there is
/// one; among several the one that comes first in a random order.
inline std::uint64_t mistakes_where_wrong(Learner& learner, std::span<const Label> labels,
                                          std::vector<NodeId> left) {
  std::uint64_t count = 0;
  for (;;) {
    const auto wrong = std::find_if(left.begin(), left.end(),
                                    [&](NodeId u) { return learner.predict(u).label != labels[u]; });
    if (wrong == left.end()) return count;
    ++count;
    learner.reveal(*wrong, labels[*wrong]);
    left.erase(wrong);
  }
}

/// The most of `tries` such games: what a mistake bound speaks of, as far as we can find it.
template <class Make>
std::uint64_t worst_mistakes(Make&& make, std::span<const Label> labels, std::uint64_t seed,
                             std::uint64_t tries) {
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < tries; ++i)
    most = std::max(most, mistakes_where_wrong(*make(), labels, random_order(labels, seed, i)));
  return most;
}

}  // namespace copse
