// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "copse/graph/build.hpp"
#include "copse/graph/graph.hpp"
#include "support/byte_source.hpp"
#include "copse/support/error.hpp"
#include "copse/support/execution.hpp"
#include "io/formats.hpp"

// What the targets share. Bad input may throw copse::Error and nothing else: any other exception, a
// sanitizer's complaint or a broken promise of the graph that was read is a finding.

namespace copse::fuzz {

// A few bytes may honestly stand for many nodes without edges; building those proves nothing and is slow.
inline constexpr std::uint64_t kNodesWorthBuilding = std::uint64_t{1} << 16;

inline Execution two_threads() {
  Execution execution;
  execution.threads = 2;
  return execution;
}

/// Builds what a reader left and checks every promise of the result.
inline void build_and_check(ParsedEdges parsed) {
  if (parsed.num_nodes > kNodesWorthBuilding) return;
  const Graph graph = build_graph(parsed, {}, two_threads(), "fuzz");
  // An InputError from here would be a broken promise of ours, not bad input.
  try {
    check_graph(graph, "fuzz", 2);
  } catch (const Error&) {
    __builtin_trap();
  }
  if (parsed.names.size() != graph.num_nodes()) __builtin_trap();
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (parsed.names.find(parsed.names.name(u)) != u) __builtin_trap();
  }
}

template <class Read>
int run(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    ByteSource source = ByteSource::from_memory("fuzz", {reinterpret_cast<const char*>(data), size});
    read(source);
  } catch (const Error&) {
  }
  return 0;
}

}  // namespace copse::fuzz
