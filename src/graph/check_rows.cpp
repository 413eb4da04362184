// SPDX-License-Identifier: Apache-2.0
#include "graph/check_rows.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "copse/support/parallel.hpp"
#include "support/simd.hpp"

#if defined(__x86_64__)
#if !defined(__clang__)  // bug 105593: GCC 12's own intrinsics
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <cpuid.h>
#include <immintrin.h>
#define COPSE_CIPHERS [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,vaes")]]
#endif

namespace copse {
namespace {

constexpr auto kInfinity = std::bit_cast<std::uint32_t>(std::numeric_limits<Weight>::infinity());
constexpr EdgeIndex kArcsAtOnce = EdgeIndex{1} << 16;

// The bits of numbers > 0 order like these; nothing else is below infinity.
bool are_weight_bits(std::uint32_t bits) { return bits - 1 < kInfinity - 1; }

#if defined(__x86_64__)

constexpr std::size_t kRounds = 10, kLanes = 16, kOwnersAtOnce = 2048;

bool has_ciphers() {
  static const bool has_vaes = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & bit_VAES) != 0;
  }();
  return has_vaes && detail::register_bytes() == 64;
}

// Four blocks of 128 bits in each of four registers, side by side: one alone would wait for each round.
struct Ciphers {
  __m512i keys[kRounds + 1];
  __m512i sum;

  COPSE_CIPHERS [[gnu::always_inline]] explicit Ciphers(const std::uint32_t* words)
      : sum(_mm512_setzero_si512()) {
    for (std::size_t round = 0; round <= kRounds; ++round)
      keys[round] =
          _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + 4 * round)));
  }

  // Sixteen arcs and their bits; adds where `up` is set, subtracts elsewhere, leaves out what is not `valid`.
  COPSE_CIPHERS [[gnu::always_inline]] void add(__m512i low, __m512i high, __m512i weights, __m512i signs,
                                                __mmask16 up, __mmask16 valid) {
    const __m512i ends[2] = {_mm512_unpacklo_epi32(low, high), _mm512_unpackhi_epi32(low, high)};
    const __m512i bits[2] = {_mm512_unpacklo_epi32(weights, signs), _mm512_unpackhi_epi32(weights, signs)};
    __m512i blocks[4] = {_mm512_unpacklo_epi64(ends[0], bits[0]), _mm512_unpackhi_epi64(ends[0], bits[0]),
                         _mm512_unpacklo_epi64(ends[1], bits[1]), _mm512_unpackhi_epi64(ends[1], bits[1])};
    for (__m512i& block : blocks) block = _mm512_xor_si512(block, keys[0]);
    for (std::size_t round = 1; round < kRounds; ++round)
      for (__m512i& block : blocks) block = _mm512_aesenc_epi128(block, keys[round]);
    for (__m512i& block : blocks) block = _mm512_aesenclast_epi128(block, keys[kRounds]);
    // Block b holds arcs b, b + 4, b + 8 and b + 12.
    const __m512i down = _mm512_movm_epi32(static_cast<__mmask16>(~up));
    const __m512i downs[4] = {
        _mm512_shuffle_epi32(down, _MM_PERM_AAAA), _mm512_shuffle_epi32(down, _MM_PERM_BBBB),
        _mm512_shuffle_epi32(down, _MM_PERM_CCCC), _mm512_shuffle_epi32(down, _MM_PERM_DDDD)};
    if (valid != 0xFFFF) {
      const __m512i there = _mm512_movm_epi32(valid);
      blocks[0] = _mm512_and_si512(blocks[0], _mm512_shuffle_epi32(there, _MM_PERM_AAAA));
      blocks[1] = _mm512_and_si512(blocks[1], _mm512_shuffle_epi32(there, _MM_PERM_BBBB));
      blocks[2] = _mm512_and_si512(blocks[2], _mm512_shuffle_epi32(there, _MM_PERM_CCCC));
      blocks[3] = _mm512_and_si512(blocks[3], _mm512_shuffle_epi32(there, _MM_PERM_DDDD));
    }
    for (int b = 0; b < 4; ++b)  // -x is ~x + 1
      sum = _mm512_add_epi64(sum, _mm512_sub_epi64(_mm512_xor_si512(blocks[b], downs[b]), downs[b]));
  }
};

