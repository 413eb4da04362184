// SPDX-License-Identifier: Apache-2.0
#include "trees/row_choice.hpp"

#include <algorithm>

#include "support/wide_registers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace copse {
namespace {

constexpr std::uint32_t kLeastFours = RowChoice::kLeastRead / 4;

std::uint32_t num_fours(std::uint32_t size) { return RowChoice::num_read(size) / 4; }

/// Running sums of the weights, and how many of them do not exceed a number.
class PlainSums {
 public:
  PlainSums(const Weight* weights, std::uint32_t size, double before) : num_fours_(num_fours(size)) {
    total_ = before;
    for (std::uint32_t first = 0; first < 4 * num_fours_; first += 4) {
      double w[4];
      for (std::uint32_t i = 0; i < 4; ++i) w[i] = first + i < size ? double{weights[first + i]} : 0.0;
      const double two = w[0] + w[1], four = two + (w[2] + w[3]);
      after_[first] = total_ + w[0];
      after_[first + 1] = total_ + two;
      after_[first + 2] = total_ + (two + w[2]);
      after_[first + 3] = total_ + four;
      total_ += four;
    }
  }
  double total() const { return total_; }
  std::uint32_t num_up_to(double wanted) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < 4 * num_fours_; ++i) count += after_[i] <= wanted;
    return count;
  }

 private:
  std::uint32_t num_fours_;
  double total_;
  double after_[RowChoice::kMostInPart];
};

void choose_in_row(const Weight* weights, std::uint32_t size, const std::uint64_t* bits, std::uint32_t count,
                   std::uint32_t* places) {
  const PlainSums sums(weights, size, 0);
  for (std::uint32_t k = 0; k < count; ++k)
    places[k] = std::min(sums.num_up_to(RowChoice::uniform(bits[k]) * sums.total()), size - 1);
}

bool is_for_us(EdgeIndex degree) { return degree != 0 && degree <= RowChoice::kMost; }

void choose_in_rows(const Weight* weights, const EdgeIndex* offsets, std::uint32_t num_rows,
                    const std::uint64_t* bits, std::uint32_t count, std::uint32_t* places) {
  for (std::uint32_t i = 0; i < num_rows; ++i) {
    const EdgeIndex degree = offsets[i + 1] - offsets[i];
    if (is_for_us(degree))
      choose_in_row(weights + offsets[i], static_cast<std::uint32_t>(degree), bits + std::size_t{i} * count,
                    count, places + std::size_t{i} * count);
  }
}

std::uint32_t choose_in_part(const Weight* weights, std::uint32_t size, double before, double wanted) {
  return std::min(PlainSums(weights, size, before).num_up_to(wanted), size - 1);
}

#if defined(__x86_64__)

#define COPSE_INLINE_WIDE COPSE_WIDE_REGISTERS [[gnu::always_inline]] inline

// The same sums in the same order, four at a time. The first fours stay in registers, and as no row has
// fewer, few processors' guesses at the length of a row are wrong.
COPSE_INLINE_WIDE __m256d sum_four(const Weight* weights, std::uint32_t first, __m128i size, __m256d& total) {
  const __m128i place = _mm_add_epi32(_mm_set1_epi32(static_cast<int>(first)), _mm_setr_epi32(0, 1, 2, 3));
  const __m128 four =
      _mm_and_ps(_mm_loadu_ps(weights + first), _mm_castsi128_ps(_mm_cmpgt_epi32(size, place)));
  const __m256d w = _mm256_cvtps_pd(four);
  const __m256d twos = _mm256_add_pd(w, _mm256_unpacklo_pd(_mm256_setzero_pd(), w));  // w0, w0+w1, w2, w2+w3
  const __m256d first_two = _mm256_permute2f128_pd(twos, twos, 0x08);                 // 0, 0, w0, w0+w1
  const __m256d running = _mm256_add_pd(twos, _mm256_unpackhi_pd(first_two, first_two));
  const __m256d after = _mm256_add_pd(total, running);
  total = _mm256_add_pd(total, _mm256_permute4x64_pd(running, 0xff));
  return after;
}

