// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/prior.hpp"

namespace copse {

Label ClassPrior::favourite() const {
  if (total_ == 0) return kNoLabel;
  Label best = 0;
  for (Label c = 1, end = static_cast<Label>(counts_.size()); c < end; ++c) {
    if (prefers(c, best)) best = c;
  }
  return best;
}

}  // namespace copse
