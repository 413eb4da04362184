// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>

// The one way to write SIMD. A kernel is a struct whose call operator is always inlined and is a template
// over the bytes of a register; run_kernel compiles it for any processor (16 bytes: SSE2, NEON) and, on x86,
// for AVX2 (32 bytes), and the processor chooses when the program runs; for AVX-512 (64 bytes) if the kernel
// says kWidest, which only those do that spend their time on products of registers:
//
//   struct Doubled {
//     template <std::size_t register_bytes>
//     [[gnu::always_inline]] void operator()(float* values, std::size_t count) const {
//       for (std::size_t i = 0; i < count; ++i) values[i] *= 2;
//     }
//   };
//   run_kernel(Doubled{}, values, count);
//
// A plain loop, as above, is enough where the compiler vectorizes it. Where sums have to stay in registers
// (GCC 12 keeps an array of them in memory, 14 times slower), write them as Register<float, register_bytes>
// and use + - * on whole registers, load_lanes() and store_lanes(). What a kernel calls is marked
// always_inline too, lambdas included.
//
// The same bits on every processor: nothing is fused (-ffp-contract=off), and no sum is split over the lanes
// of a register; lanes hold sums of their own. Tests compare the two with NarrowRegisters.
//
// Google Highway would do the same through a shared library and files that are compiled once per target; it
// was no faster where that was measured (docs/architecture.md).

#if defined(__x86_64__)
#define COPSE_WIDE_REGISTERS [[gnu::target("avx2")]]
#define COPSE_WIDEST_REGISTERS [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]]
#else
#define COPSE_WIDE_REGISTERS
#define COPSE_WIDEST_REGISTERS
#endif

namespace copse {
namespace detail {

/// 16 with COPSE_NARROW_REGISTERS in the environment: tests/cli/determinism_test.py compares.
inline std::size_t& register_bytes() {
  static std::size_t bytes = [] {
#if defined(__x86_64__)
    if (std::getenv("COPSE_NARROW_REGISTERS") != nullptr || !__builtin_cpu_supports("avx2")) return 16;
    const bool is_widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return is_widest ? 64 : 32;
#else
    return 16;
#endif
  }();
  return bytes;
}

template <class T, std::size_t bytes>
struct RegisterOf {
  typedef T Type __attribute__((vector_size(bytes)));
};

template <class Kernel, class... Arguments>
COPSE_WIDE_REGISTERS auto run_wide(const Kernel& kernel, Arguments... arguments) {
  return kernel.template operator()<32>(arguments...);
}

template <class Kernel, class... Arguments>
COPSE_WIDEST_REGISTERS auto run_widest(const Kernel& kernel, Arguments... arguments) {
  return kernel.template operator()<64>(arguments...);
}

}  // namespace detail

/// While one lives, kernels run as on a processor whose registers have so many bytes at most: for tests, of
/// one thread.
class NarrowRegisters {
 public:
  explicit NarrowRegisters(std::size_t bytes = 16) : before_(detail::register_bytes()) {
    if (bytes < before_) detail::register_bytes() = bytes;
  }
  ~NarrowRegisters() { detail::register_bytes() = before_; }
  NarrowRegisters(const NarrowRegisters&) = delete;
  NarrowRegisters& operator=(const NarrowRegisters&) = delete;

 private:
  std::size_t before_;
};

template <class T, std::size_t bytes>
using Register = typename detail::RegisterOf<T, bytes>::Type;

// Anywhere in memory. By reference: a function that returns a wide register has another ABI with AVX2 than
// without.
template <class T, class Lanes>
[[gnu::always_inline]] inline void load_lanes(const T* from, Lanes& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class T, class Lanes>
[[gnu::always_inline]] inline void store_lanes(const Lanes& from, T* to) {
  __builtin_memcpy(to, &from, sizeof from);
}

template <class Kernel, class... Arguments>
auto run_kernel(const Kernel& kernel, Arguments... arguments) {
  const std::size_t bytes = detail::register_bytes();
  if constexpr (requires { Kernel::kWidest; })
    if (bytes == 64) return detail::run_widest(kernel, arguments...);
  if (bytes >= 32) return detail::run_wide(kernel, arguments...);
  return kernel.template operator()<16>(arguments...);
}

}  // namespace copse
