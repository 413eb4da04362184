// SPDX-License-Identifier: Apache-2.0
#include "server/leases.hpp"

#include <algorithm>

namespace copse::server {

std::optional<NodeId> Leases::held_by(std::uint32_t who, Time now) const {
  const auto found = leases_.find(who);
  return found == leases_.end() || found->second.until <= now ? std::nullopt
                                                              : std::optional(found->second.node);
}

std::size_t Leases::num_others(NodeId node, std::uint32_t who, Time now) const {
  return static_cast<std::size_t>(std::ranges::count_if(leases_, [&](const auto& lease) {
    return lease.first != who && lease.second.node == node && lease.second.until > now;
  }));
}

void Leases::take(std::uint32_t who, NodeId node, Time now) {
  leases_.insert_or_assign(who, Lease{node, now + duration_});
}

std::size_t Leases::num_held(Time now) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(leases_, [&](const auto& lease) { return lease.second.until > now; }));
}

}  // namespace copse::server
