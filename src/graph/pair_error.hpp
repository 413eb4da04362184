// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "copse/graph/types.hpp"
#include "copse/support/error.hpp"

namespace copse {

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

}  // namespace copse
