// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/labels.hpp"

#include <algorithm>

#include "copse/support/error.hpp"

namespace copse {

Label ClassNames::find(std::string_view name) const {
  const auto found = labels_.find(name);
  return found == labels_.end() ? kNoLabel : found->second;
}

Label ClassNames::intern(std::string_view name) {
  const Label known = find(name);
  if (known != kNoLabel) return known;
  check_name(name, "labels");
  if (names_.size() >= kMaxClasses)
    throw InputError{"labels", "label " + quoted(name) + " is one class too many",
                     "copse knows up to " + with_commas(kMaxClasses) + " classes"};
  const auto label = static_cast<Label>(names_.size());
  names_.emplace_back(name);
  labels_.emplace(name, label);
  return label;
}

void MultiLabels::add_up(std::span<const double> of_sets, std::span<double> of_classes) const {
  std::ranges::fill(of_classes, 0.0);
  for (std::size_t set = 0; set < std::min(sets.size(), of_sets.size()); ++set)
    for (const Label label : sets[set]) of_classes[label] += of_sets[set];
}

std::uint64_t Labels::num_labelled() const {
  return of_node.size() - static_cast<std::uint64_t>(std::count(of_node.begin(), of_node.end(), kNoLabel));
}

}  // namespace copse
