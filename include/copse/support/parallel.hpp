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

namespace detail {
void parallel_for(int threads, std::size_t count, void (*call)(void*, std::size_t), void* body);
}

/// body(i) for i in [0, count) on up to `threads` threads, in no order. A body writes only its own slot;
/// the first exception thrown stops the loop and is rethrown. Nothing else in copse mentions threads.
template <class Body>
void parallel_for(int threads, std::size_t count, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::parallel_for(
      threads, count, [](void* b, std::size_t i) { (*static_cast<Plain*>(b))(i); },
      const_cast<std::remove_const_t<Plain>*>(&body));
}

/// body(begin, end, block) over fixed consecutive blocks of [0, count): the blocks depend on count and
/// block_size only, never on the number of threads.
template <class Body>
void parallel_blocks(int threads, std::size_t count, std::size_t block_size, Body&& body) {
  const std::size_t blocks = (count + block_size - 1) / block_size;
  parallel_for(threads, blocks, [&](std::size_t block) {
    const std::size_t begin = block * block_size;
    body(begin, begin + block_size < count ? begin + block_size : count, block);
  });
}

/// The same on execution.threads, and each block asks first whether to go on: Cancelled where not.
template <class Body>
void parallel_blocks(const Execution& execution, std::size_t count, std::size_t block_size, Body&& body) {
  parallel_blocks(execution.threads, count, block_size,
                  [&](std::size_t begin, std::size_t end, std::size_t block) {
                    execution.throw_if_cancelled();
                    body(begin, end, block);
                  });
}

/// Combines partial(begin, end) over fixed blocks in block order: bit-equal on any number of threads.
template <class T, class Partial, class Combine>
T deterministic_reduce(int threads, std::size_t count, T initial, Partial&& partial, Combine&& combine,
                       std::size_t block_size = std::size_t{1} << 16) {
  static_assert(!std::is_same_v<T, bool>, "blocks of a vector<bool> share bytes: reduce a char");
  std::vector<T> partials((count + block_size - 1) / block_size, initial);
  parallel_blocks(threads, count, block_size, [&](std::size_t begin, std::size_t end, std::size_t block) {
    partials[block] = partial(begin, end);
  });
  for (const T& value : partials) initial = combine(initial, value);
  return initial;
}

/// The same on execution.threads, and each block asks first whether to go on: Cancelled where not.
template <class T, class Partial, class Combine>
T deterministic_reduce(const Execution& execution, std::size_t count, T initial, Partial&& partial,
                       Combine&& combine, std::size_t block_size = std::size_t{1} << 16) {
  return deterministic_reduce(
      execution.threads, count, std::move(initial),
      [&](std::size_t begin, std::size_t end) {
        execution.throw_if_cancelled();
        return partial(begin, end);
      },
      combine, block_size);
}

}  // namespace copse
