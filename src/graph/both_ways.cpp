// SPDX-License-Identifier: Apache-2.0
#include "graph/both_ways.hpp"

#include <random>

namespace copse {

// Not a Stream: those are for results, which no key may change, and anybody can compute them.
const BothWays::Point& BothWays::random_point() {
  static const Point point = [] {
    std::random_device device;
    const auto below_prime = [&] {
      for (;;) {
        const std::uint64_t bits = (std::uint64_t{device()} << 32 | device()) >> 3;
        if (bits < kPrime) return bits;
      }
    };
    Point drawn{below_prime(), below_prime(), below_prime(), 0, 0};
    drawn.s8 = drawn.s << 3;
    drawn.t8 = drawn.t << 3;
    return drawn;
  }();
  return point;
}

}  // namespace copse
