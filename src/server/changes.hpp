// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/service.hpp"

namespace copse::server {

/// Who asks to change something, and by which key: the same key again changes nothing.
struct Caller {
  std::string who;
  std::string key;         // made up by the server where the client sent none
  bool is_own_key = true;  // sent by the client: it may have been seen before
};

struct LabelLine {
  std::uint64_t line;
  std::string node, label;
};
struct Rejected {
  std::uint64_t line;
  std::string what;
};

// What Change::prepare does for each kind of request: checks it against the state, and says which events to
// store. HttpErrors say what is wrong with it.
using Prepared = Change::Prepared;
using Prepare = Change::Prepare;
Prepare to_label(Caller caller, std::string node, std::string label,
                 std::optional<std::uint64_t> expected_version);
Prepare to_retract(Caller caller, std::string node);
Prepare to_undo(Caller caller);
Prepare to_skip(Caller caller, std::string node, std::string reason);
/// All of them or, with any in `rejected`, none.
Prepare to_label_all(Caller caller, std::vector<LabelLine> lines,
                     std::shared_ptr<std::vector<Rejected>> rejected);

/// Who calls, by the key that the request carries.
Caller caller_of(const Call& call);
/// Stores what `prepare` says and answers with what `show` makes of it.
void store(const Call& call, const Reply& reply, Prepare prepare, std::function<Json(const Prepared&)> show);

inline constexpr std::size_t kMostLabelBytes = 1024, kMostNameBytes = 256;

}  // namespace copse::server
