// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/support/error.hpp"
#include "graph/integer_ids.hpp"

namespace copse {

/// Some edges of a list, in columns. No weights where the list has none.
struct EdgeColumns {
  const NodeId *u = nullptr, *v = nullptr;
  const Weight* weight = nullptr;
  std::size_t size = 0;
};

/// A pair of nodes that cannot be merged. A type of its own, because build_graph knows nodes by number
/// only and a reader that catches it can say the user's ids instead.
class PairError : public InputError {
 public:
  /// The problem reads "nodes U and V <complaint>".
  PairError(const std::string& where, NodeId u_, NodeId v_, const std::string& complaint_,
            const std::string& remedy)
      : InputError(where, text(std::to_string(u_), std::to_string(v_), complaint_), remedy),
        u(u_),
        v(v_),
        complaint(complaint_) {}

  InputError with_names(const std::string& name_u, const std::string& name_v) const {
    return InputError{where(), text(name_u, name_v, complaint), remedy()};
  }

  NodeId u, v;
  std::string complaint;

 private:
  static std::string text(const std::string& a, const std::string& b, const std::string& complaint) {
    return "nodes " + a + " and " + b + " " + complaint;
  }
};

/// Takes the edges of a list while it is being read and makes the graph in the end: between the two they lie
/// in buckets only, and no list is ever in memory.
class EdgeCollector {
 public:
  static std::unique_ptr<EdgeCollector> make(bool has_weights, std::uint64_t expected_edges);
  /// A list that is in memory already, whose ids are below `num_ids`; it is freed on the way.
  static std::unique_ptr<EdgeCollector> of(std::vector<EdgeChunk> chunks, std::uint64_t num_ids,
                                           const Execution& execution);
  virtual ~EdgeCollector() = default;

  /// Ids are at most `largest_id`.
  virtual void add(std::span<const EdgeColumns> pieces, NodeId largest_id, const Execution& execution) = 0;
  virtual void mark_ids(SeenIds& seen, const Execution& execution) const = 0;
  /// Replaces ids by their ranks at once. For ids that lie thinly, or far from 0: rows that do not exist
  /// would cost build() time.
  virtual void number_now(const SeenIds& seen, std::uint64_t num_nodes) = 0;
  /// Asks for the number of every id in the order of the list and puts it in its place; false, and nothing is
  /// asked, where edges have left their order behind.
  virtual bool renumber(const std::function<NodeId(NodeId)>&) { return false; }
  /// Once. Ids are nodes, or `seen` numbers them.
  virtual Graph build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
                      const Execution& execution, const std::string& where, BuildReport& report) = 0;
};

}  // namespace copse
