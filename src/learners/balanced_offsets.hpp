// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace copse {

/// Offsets o such that, of the rows of `values` (classes a row), class c has the largest value + offset in
/// about a share shares[c] of them: the prices of an assignment with fixed volumes, found by raising the
/// price of classes that take too much (subgradient ascent on its concave dual). Values should be of the
/// order of 1. A class of share 0 is left out: its offset is minus infinity.
std::vector<double> balanced_offsets(std::span<const double> values, std::span<const double> shares);

}  // namespace copse
