// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "laplacian/quotient_pattern.hpp"

namespace copse {

/// An order of elimination that fills little: order[step] = group. Groups with at most two neighbours go
/// first, one after the other, which takes chains and trees apart at once; the rest in the order of
/// approximate minimum degree (Amestoy, Davis & Duff 1996, as Eigen has it). Empty when there is more than
/// that can number.
std::vector<NodeId> fill_reducing_order(const QuotientPattern& pattern, const Execution& execution = {});

}  // namespace copse