// Rows, neighbours and bits of some arcs, and what came before them.
struct Arcs {
  const NodeId *owners, *neighbors;
  const Weight* weights;          // or null
  const std::uint64_t* negative;  // or null
  EdgeIndex first;                // a multiple of 16
  NodeId num_nodes;
  __m512i last_owner, last_neighbor;

  // Whether any is wrong.
  COPSE_CIPHERS [[gnu::always_inline]] __mmask16 add_to(Ciphers& ciphers, std::size_t i, __mmask16 valid) {
    const __m512i zero = _mm512_setzero_si512();
    _mm_prefetch(neighbors + i + RowChecker::kArcsAhead, _MM_HINT_T1);
    const __m512i u = _mm512_maskz_loadu_epi32(valid, owners + i);
    const __m512i v = _mm512_maskz_loadu_epi32(valid, neighbors + i);
    const __m512i u_before = _mm512_alignr_epi32(u, last_owner, kLanes - 1);
    const __m512i v_before = _mm512_alignr_epi32(v, last_neighbor, kLanes - 1);
    last_owner = u;
    last_neighbor = v;
    __mmask16 bad = _mm512_mask_cmple_epu32_mask(_mm512_cmpeq_epi32_mask(u, u_before), v, v_before);
    bad |= _mm512_cmpeq_epi32_mask(u, v);
    bad |= _mm512_cmpge_epu32_mask(v, _mm512_set1_epi32(static_cast<int>(num_nodes)));
    __m512i weight_bits = zero, sign_bits = zero;
    if (weights != nullptr) {
      _mm_prefetch(weights + i + RowChecker::kArcsAhead, _MM_HINT_T1);
      weight_bits = _mm512_maskz_loadu_epi32(valid, weights + i);
      bad |= _mm512_cmpge_epu32_mask(_mm512_sub_epi32(weight_bits, _mm512_set1_epi32(1)),
                                     _mm512_set1_epi32(kInfinity - 1));
    }
    if (negative != nullptr) {
      const EdgeIndex arc = first + i;
      const auto signs = static_cast<__mmask16>(negative[arc / 64] >> arc % 64);
      sign_bits = _mm512_maskz_set1_epi32(signs & valid, 1);
    }
    ciphers.add(_mm512_min_epu32(u, v), _mm512_max_epu32(u, v), weight_bits, sign_bits,
                _mm512_cmplt_epu32_mask(u, v), valid);
    return bad & valid;
  }
};

#else
bool has_ciphers() { return false; }
#endif

}  // namespace

RowChecker::RowChecker(const GraphView& graph) : graph_(graph) {
  if (!has_ciphers()) {
    words_.emplace(graph.num_nodes(), graph.is_weighted() || graph.is_signed());
    return;
  }
  std::random_device device;
  for (std::uint32_t& word : round_keys_) word = device();
}

// The row that the arc stands in.
NodeId RowChecker::row_of(EdgeIndex arc) const {
  const auto after = std::upper_bound(graph_.offsets.begin(), graph_.offsets.end(), arc);
  return static_cast<NodeId>(after - graph_.offsets.begin() - 1);
}

bool RowChecker::is_arc_bad(EdgeIndex arc, NodeId row) const {
  const NodeId neighbor = graph_.neighbors[arc];
  return neighbor >= graph_.num_nodes() || neighbor == row ||
         (arc > graph_.offsets[row] && neighbor <= graph_.neighbors[arc - 1]) ||
         (graph_.is_weighted() && !are_weight_bits(std::bit_cast<std::uint32_t>(graph_.weights[arc])));
}

void RowChecker::check(EdgeIndex begin, EdgeIndex end, Part& part) const {
  if (begin == end || part.bad_row != kNoNode) return;
  if (words_ ? check_words(begin, end, part) : check_ciphers(begin, end, part)) return;
  NodeId row = row_of(begin);
  EdgeIndex arc = begin;
  while (!is_arc_bad(arc, row))
    for (++arc; arc == graph_.offsets[row + std::size_t{1}];) ++row;
  part.bad_row = row;
}

