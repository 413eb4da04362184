// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/names.hpp"

namespace copse::cli {

/// Single-character changes (and swaps of neighbours) between two words.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a mistyped word, if one is near enough to be meant; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Up to `limit` names of nodes near a name that the graph does not have, nearest first. O(n).
std::vector<std::string> nearest_names(std::string_view name, const NodeNames& names, std::size_t limit);

}  // namespace copse::cli
