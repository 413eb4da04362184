// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  explicit Leases(std::chrono::seconds duration) : duration_(duration) {}

  /// The node that the person was asked about and has not answered.
  std::optional<NodeId> held_by(std::uint32_t who, Time now) const;
  /// Persons other than `who` who are asked about `node` now.
  std::size_t num_others(NodeId node, std::uint32_t who, Time now) const;
  void take(std::uint32_t who, NodeId node, Time now);  // or renew
  void release(std::uint32_t who) { leases_.erase(who); }
  std::size_t num_held(Time now) const;

  struct Lease {
    NodeId node;
    Time until;
  };
  const std::unordered_map<std::uint32_t, Lease>& all() const { return leases_; }
  void take(std::uint32_t who, const Lease& lease) { leases_.insert_or_assign(who, lease); }

 private:
  std::chrono::seconds duration_;
  std::unordered_map<std::uint32_t, Lease> leases_;  // by person: people are few
};

}  // namespace copse::server
