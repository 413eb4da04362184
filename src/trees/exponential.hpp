// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace copse {

/// e^x for x <= 0, relative error below 1e-15. Written out because the last bit of std::exp depends on the C
/// library: x = k ln 2 + r with |r| <= ln(2)/2, and Taylor's series for e^r, whose 14th term is below 1e-17.
inline double exp_of_negative(double x) {
  if (x < -745) return 0;
  const double k = std::nearbyint(x * 1.4426950408889634);
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;  // ln 2 in two parts
  double sum = 1;
  for (int term = 13; term > 0; --term) sum = 1 + r / term * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

}  // namespace copse
