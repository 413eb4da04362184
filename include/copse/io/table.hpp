// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace copse {

/// What a user says about a table of text; the rest is found out from its first lines (docs/formats.md).
struct TableOptions {
  char delimiter = 0;      // '\t', ',', ';', '|', or ' ' for runs of blanks; 0: found out
  bool no_header = false;  // the first line is data, whatever it looks like
  /// Which column is what: ("source", "account_a"). Roles are source, target and weight of an edge list, node
  /// and label of a file of labels; a column is given by its name, or counted from 1; "" is none of them.
  std::vector<std::pair<std::string, std::string>> columns;

  /// The column that is told for a role.
  std::optional<std::string> column(std::string_view role) const {
    for (const auto& [name, column] : columns)
      if (name == role) return column;
    return std::nullopt;
  }
};

}  // namespace copse