bool RowChecker::check_words(EdgeIndex begin, EdgeIndex end, Part& part) const {
  const bool has_bits = graph_.is_weighted() || graph_.is_signed();
  bool is_wrong = false;
  EdgeIndex arc = begin;
  for (NodeId u = row_of(begin); arc < end; ++u) {
    const EdgeIndex last = std::min(graph_.offsets[u + std::size_t{1}], end);
    std::uint64_t down = 0, up = 0, least = 0;  // least: what may stand next
    if (arc > graph_.offsets[u]) least = std::uint64_t{graph_.neighbors[arc - 1]} + 1;
    for (; arc < last; ++arc) {
      const NodeId v = graph_.neighbors[arc];
      is_wrong |= v < least || v >= graph_.num_nodes() || v == u;
      least = std::uint64_t{v} + 1;
      std::uint64_t word = words_->end(v, v > u);
      if (has_bits) {
        std::uint32_t bits = 0;
        if (graph_.is_weighted()) {
          bits = std::bit_cast<std::uint32_t>(graph_.weights[arc]);
          is_wrong |= !are_weight_bits(bits);
        }
        if (graph_.is_signed()) bits |= static_cast<std::uint32_t>(graph_.is_negative(arc)) << 31;
        word *= words_->bits(bits);
      }
      (v > u ? up : down) += word;
    }
    part.sums[0] += words_->end(u, false) * up - words_->end(u, true) * down;
  }
  return !is_wrong;
}

#if defined(__x86_64__)
COPSE_CIPHERS bool RowChecker::check_ciphers(EdgeIndex begin, EdgeIndex end, Part& part) const {
  alignas(64) NodeId owners[kOwnersAtOnce + 2 * kLanes];
  Ciphers ciphers(round_keys_.data());
  const EdgeIndex* const offsets = graph_.offsets.data();
  NodeId row = row_of(begin);
  const bool is_inside = begin > offsets[row];
  Arcs arcs{owners,
            graph_.neighbors.data() + begin,
            graph_.is_weighted() ? graph_.weights.data() + begin : nullptr,
            graph_.is_signed() ? graph_.negative.data() : nullptr,
            begin,
            graph_.num_nodes(),
            _mm512_set1_epi32(static_cast<int>(is_inside ? row : kNoNode)),
            _mm512_set1_epi32(is_inside ? static_cast<int>(graph_.neighbors[begin - 1]) : 0)};
  __mmask16 bad = 0;
  while (begin < end) {
    const std::size_t count = std::min<EdgeIndex>(kOwnersAtOnce, end - begin);
    for (std::size_t i = 0;; ++row) {
      const std::size_t last = std::min<EdgeIndex>(offsets[row + std::size_t{1}] - begin, count);
      const __m512i owner = _mm512_set1_epi32(static_cast<int>(row));
      do {  // most rows are short
        _mm512_storeu_si512(owners + i, owner);
        _mm512_storeu_si512(owners + i + kLanes, owner);
        i += 2 * kLanes;
      } while (i < last);
      i = last;
      if (i == count) break;
    }
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) bad |= arcs.add_to(ciphers, i, 0xFFFF);
    if (i < count) bad |= arcs.add_to(ciphers, i, static_cast<__mmask16>((1U << (count - i)) - 1));
    begin += count;
    arcs.first += count;
    arcs.neighbors += count;
    if (arcs.weights != nullptr) arcs.weights += count;
  }
  std::uint64_t sums[8];
  _mm512_storeu_si512(sums, ciphers.sum);
  for (std::size_t s = 0; s < 8; ++s) part.sums[s % 2] += sums[s];
  return bad == 0;
}
#else
bool RowChecker::check_ciphers(EdgeIndex, EdgeIndex, Part&) const { return false; }  // never called
#endif

RowCheck RowChecker::sum(std::span<const Part> parts) {
  std::array<std::uint64_t, 2> sums{};
  for (const Part& part : parts) {
    if (part.bad_row != kNoNode) return {part.bad_row, true};
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += part.sums[s];
  }
  return {kNoNode, sums[0] == 0 && sums[1] == 0};
}

RowCheck check_rows(const GraphView& graph, int threads) {
  const RowChecker checker(graph);
  std::vector<RowChecker::Part> parts((graph.num_arcs() + kArcsAtOnce - 1) / kArcsAtOnce);
  parallel_blocks(threads, graph.num_arcs(), kArcsAtOnce,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    checker.check(begin, end, parts[block]);
                  });
  return RowChecker::sum(parts);
}

}  // namespace copse

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
