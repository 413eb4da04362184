// SPDX-License-Identifier: Apache-2.0
#include "points/scan_keys.hpp"

#include "support/wide_registers.hpp"

// Each routine is compiled twice, for any x86-64 and for AVX2, from one body; the processor chooses. There is
// no fused multiply-add in either, so that both give the same bits.

namespace copse {
namespace {

constexpr std::size_t kAtOnce = 32;

template <bool has_others>
[[gnu::always_inline]] inline std::size_t scan_body(const KeyRow& row, std::size_t count,
                                                    std::uint32_t* hits) {
  const float* const products = row.products;
  const float* const norms = row.norms;
  const float* const others = row.others;
  const float norm = row.norm, own = row.own;
  std::size_t found = 0, begin = 0;
  const auto is_hit = [&](std::size_t c) {
    const float key = products[c] + (norm + norms[c]);
    if constexpr (has_others) return static_cast<int>(key < own) | static_cast<int>(key < others[c]);
    return static_cast<int>(key < own);
  };
  for (; begin + kAtOnce <= count; begin += kAtOnce) {
    int any = 0;
    for (std::size_t c = begin; c < begin + kAtOnce; ++c) any |= is_hit(c);
    if (any == 0) [[likely]]
      continue;
    for (std::size_t c = begin; c < begin + kAtOnce; ++c) {
      hits[found] = static_cast<std::uint32_t>(c);
      found += static_cast<std::size_t>(is_hit(c));
    }
  }
  for (; begin < count; ++begin) {
    hits[found] = static_cast<std::uint32_t>(begin);
    found += static_cast<std::size_t>(is_hit(begin));
  }
  return found;
}

// Sixteen partial sums, in two groups of eight, joined in one fixed order.
template <class Term>
[[gnu::always_inline]] inline float sum_body(const float* a, const float* b, std::size_t size, Term term) {
  constexpr std::size_t kLanes = 8;
  float first[kLanes] = {}, second[kLanes] = {};
  std::size_t t = 0;
  for (; t + 2 * kLanes <= size; t += 2 * kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) first[lane] += term(a[t + lane], b[t + lane]);
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      second[lane] += term(a[t + kLanes + lane], b[t + kLanes + lane]);
  }
  if (t < size)
    for (std::size_t lane = 0; lane < kLanes; ++lane) first[lane] += term(a[t + lane], b[t + lane]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) first[lane] += second[lane];
  for (std::size_t lane = 0; lane < 4; ++lane) first[lane] += first[lane + 4];
  return (first[0] + first[2]) + (first[1] + first[3]);
}

[[gnu::always_inline]] inline float distance_body(const float* a, const float* b, std::size_t size) {
  return sum_body(
      a, b, size, [](float x, float y) __attribute__((always_inline)) { return (x - y) * (x - y); });
}
[[gnu::always_inline]] inline float product_body(const float* a, const float* b, std::size_t size) {
  return -sum_body(
      a, b, size, [](float x, float y) __attribute__((always_inline)) { return x * y; });
}

// A register of eight floats where the processor has them, otherwise two of four.
typedef float Lanes __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(const float* from, Lanes& to) {
  __builtin_memcpy(&to, from, sizeof to);
}

// Products of one row with `count` rows b[0], b[size], ...: their sums side by side, each in sum_body's
// order.
template <std::size_t count>
[[gnu::always_inline]] inline void products_body(const float* a, const float* b, std::size_t size,
                                                 float* out) {
  constexpr std::size_t kLanes = 8;
  Lanes first[count] = {}, second[count] = {}, x, y;
  std::size_t t = 0;
  for (; t + 2 * kLanes <= size; t += 2 * kLanes) {
    load(a + t, x);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < count; ++j) {
      load(b + j * size + t, y);
      first[j] += x * y;
    }
    load(a + t + kLanes, x);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < count; ++j) {
      load(b + j * size + t + kLanes, y);
      second[j] += x * y;
    }
  }
  if (t < size) {
    load(a + t, x);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < count; ++j) {
      load(b + j * size + t, y);
      first[j] += x * y;
    }
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < count; ++j) {
    float sum[kLanes];
    first[j] += second[j];
    __builtin_memcpy(sum, &first[j], sizeof sum);
    for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += sum[lane + 4];
    out[j] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  }
}

