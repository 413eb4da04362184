// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "copse/learners/committee_options.hpp"

namespace copse {

/// b in the kernel L^+ + b 11' + c I of Herbster & Pontil 2006, eq. 10: a number, or one of two that follow
/// the graph.
struct KernelBias {
  enum class Kind {
    number,
    per_square,  // 1/n^2 for the n nodes of a component: (L + 11')^-1, GPA of Cesa-Bianchi et al. 2013
    resistance_diameter,  // the largest effective resistance (Herbster 2008)
  };
  Kind kind = Kind::number;
  double number = 1;

  static constexpr const char* kType = "number|1/n2|resistance_diameter";
  static KernelBias from_text(const std::string& where, const std::string& text);
  std::string text() const;
};

/// Whether a kernel is that of the whole graph or of spanning trees.
enum class KernelOn { graph, tree };

template <class Options>
Field on_choice(KernelOn Options::*member) {
  return choice("on", member, "learn on the whole graph, or on spanning trees that vote",
                {{"graph", KernelOn::graph}, {"tree", KernelOn::tree}});
}

/// How many kernel columns of 4 bytes a node to keep: what the option says, and where that is -1 what fits
/// 1 GiB.
inline std::size_t columns_to_keep(int max_columns, std::uint64_t num_nodes) {
  constexpr std::uint64_t kFloatsThatFit = std::uint64_t{1} << 28;
  if (max_columns >= 0) return static_cast<std::size_t>(max_columns);
  return static_cast<std::size_t>(num_nodes == 0 ? 0 : kFloatsThatFit / num_nodes);
}

}  // namespace copse
