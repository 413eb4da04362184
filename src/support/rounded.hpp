// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace copse {

/// The nearest integer to a value of at least 0, halves upwards. std::llround has no 128 bits, and costs a
/// call.
template <class Integer>
Integer rounded(double value) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): what goes wrong goes wrong below 0
  return static_cast<Integer>(value + 0.5);
}

}  // namespace copse
