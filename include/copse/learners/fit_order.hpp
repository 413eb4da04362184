// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// The order in which `fit` tells a set of labels to a learner that depends on the order: at random, by the
/// seed alone. Files often list one class after the other, and a learner that is corrected by its mistakes
/// should not hear all of one class first.
inline std::vector<NodeId> fit_order(std::span<const Label> labels, std::uint64_t seed) {
  std::vector<NodeId> order;
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) order.push_back(node);
  Stream stream(seed, Purpose::fit_order, 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

}  // namespace copse
