// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "copse/graph/types.hpp"

namespace copse::server {

/// Who is asked about which node: one node per person, for some time, so that nobody is asked what somebody
/// else is thinking about. The clock is the caller's, and must not go backwards.
class Leases {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Lease {
    NodeId node;
    Time until;
  };
  explicit Leases(std::chrono::seconds duration) : duration_(duration) {}

  /// The node that the person was asked about and has not answered.
  std::optional<NodeId> held_by(std::uint32_t who, Time now) const {
    const auto found = leases_.find(who);
    return found == leases_.end() || found->second.until <= now ? std::nullopt
                                                                : std::optional(found->second.node);
  }
  /// Persons other than `who` who are asked about `node` now.
  std::size_t num_others(NodeId node, std::uint32_t who, Time now) const {
    return count([&](std::uint32_t person, const Lease& lease) {
      return person != who && lease.node == node && lease.until > now;
    });
  }
  std::size_t num_held(Time now) const {
    return count([&](std::uint32_t, const Lease& lease) { return lease.until > now; });
  }
  void take(std::uint32_t who, NodeId node, Time now) { take(who, {node, now + duration_}); }  // or renew
  void take(std::uint32_t who, const Lease& lease) { leases_.insert_or_assign(who, lease); }
  void release(std::uint32_t who) { leases_.erase(who); }
  const std::unordered_map<std::uint32_t, Lease>& all() const { return leases_; }

 private:
  template <class Holds>
  std::size_t count(Holds&& holds) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(leases_, [&](const auto& one) { return holds(one.first, one.second); }));
  }

  std::chrono::seconds duration_;
  std::unordered_map<std::uint32_t, Lease> leases_;  // by person: people are few
};

}  // namespace copse::server
