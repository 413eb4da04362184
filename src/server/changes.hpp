// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/served_graph.hpp"

namespace copse::server {

/// Who asks to change something, and by which key: the same key again changes nothing.
struct Caller {
  std::string who;
  std::string key;         // made up by the server where the client sent none
  bool is_own_key = true;  // sent by the client: it may have been seen before
};

// What Change::prepare does for each kind of request: checks it against the state, and says which events to
// store. HttpErrors say what is wrong with it.
using Prepared = Change::Prepared;
Prepared prepare_label(GraphState& state, const EventStore& store, const Caller& caller,
                       const std::string& node, const std::string& label,
                       std::optional<std::uint64_t> expected_version);
Prepared prepare_retract(GraphState& state, const EventStore& store, const Caller& caller,
                         const std::string& node);
Prepared prepare_undo(GraphState& state, const EventStore& store, const Caller& caller);
Prepared prepare_skip(GraphState& state, const EventStore& store, const Caller& caller,
                      const std::string& node, const std::string& reason);

struct LabelLine {
  std::uint64_t line;
  std::string node, label;
};
struct Rejected {
  std::uint64_t line;
  std::string what;
};
/// All of them or, with any in `rejected`, none.
Prepared prepare_labels(GraphState& state, const EventStore& store, const Caller& caller,
                        const std::vector<LabelLine>& lines, std::vector<Rejected>& rejected);

inline constexpr std::size_t kMostLabelBytes = 1024, kMostNameBytes = 256;

}  // namespace copse::server
