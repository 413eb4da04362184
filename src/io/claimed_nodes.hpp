// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace copse {

/// A node without edges costs memory but no byte of a file. More of them than this, beyond what the entries
/// could ever connect, is taken for damage rather than allocated.
inline bool claims_too_many_nodes(std::uint64_t num_nodes, std::uint64_t num_entries) {
  constexpr std::uint64_t kFreeNodes = std::uint64_t{1} << 24, kNodesPerEntry = 1024;
  return num_nodes > kFreeNodes && num_nodes / kNodesPerEntry > num_entries;
}

}  // namespace copse
