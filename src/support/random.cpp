// SPDX-License-Identifier: Apache-2.0
#include "copse/support/random.hpp"

#include <bit>

namespace copse {

double negative_log(double u) {
  // u = m * 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716,
  // whose series needs ten terms for double precision.
  constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  const auto bits = std::bit_cast<std::uint64_t>(u);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > 0x1.6a09e667f3bcdp0) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 0;
  for (int k = 10; k >= 1; --k) series = (series + 1.0 / (2 * k + 1)) * s2;
  const double log_m = 2 * s + 2 * s * series;
  return -(exponent * kLn2High) - (log_m + exponent * kLn2Low);
}

}  // namespace copse
