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
    return Point{below_prime(), below_prime() << 3, below_prime() << 3};
  }();
  return point;
}

}  // namespace copse
