// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "copse/graph/graph.hpp"
#include "copse/support/error.hpp"

// A negative edge says that its ends differ, and with two classes that says which label the other end has.
// With more it would not: signed graphs know the classes 0 and 1, both of them from the start.

namespace copse {

inline constexpr std::size_t kSignedClasses = 2;

/// The label as it is seen from the other side: the other class. kNoLabel stays.
inline Label turned(Label label, bool is_other_side) {
  return is_other_side && label != kNoLabel ? static_cast<Label>(1 - label) : label;
}

/// Before a label of a signed graph is learned.
inline void check_signed_label(Label label) {
  if (label < kSignedClasses) return;
  throw UsageError{
      "label", "a third class on a graph with negative edges",
      "a negative edge speaks about two classes: label one of them against the rest, or take the "
      "graph without its negative edges"};
}

/// Before a batch on a signed graph.
inline void check_signed_classes(std::size_t num_classes) {
  if (num_classes == kSignedClasses || num_classes == 0) return;
  if (num_classes == 1)
    throw InputError{"labels", "there is one class only, and the graph has negative edges",
                     "a negative edge leads to the other class, which needs a name: label a node of it"};
  throw InputError{"labels",
                   "there are " + with_commas(num_classes) + " classes, and the graph has negative edges",
                   "a negative edge speaks about two classes: label one of them against the rest, or "
                   "take the graph without its negative edges"};
}

/// Learners that take signs by way of the double cover.
inline constexpr const char* kUseRegistry =
    "learner_row(name).make and .fit work on the graph's double cover, which has none";

/// For learners that know nothing of signs.
inline constexpr const char* kRefusesSigns = "the graph has negative edges, which it cannot use";
inline void refuse_signs(const GraphView& graph, const std::string& who, const std::string& remedy) {
  if (graph.is_signed()) throw UsageError{who, kRefusesSigns, remedy};
}

}  // namespace copse
