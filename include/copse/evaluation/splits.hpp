// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// Which labelled nodes are given to the learner; the others' labels are hidden and scored.
struct Split {
  std::vector<NodeId> train, test;  // ascending
};

/// `fraction` of the labelled nodes, at random: a pure function of (seed, index). At least one node is
/// given and one hidden where there are two. UsageError unless 0 < fraction < 1 and two are labelled.
Split random_split(std::span<const Label> labels, double fraction, std::uint64_t seed, std::uint64_t index);

/// The same within each class, every class with at least one given node (and one hidden where it has two).
/// UsageError if every class has but one node, so that nothing would be hidden.
Split stratified_split(std::span<const Label> labels, double fraction, std::uint64_t seed,
                       std::uint64_t index);

/// `per_class` nodes of each class given, but always one of its nodes hidden: all but one where it has no
/// more. UsageError if per_class is 0 or nothing could be given.
Split per_class_split(std::span<const Label> labels, std::uint64_t per_class, std::uint64_t seed,
                      std::uint64_t index);

/// A random order of the labelled nodes, for the online game.
std::vector<NodeId> random_order(std::span<const Label> labels, std::uint64_t seed, std::uint64_t index);

}  // namespace copse
