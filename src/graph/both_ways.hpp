// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "copse/graph/types.hpp"

namespace copse {

/// Whether arcs stand in both directions, each edge as often from one end as from the other and with the same
/// weights: a test in one pass over the arcs in any order, without memory, that nobody can aim at.
///
/// An arc of smaller end a, larger end b and weight bits w is the factor r + s a + t b + w of a product
/// modulo the prime p = 2^61 - 1, one product for the arcs up and one for those down. As polynomials in r, s
/// and t the two are the same only if their factors are (the factors are irreducible, and different arcs have
/// different ones). If they are not, they agree at a random point with probability m / p at most, m being the
/// arcs of the more frequent direction (Schwartz 1980, Zippel 1979): below 2^-37 for 10^7 edges. The point is
/// drawn by the operating system once for a process, so that whoever writes a file cannot know it. (A sum of
/// hashes has no such bound: where the hash is linear in anything, four arcs cancel whatever the key is.)
class BothWays {
 public:
  BothWays() : point_(random_point()) {}

  /// What all arcs from `u` share.
  struct Row {
    NodeId u;
    std::uint64_t by_way[2];  // r + t u for arcs down, r + s u for arcs up
  };
  Row row(NodeId u) const { return {u, {point_.r + times(point_.t8, u), point_.r + times(point_.s8, u)}}; }

  void add(const Row& row, NodeId v, std::uint32_t weight_bits) {
    const bool is_up = row.u < v;  // by chance: no branch
    const std::uint64_t factor = times(is_up ? point_.t8 : point_.s8, v) + row.by_way[is_up] + weight_bits;
    std::uint64_t& part = parts_[v % kParts][is_up];
    part = product(part, factor);
  }
  void add(NodeId u, NodeId v, std::uint32_t weight_bits) { add(row(u), v, weight_bits); }
  void add(const BothWays& other) {
    for (std::size_t i = 0; i < kParts; ++i)
      for (std::size_t way = 0; way < 2; ++way)
        parts_[i][way] = product(parts_[i][way], other.parts_[i][way]);
  }

  bool agree() const {
    std::uint64_t all[2] = {1, 1};
    for (const auto& part : parts_)
      for (std::size_t way = 0; way < 2; ++way) all[way] = product(all[way], part[way]);
    return all[0] % kPrime == all[1] % kPrime;
  }

 private:
  __extension__ using Product = unsigned __int128;
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
  static constexpr std::size_t kParts = 4;  // products that do not wait for each other

  struct Point {
    std::uint64_t r, s8, t8;  // below the prime; eight times s and t, which are
  };
  // Not a Stream: those are for results, which no key may change, and anybody can compute them.
  static const Point& random_point() {
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

  /// k u modulo the prime, from 8 k; not more than 2^32 above it. The high word is k u / 2^61.
  static std::uint64_t times(std::uint64_t k8, NodeId u) {
    const Product whole = Product{k8} * u;
    return static_cast<std::uint64_t>(whole >> 64) + (static_cast<std::uint64_t>(whole) >> 3);
  }
  /// Modulo the prime, at most 7 above it. One of the two at most that, the other below 2^63.
  static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    const Product whole = Product{a} * b;
    const auto low = static_cast<std::uint64_t>(whole), high = static_cast<std::uint64_t>(whole >> 64);
    const std::uint64_t once = (low & kPrime) + (low >> 61) + (high << 3);
    return (once & kPrime) + (once >> 61);
  }

  Point point_;
  std::uint64_t parts_[kParts][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
};

}  // namespace copse
