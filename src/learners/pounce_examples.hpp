// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "copse/learners/pounce.hpp"
#include "copse/trees/spanning_forest.hpp"
#include "learners/line_resistance.hpp"

namespace copse {

/// The examples that Pounce has stored, with effective resistances as distances, and its functions
/// w = sum of beta (v_t - v_s), v_i the columns of L^+ (those of the graph, not scaled).
class PounceExamples {
 public:
  virtual ~PounceExamples() = default;

  /// A stored example, numbered in the order of storing; or, on a signed graph, its mirror image, which is of
  /// the other class and where functions have the other sign.
  struct Stored {
    std::uint32_t number = 0;
    NodeId node = kNoNode;
    double sign = 1;  // -1 for the mirror image
  };

  /// The stored example nearest to `node`, of several as near the oldest; none if its component has none. A
  /// node that is stored is nearest to itself.
  virtual std::optional<Stored> nearest(NodeId node) const = 0;
  virtual double value(std::size_t column, NodeId node) const = 0;

  /// Makes v_t - v_s ready for `add` (v_t + v_s for a mirror image) and returns the resistance between t,
  /// which is not stored, and s.
  virtual double prepare(NodeId t, const Stored& s) = 0;
  virtual void add(std::size_t column, double amount) = 0;
  /// Stores an example at `node`; right after `prepare` for it there is no solve.
  virtual void store(NodeId node) = 0;

  virtual std::size_t add_column(double factor) = 0;  // as of KernelOperator
  virtual void clear() = 0;
  /// From scratch. Thread-safe.
  virtual double resistance(NodeId node, const Stored& example) const = 0;
  virtual std::string note() const { return ""; }
  virtual bool is_signed() const { return false; }
};

std::unique_ptr<PounceExamples> examples_on_graph(const GraphView& graph, const PounceOptions& options,
                                                  const Execution& execution);
std::unique_ptr<PounceExamples> examples_on_tree(const SpanningForest& forest, const ResistanceScale& scale);

/// Bytes per node, on a tree.
std::uint64_t tree_examples_bytes(std::size_t columns);

}  // namespace copse
