// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace copse {

/// e^x for x <= 709, relative error below 1e-15 where the result is a normal double. Written out because the
/// last bit of std::exp depends on the C library (docs/architecture.md, "the same seed, the same bits").
inline double exponential_of(double x) {
  if (x < -745) return 0;
  constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;  // their sum is ln 2
  const double power = std::floor(x * 1.4426950408889634 + 0.5);
  const double rest = (x - power * kLog2High) - power * kLog2Low;  // |rest| <= ln 2 / 2
  double sum = 1;
  for (int term = 14; term > 0; --term) sum = 1 + sum * (rest / term);
  return std::ldexp(sum, static_cast<int>(power));
}

/// The natural logarithm of x > 0, relative error below 1e-15, for the same reason: x = 2^power m with m near
/// 1, and ln m = 2 artanh((m - 1) / (m + 1)).
inline double logarithm_of(double x) {
  int power = 0;
  double m = std::frexp(x, &power);
  if (m < 0.70710678118654752) {
    m *= 2;
    --power;
  }
  const double s = (m - 1) / (m + 1), square = s * s;  // |s| <= 0.172
  double sum = 0;
  for (int term = 23; term > 0; term -= 2) sum = sum * square + 1.0 / term;
  return power * 0.693147180559945309 + 2 * s * sum;
}

}  // namespace copse
