// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// Each of n nodes is labelled with the probability `share`, by a class drawn at random.
inline std::vector<Label> some_labels(NodeId n, int num_classes, double share, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels) {
    if (static_cast<double>(random() % 1000) < share * 1000)
      label = static_cast<Label>(random() % static_cast<unsigned>(num_classes));
  }
  return labels;
}

}  // namespace copse
