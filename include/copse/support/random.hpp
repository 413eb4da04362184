// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace copse {

__extension__ using Uint128 = unsigned __int128;  // GCC and Clang both have it; ISO C++ does not

/// Philox 4x32-10 (Salmon, Moraes, Dror & Shaw, SC 2011): 128 random bits as a pure function of a
/// 128-bit counter and a 64-bit key.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// What a stream of random numbers is for. Two uses never share numbers, whoever runs them.
/// The values are part of what a seed means: append, never renumber.
enum class Purpose : std::uint16_t {
  spanning_tree = 1,
  edge_key = 2,
  split = 3,
  online_order = 4,
  generator = 5,
  root_choice = 6,
  label_noise = 7,
  test = 8,
  block_tree = 9,
  line_layout = 10,
  walk_starts = 11,
  laplacian_factor = 12,
  neighbor_sample = 15,
  resistance_projection = 16,
  cut_ties = 17,
  fit_order = 18,
  query = 19,
  adversary = 20,
  neighbor_cells = 21,
  neighbor_calibration = 22,
  algebraic_connectivity = 23,
  rooted_forest = 24,
  spectral_start = 25,
};

/// A sequence of random numbers that is a pure function of (seed, purpose, index): tree 7 is the same
/// on one thread or on 64. Cheap to make, 40 bytes, no allocation.
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint64_t index)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        counter_{0, static_cast<std::uint32_t>(purpose) << 16, static_cast<std::uint32_t>(index),
                 static_cast<std::uint32_t>(index >> 32)} {}

  std::uint32_t next32() {
    if (used_ == 4) {
      block_ = philox4x32(counter_, key_);
      if (++counter_[0] == 0) ++counter_[1];  // 2^48 blocks before a stream could meet another purpose
      used_ = 0;
    }
    return block_[used_++];
  }
  std::uint64_t next64() {
    const std::uint64_t high = next32();
    return high << 32 | next32();
  }

  /// Uniform in [0, 1), 53 bits. Ours, because standard distributions differ between libraries.
  double uniform() { return static_cast<double>(next64() >> 11) * 0x1p-53; }

  /// Uniform in {0, ..., bound - 1}, exactly: Lemire's multiplication with rejection. bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    for (;;) {
      const auto product = static_cast<Uint128>(next64()) * bound;
      const auto low = static_cast<std::uint64_t>(product);
      if (low >= bound || low >= (-bound) % bound) return static_cast<std::uint64_t>(product >> 64);
    }
  }

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

/// Many random bits for one hot loop, at a tenth of the price of a Stream, from which it is seeded:
/// xoshiro256++ (Blackman & Vigna 2021). A sequence that only one thread reads in an order that does not
/// depend on the machine needs no counter.
class FastStream {
 public:
  explicit FastStream(const std::array<std::uint64_t, 4>& state) : state_(state) {}
  FastStream(std::uint64_t seed, Purpose purpose, std::uint64_t index) {
    Stream stream(seed, purpose, index);
    for (std::uint64_t& word : state_) word = stream.next64();
    state_[0] |= 1;  // all zeros would stay zeros
  }

  std::uint64_t next64() {
    const std::uint64_t bits = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return bits;
  }

 private:
  std::array<std::uint64_t, 4> state_;
};

/// -ln(u) for u in (0, 1]: an exponential variable from a uniform one. Written out instead of calling
/// std::log, whose last bit depends on the C library and the processor; relative error below 4e-16 away
/// from u = 1, and bit-identical everywhere.
double negative_log(double u);

/// Standard exponential variable.
inline double exponential(Stream& stream) { return negative_log(1.0 - stream.uniform()); }

}  // namespace copse
