// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "copse/support/execution.hpp"

namespace copse {

/// Number of processors this process may use: what the CLI and Python take as the default for threads.
int available_threads();

/// Who runs a loop: so many threads, or those of an Execution, before each step of whose loops it is asked
/// whether to go on: Cancelled where not.
class Workers {
 public:
  Workers(int threads) : execution_{.threads = threads} {}        // NOLINT: a number says it all
  Workers(const Execution& execution) : execution_(execution) {}  // NOLINT
  int threads() const { return execution_.threads; }
  void throw_if_cancelled() const { execution_.throw_if_cancelled(); }

 private:
  Execution execution_;
};

namespace detail {
void parallel_for(int threads, std::size_t count, void (*call)(const void*, std::size_t), const void* body);
}

/// body(i) for i in [0, count), in no order. A body writes only its own slot; the first exception thrown
/// stops the loop and is rethrown. Nothing else in copse mentions threads.
template <class Body>
void parallel_for(const Workers& workers, std::size_t count, Body&& body) {
  const auto step = [&](std::size_t i) {
    workers.throw_if_cancelled();
    body(i);
  };
  detail::parallel_for(
      workers.threads(), count, [](const void* s, std::size_t i) { (*static_cast<decltype(step)*>(s))(i); },
      &step);
}

/// body(begin, end, block) over fixed consecutive blocks of [0, count): the blocks depend on count and
/// block_size only, never on the number of threads.
template <class Body>
void parallel_blocks(const Workers& workers, std::size_t count, std::size_t block_size, Body&& body) {
  const std::size_t blocks = (count + block_size - 1) / block_size;
  parallel_for(workers, blocks, [&](std::size_t block) {
    const std::size_t begin = block * block_size;
    body(begin, begin + block_size < count ? begin + block_size : count, block);
  });
}

/// Combines partial(begin, end) over fixed blocks in block order: bit-equal on any number of threads.
template <class T, class Partial, class Combine>
T deterministic_reduce(const Workers& workers, std::size_t count, T initial, Partial&& partial,
                       Combine&& combine, std::size_t block_size = std::size_t{1} << 16) {
  static_assert(!std::is_same_v<T, bool>, "blocks of a vector<bool> share bytes: reduce a char");
  std::vector<T> partials((count + block_size - 1) / block_size, initial);
  parallel_blocks(workers, count, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    partials[block] = partial(begin, end);
  });
  for (const T& value : partials) initial = combine(initial, value);
  return initial;
}

}  // namespace copse
