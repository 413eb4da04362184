// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

// What the benchmarks share: a clock, medians, and command-line values of the form --name value.

namespace bench {

template <class Body>
double seconds(Body&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Processor seconds of this thread: what a neighbour on the same machine does to the clock does not count.
template <class Body>
double cpu_seconds(Body&& body) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  body();
  return now() - begin;
}

/// Median processor seconds of `repeats` timings of body(i), after one untimed warm-up body(repeats).
template <class Body>
double median_seconds(int repeats, Body&& body) {
  body(repeats);
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) times.push_back(cpu_seconds([&] { body(i); }));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

inline std::string argument(int argc, char** argv, const std::string& name, const std::string& fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == "--" + name) return argv[i + 1];
  }
  return fallback;
}

inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong answer, not timed: %s\n", what);
  std::exit(1);
}

/// Keeps a computed value from being optimized away.
inline void keep(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

}  // namespace bench
