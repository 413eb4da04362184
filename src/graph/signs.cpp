// SPDX-License-Identifier: Apache-2.0
#include "graph/signs.hpp"

#include <algorithm>
#include <cmath>

#include "copse/graph/graph.hpp"
#include "copse/support/parallel.hpp"

namespace copse {

Buffer<std::uint64_t> take_signs(Buffer<Weight>& weights, int threads) {
  struct Facts {
    bool has_negative = false, are_all_one = true;
  };
  const EdgeIndex num_arcs = weights.size();
  Buffer<std::uint64_t> negative(num_sign_words(num_arcs));
  const Facts facts = deterministic_reduce(
      threads, negative.size(), Facts{},
      [&](std::size_t begin, std::size_t end) {
        Facts part;
        for (std::size_t word = begin; word < end; ++word) {
          std::uint64_t bits = 0;
          const EdgeIndex last = std::min<EdgeIndex>(64 * word + 64, num_arcs);
          for (EdgeIndex arc = 64 * word; arc < last; ++arc) {
            bits |= static_cast<std::uint64_t>(std::signbit(weights[arc])) << (arc % 64);
            weights[arc] = std::fabs(weights[arc]);
            part.are_all_one &= weights[arc] == 1;
          }
          negative[word] = bits;
          part.has_negative |= bits != 0;
        }
        return part;
      },
      [](const Facts& a, const Facts& b) {
        return Facts{a.has_negative || b.has_negative, a.are_all_one && b.are_all_one};
      },
      std::size_t{1} << 12);
  if (!facts.has_negative) return {};
  if (facts.are_all_one) weights = {};
  return negative;
}

}  // namespace copse
