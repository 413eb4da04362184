// SPDX-License-Identifier: Apache-2.0
#include "trees/arrow_bits.hpp"

#include "support/wide_registers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace copse {
namespace {

#if defined(__x86_64__)

// Four blocks of Philox side by side. Each word lies in the low half of a lane of 64 bits, as multiplications
// want it; what they leave in the high halves is never looked at.
struct FourBlocks {
  __m256i word[4];
};

COPSE_WIDE_REGISTERS [[gnu::always_inline]] inline void do_round(FourBlocks& blocks, __m256i key0,
                                                                 __m256i key1) {
  auto& [word0, word1, word2, word3] = blocks.word;
  const __m256i a = _mm256_mul_epu32(word0, _mm256_set1_epi64x(0xD2511F53));
  const __m256i b = _mm256_mul_epu32(word2, _mm256_set1_epi64x(0xCD9E8D57));
  word0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(b, 32), word1), key0);
  word2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(a, 32), word3), key1);
  word1 = b;
  word3 = a;
}

COPSE_WIDE_REGISTERS [[gnu::always_inline]] inline void store_joined(__m256i high, __m256i low,
                                                                     std::uint64_t* out) {
  const __m256i joined =
      _mm256_or_si256(_mm256_slli_epi64(high, 32), _mm256_and_si256(low, _mm256_set1_epi64x(0xFFFFFFFF)));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), joined);
}

COPSE_WIDE_REGISTERS void philox_wide(NodeId first, std::array<std::uint32_t, 3> rest,
                                      std::array<std::uint32_t, 2> key, std::uint64_t* even,
                                      std::uint64_t* odd) {
  for (std::uint32_t i = 0; i < ArrowBits::kBlock; i += 8) {
    FourBlocks some, others;  // two chains of multiplications, that neither need wait
    for (int k = 1; k < 4; ++k)
      some.word[k] = others.word[k] = _mm256_set1_epi64x(static_cast<std::int64_t>(rest[k - 1]));
    some.word[0] = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(first + std::uint64_t{i})),
                                    _mm256_setr_epi64x(0, 1, 2, 3));
    others.word[0] = _mm256_add_epi64(some.word[0], _mm256_set1_epi64x(4));
    std::uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const __m256i keys0 = _mm256_set1_epi64x(key0), keys1 = _mm256_set1_epi64x(key1);
      do_round(some, keys0, keys1);
      do_round(others, keys0, keys1);
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    store_joined(some.word[0], some.word[1], even + i);
    store_joined(some.word[2], some.word[3], odd + i);
    store_joined(others.word[0], others.word[1], even + i + 4);
    store_joined(others.word[2], others.word[3], odd + i + 4);
  }
}

#endif

}  // namespace

void ArrowBits::of_block(NodeId first, std::uint32_t pair, std::span<std::uint64_t, kBlock> even,
                         std::span<std::uint64_t, kBlock> odd) const {
#if defined(__x86_64__)
  if (has_wide_registers())
    return philox_wide(first, {pair, tree_[0], tree_[1]}, key_, even.data(), odd.data());
#endif
  for (std::uint32_t i = 0; i < kBlock; ++i) {
    const auto bits = of(first + i, pair);
    even[i] = bits[0];
    odd[i] = bits[1];
  }
}

}  // namespace copse
