// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "graph/generate_parts.hpp"

namespace copse {
namespace {

/// Two classes on a random graph that knows nothing of them: only the signs of its edges do, positive inside
/// a class and negative between the two, and some of them are wrong. Magnitudes alone are worth nothing here.
GeneratedGraph make_signed_blocks(const std::vector<double>& values, const Execution& execution) {
  const auto n = static_cast<std::uint64_t>(values[0]);
  const double degree = values[1], noise = values[2];
  const std::uint64_t num_pairs = n * (n - 1) / 2;
  const auto m = static_cast<std::uint64_t>(std::llround(static_cast<double>(n) * degree / 2));
  if (m > num_pairs)
    refuse("signed_blocks", "degree",
           "a mean degree of " + std::to_string(degree) + " needs more pairs than there are",
           "at most " + std::to_string(n - 1));
  const Permutation places(n, execution.seed, 0), pairs(num_pairs, execution.seed, 1);
  const auto class_of = [&](std::uint64_t u) { return static_cast<Label>(places(u) >= (n + 1) / 2); };
  auto chunks =
      make_chunks(m, execution, [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t i = begin; i < end; ++i) {
          const NodePair pair = pair_at(pairs(i));
          add_edge(chunk, pair.u, pair.v);
          Stream stream{execution.seed, Purpose::generator, pair.v << 32 | pair.u};
          const bool is_wrong = stream.uniform() < noise;
          chunk.weight.push_back((class_of(pair.u) == class_of(pair.v)) != is_wrong ? Weight{1} : Weight{-1});
        }
      });
  return finish(std::move(chunks), n, two_sides(), class_of, execution, true);
}

}  // namespace

std::vector<GeneratorRow> signed_generators() {
  return {
      {"signed_blocks",
       "two classes on a random graph, edges positive inside a class and negative between the two, some with "
       "the wrong sign; the labels are the classes",
       {{"nodes", 10'000, "nodes", 2, kMostGeneratedNodes},
        {"degree", 8, "mean number of neighbours", 0, 1e6, false},
        {"noise", 0.1, "share of the edges whose sign is wrong", 0, 1, false}},
       make_signed_blocks},
  };
}

}  // namespace copse
