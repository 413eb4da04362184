// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "copse/support/parallel.hpp"

namespace copse {

/// meet(i, i) for every i in [0, count), then meet(i, j) for every pair i < j, each once, in rounds by the
/// circle method: one stays, the others move round; with an odd number one sits out. Meetings that run at the
/// same time share nobody, so that both sides may be written to without locks; the rounds are the same for
/// any number of threads.
template <class Meet>
void round_robin(std::uint64_t count, const Execution& execution, const Meet& meet) {
  parallel_for(execution.threads, count, [&](std::size_t i) { meet(i, i); });
  const std::uint64_t seats = count + count % 2, moving = seats - 1;
  for (std::uint64_t round = 0; seats > 1 && round < moving; ++round) {
    execution.report("neighbours", round, moving);
    parallel_for(execution.threads, seats / 2, [&](std::size_t pair) {
      const std::uint64_t a = (round + pair) % moving;
      const std::uint64_t b = pair == 0 ? moving : (round + moving - pair) % moving;
      if (a < count && b < count) meet(std::min(a, b), std::max(a, b));
    });
  }
}

}  // namespace copse