struct WideSums {
  __m256d after[RowChoice::kMostInPart / 4];
  std::uint32_t num_fours;
  double total;
};

COPSE_INLINE_WIDE void sum_row(const Weight* weights, std::uint32_t size, double before, WideSums& sums) {
  sums.num_fours = (size + 3) / 4;
  const __m128i sizes = _mm_set1_epi32(static_cast<int>(size));
  __m256d total = _mm256_set1_pd(before);
#pragma GCC unroll 4
  for (std::uint32_t k = 0; k < kLeastFours; ++k) sums.after[k] = sum_four(weights, 4 * k, sizes, total);
  for (std::uint32_t k = kLeastFours; k < sums.num_fours; ++k)
    sums.after[k] = sum_four(weights, 4 * k, sizes, total);
  sums.total = _mm256_cvtsd_f64(total);
}

COPSE_INLINE_WIDE std::uint32_t num_up_to(const WideSums& sums, double number) {
  const __m256d wanted = _mm256_set1_pd(number);
  __m256i counts = _mm256_setzero_si256();  // a comparison that holds gives -1
#pragma GCC unroll 4
  for (std::uint32_t k = 0; k < kLeastFours; ++k)
    counts = _mm256_sub_epi64(counts, _mm256_castpd_si256(_mm256_cmp_pd(sums.after[k], wanted, _CMP_LE_OQ)));
  for (std::uint32_t k = kLeastFours; k < sums.num_fours; ++k)
    counts = _mm256_sub_epi64(counts, _mm256_castpd_si256(_mm256_cmp_pd(sums.after[k], wanted, _CMP_LE_OQ)));
  const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))));
}

COPSE_INLINE_WIDE void choose_wide(const Weight* weights, std::uint32_t size, const std::uint64_t* bits,
                                   std::uint32_t count, std::uint32_t* places) {
  WideSums sums;
  sum_row(weights, size, 0, sums);
  for (std::uint32_t k = 0; k < count; ++k)
    places[k] = std::min(num_up_to(sums, RowChoice::uniform(bits[k]) * sums.total), size - 1);
}

COPSE_WIDE_REGISTERS void choose_in_row_wide(const Weight* weights, std::uint32_t size,
                                             const std::uint64_t* bits, std::uint32_t count,
                                             std::uint32_t* places) {
  choose_wide(weights, size, bits, count, places);
}

COPSE_WIDE_REGISTERS void choose_in_rows_wide(const Weight* weights, const EdgeIndex* offsets,
                                              std::uint32_t num_rows, const std::uint64_t* bits,
                                              std::uint32_t count, std::uint32_t* places) {
  for (std::uint32_t i = 0; i < num_rows; ++i, bits += count, places += count) {
    const EdgeIndex degree = offsets[i + 1] - offsets[i];
    if (is_for_us(degree))
      choose_wide(weights + offsets[i], static_cast<std::uint32_t>(degree), bits, count, places);
  }
}

COPSE_WIDE_REGISTERS std::uint32_t choose_in_part_wide(const Weight* weights, std::uint32_t size,
                                                       double before, double wanted) {
  WideSums sums;
  sum_row(weights, size, before, sums);
  return std::min(num_up_to(sums, wanted), size - 1);
}

constexpr RowChoice kWide{choose_in_row_wide, choose_in_rows_wide, choose_in_part_wide};

#undef COPSE_INLINE_WIDE
#else
constexpr RowChoice kWide{choose_in_row, choose_in_rows, choose_in_part};
#endif

}  // namespace

constexpr RowChoice RowChoice::kAnyProcessor{choose_in_row, choose_in_rows, choose_in_part};

const RowChoice& RowChoice::best() { return has_wide_registers() ? kWide : kAnyProcessor; }

}  // namespace copse
