// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/labels.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "graph/hash_index.hpp"

namespace copse {

Label ClassNames::find(std::string_view name) const {
  if (slots_.empty()) return kNoLabel;
  const std::uint64_t mask = slots_.size() - 1;
  for (std::uint64_t i = hash_text(name) & mask; slots_[i] != 0; i = (i + 1) & mask)
    if (names_[slots_[i] - 1] == name) return static_cast<Label>(slots_[i] - 1);
  return kNoLabel;
}

Label ClassNames::intern(std::string_view name) {
  const Label known = find(name);
  if (known != kNoLabel) return known;
  check_name(name, "labels");
  if (names_.size() >= kMaxClasses)
    throw InputError{"labels", "label " + quoted(name) + " is one class too many",
                     "copse knows up to " + with_commas(kMaxClasses) + " classes"};
  names_.emplace_back(name);
  // At the most half full; slots hold index + 1.
  const bool has_room = 2 * names_.size() <= slots_.size();
  if (!has_room) slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), 0);
  const std::uint64_t mask = slots_.size() - 1;
  for (std::size_t index = has_room ? names_.size() - 1 : 0; index < names_.size(); ++index) {
    std::uint64_t i = hash_text(names_[index]) & mask;
    while (slots_[i] != 0) i = (i + 1) & mask;
    slots_[i] = static_cast<std::uint32_t>(index + 1);
  }
  return static_cast<Label>(names_.size() - 1);
}

std::uint64_t Labels::num_labelled() const {
  return of_node.size() - static_cast<std::uint64_t>(std::count(of_node.begin(), of_node.end(), kNoLabel));
}

}  // namespace copse
