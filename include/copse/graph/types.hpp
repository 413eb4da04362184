// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace copse {

// The one place where these are chosen.
using NodeId = std::uint32_t;     // dense, 0-based, in the order the graph's builder gave them
using EdgeIndex = std::uint64_t;  // position in the adjacency arrays
using Weight = float;             // stored; every sum and comparison of sums is double or exact integer
using Label = std::uint16_t;      // index of a class

inline constexpr NodeId kNoNode = std::numeric_limits<NodeId>::max();
inline constexpr Label kNoLabel = std::numeric_limits<Label>::max();  // unlabelled, or no answer
inline constexpr std::uint64_t kMaxNodes = kNoNode;
inline constexpr std::uint64_t kMaxClasses = kNoLabel;

}  // namespace copse