// Four rows of b stay in the first cache while the rows of a pass by.
[[gnu::always_inline]] inline void block_body(const float* a, std::size_t num_a, const float* b,
                                              std::size_t num_b, std::size_t size, float* out,
                                              std::size_t out_stride) {
  constexpr std::size_t kAtATime = 4;
  std::size_t j = 0;
  for (; j + kAtATime <= num_b; j += kAtATime)
    for (std::size_t i = 0; i < num_a; ++i)
      products_body<kAtATime>(a + i * size, b + j * size, size, out + i * out_stride + j);
  for (; j < num_b; ++j)
    for (std::size_t i = 0; i < num_a; ++i)
      products_body<1>(a + i * size, b + j * size, size, out + i * out_stride + j);
}

struct Routines {
  std::size_t (*scan_both)(const KeyRow&, std::size_t, std::uint32_t*);
  std::size_t (*scan_own)(const KeyRow&, std::size_t, std::uint32_t*);
  float (*distance)(const float*, const float*, std::size_t);
  float (*product)(const float*, const float*, std::size_t);
  void (*products)(const float*, std::size_t, const float*, std::size_t, std::size_t, float*, std::size_t);
};

// NOLINTBEGIN(bugprone-macro-parentheses): attributes cannot stand in parentheses
#define COPSE_ROUTINES(name, attributes)                                                                \
  attributes std::size_t scan_both_##name(const KeyRow& r, std::size_t n, std::uint32_t* h) {           \
    return scan_body<true>(r, n, h);                                                                    \
  }                                                                                                     \
  attributes std::size_t scan_own_##name(const KeyRow& r, std::size_t n, std::uint32_t* h) {            \
    return scan_body<false>(r, n, h);                                                                   \
  }                                                                                                     \
  attributes float distance_##name(const float* a, const float* b, std::size_t n) {                     \
    return distance_body(a, b, n);                                                                      \
  }                                                                                                     \
  attributes float product_##name(const float* a, const float* b, std::size_t n) {                      \
    return product_body(a, b, n);                                                                       \
  }                                                                                                     \
  attributes void products_##name(const float* a, std::size_t num_a, const float* b, std::size_t num_b, \
                                  std::size_t size, float* out, std::size_t out_stride) {               \
    block_body(a, num_a, b, num_b, size, out, out_stride);                                              \
  }                                                                                                     \
  constexpr Routines name{scan_both_##name, scan_own_##name, distance_##name, product_##name,           \
                          products_##name};
// NOLINTEND(bugprone-macro-parentheses)

COPSE_ROUTINES(kAny, )
#if defined(__x86_64__)
COPSE_ROUTINES(kAvx2, __attribute__((target("avx2"))))
const Routines& routines = has_wide_registers() ? kAvx2 : kAny;
#else
const Routines& routines = kAny;
#endif
#undef COPSE_ROUTINES

}  // namespace

std::size_t scan_keys(const KeyRow& row, std::size_t count, std::uint32_t* hits) {
  return (row.others != nullptr ? routines.scan_both : routines.scan_own)(row, count, hits);
}
float squared_distance(const float* a, const float* b, std::size_t size) {
  return routines.distance(a, b, size);
}
float minus_product(const float* a, const float* b, std::size_t size) { return routines.product(a, b, size); }
void ordered_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b, std::size_t size,
                      float* out, std::size_t out_stride) {
  routines.products(a, num_a, b, num_b, size, out, out_stride);
}

}  // namespace copse
