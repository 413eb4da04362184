// SPDX-License-Identifier: Apache-2.0
#include "graph/generate_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "support/exponential.hpp"

namespace copse {
namespace {

std::uint64_t scaled(std::uint64_t random, std::uint64_t bound) {
  return static_cast<std::uint64_t>(static_cast<Uint128>(random) * bound >> 64);
}

std::uint64_t square_root(std::uint64_t x) {  // floor
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x)));
  while (root > 0 && root > x / root) --root;
  while (root + 1 <= x / (root + 1)) ++root;
  return root;
}

}  // namespace

std::vector<EdgeChunk> clique_chunks(std::uint64_t first, std::uint64_t size, const Execution& execution) {
  const std::size_t rows_per_chunk = kEdgesPerChunk / std::max<std::uint64_t>(1, size) + 1;
  return make_chunks(
      size, execution,
      [&](std::size_t begin, std::size_t end, std::size_t, EdgeChunk& chunk) {
        for (std::uint64_t u = begin; u < end; ++u)
          for (std::uint64_t v = u + 1; v < size; ++v) add_edge(chunk, first + u, first + v);
      },
      rows_per_chunk);
}

void add_weights(std::vector<EdgeChunk>& chunks, double contrast, const Execution& execution) {
  if (contrast == 1) return;
  const double log_contrast = negative_log(1 / contrast);
  parallel_for(execution.threads, chunks.size(), [&](std::size_t c) {
    EdgeChunk& chunk = chunks[c];
    chunk.weight.resize(chunk.u.size());
    for (std::size_t i = 0; i < chunk.u.size(); ++i) {
      // Above 2^32, where no block of edges has its stream, because the larger of two nodes is at least 1.
      const std::uint64_t high = std::max(chunk.u[i], chunk.v[i]), low = std::min(chunk.u[i], chunk.v[i]);
      Stream stream{execution.seed, Purpose::generator, high << 32 | low};
      chunk.weight[i] = static_cast<Weight>(exponential_of(stream.uniform() * log_contrast));
    }
  });
}

Permutation::Permutation(std::uint64_t size, std::uint64_t seed, std::uint32_t index)
    : size_(size), rows_(square_root(size) + 1), columns_(size / rows_ + 1), seed_(seed), index_(index) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 16;
  constexpr std::uint64_t kFirstStream = std::uint64_t{1}
                                         << 31;  // behind any block of edges, before the weights
  if (size > kSmall) return;
  shuffled_.resize(size);
  std::iota(shuffled_.begin(), shuffled_.end(), 0U);
  Stream stream{seed, Purpose::generator, kFirstStream + index};
  for (std::uint64_t i = size; i > 1; --i) std::swap(shuffled_[i - 1], shuffled_[stream.below(i)]);
}

std::uint64_t Permutation::operator()(std::uint64_t i) const {
  if (!shuffled_.empty()) return shuffled_[i];
  do {  // The rectangle is hardly larger than the range: a value outside it is mapped again, rarely twice.
    std::uint64_t row = i / columns_, column = i % columns_;
    for (std::uint32_t round = 0; round < 6; ++round) {
      const bool is_even = round % 2 == 0;
      const std::uint64_t half = is_even ? column : row;
      // The low half of counter word 1 is free in Stream's numbering below 2^48 blocks: no stream meets
      // these.
      const auto words =
          philox4x32({static_cast<std::uint32_t>(half),
                      static_cast<std::uint32_t>(Purpose::generator) << 16 | (0xF000 + round),
                      static_cast<std::uint32_t>(half >> 32), index_},
                     {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
      const std::uint64_t random = std::uint64_t{words[0]} << 32 | words[1];
      if (is_even) {
        row += scaled(random, rows_);
        if (row >= rows_) row -= rows_;
      } else {
        column += scaled(random, columns_);
        if (column >= columns_) column -= columns_;
      }
    }
    i = row * columns_ + column;
  } while (i >= size_);
  return i;
}

EdgeEnds pair_at(std::uint64_t i) {
  // v (v - 1) / 2 <= i < v (v + 1) / 2
  const std::uint64_t root = square_root(2 * i);
  const std::uint64_t v = root * (root + 1) / 2 <= i ? root + 1 : root;
  return {i - v * (v - 1) / 2, v};
}

std::vector<std::string> two_sides() { return {"+1", "-1"}; }

GeneratorParameter contrast_parameter() {
  constexpr double kMost = 1e30;  // weights are floats
  return {"contrast", 1, "weights log-uniform between 1 and this; 1 makes no weights", 1, kMost, false};
}

void refuse(const std::string& family, const std::string& parameter, const std::string& problem,
            const std::string& remedy) {
  throw UsageError{family + " parameter " + parameter, problem, remedy};
}

}  // namespace copse
