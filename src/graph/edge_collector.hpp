// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "copse/graph/build.hpp"
#include "graph/edge_buckets.hpp"
#include "graph/seen_ids.hpp"

namespace copse {

/// Takes the edges of a list while it is being read and makes the graph in the end: between the two they lie
/// in buckets only, and no list is ever in memory.
class EdgeCollector {
 public:
  static std::unique_ptr<EdgeCollector> make(bool has_weights, std::uint64_t expected_edges);
  virtual ~EdgeCollector() = default;

  /// Ids are at most `largest_id`.
  virtual void add(std::span<const EdgeColumns> pieces, NodeId largest_id, const Execution& execution) = 0;
  virtual void mark_ids(SeenIds& seen, const Execution& execution) const = 0;
  /// Replaces ids by their ranks at once. For ids that lie thinly, or far from 0: rows that do not exist
  /// would cost build() time.
  virtual void number_now(const SeenIds& seen, std::uint64_t num_nodes) = 0;
  /// Once. Ids are nodes, or `seen` numbers them.
  virtual Graph build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
                      const Execution& execution, const std::string& where, BuildReport& report) = 0;
};

}  // namespace copse
