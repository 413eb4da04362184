// SPDX-License-Identifier: Apache-2.0
#include "copse/support/parallel.hpp"

#include <sys/mman.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <new>
#include <optional>
#include <stdexcept>

#ifdef __SANITIZE_THREAD__
#include <exception>
#include <mutex>
#include <thread>
#endif

namespace copse {

int available_threads() { return tbb::info::default_concurrency(); }

namespace detail {

#ifdef __SANITIZE_THREAD__
// TBB as packaged is not instrumented, so its own hand-overs look like races to the thread sanitizer. Plain
// threads run the loop there: it is our bodies that are under test.
void parallel_for(int threads, std::size_t count, void (*call)(const void*, std::size_t), const void* body) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        call(body, i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads && static_cast<std::size_t>(t) < count; ++t) others.emplace_back(work);
  work();
  others.clear();
  if (error) std::rethrow_exception(error);
}
#else
namespace {

// TBB makes threads from threads of its own, where nobody can catch what it throws if there is no room for a
// stack: so we look before it does.
void check_room_for_stacks(int threads) {
  static std::atomic<int> most_so_far = 1;
  if (threads <= most_so_far) return;
  constexpr std::size_t kBesideStack = std::size_t{1} << 20;
  const std::size_t stack = tbb::global_control::active_value(tbb::global_control::thread_stack_size);
  const std::size_t size = static_cast<std::size_t>(threads - most_so_far) * (stack + kBesideStack);
  void* const room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, size);
  most_so_far = threads;
}

}  // namespace

void parallel_for(int threads, std::size_t count, void (*call)(const void*, std::size_t), const void* body) {
  if (threads <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) call(body, i);
    return;
  }
  check_room_for_stacks(threads);
  std::atomic<bool> is_of_body = false;
  const auto loop = [&](const tbb::blocked_range<std::size_t>& range) {
    try {
      for (std::size_t i = range.begin(); i != range.end(); ++i) call(body, i);
    } catch (const std::runtime_error&) {
      is_of_body = true;
      throw;
    }
  };
  try {
    // More threads than processors is slower but legal: the answer must not change. TBB wants to be told.
    std::optional<tbb::global_control> more;
    if (threads > available_threads())
      more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    // An arena of its own keeps a nested loop of another size, or the host program's TBB, out of ours.
    tbb::task_arena arena(threads);
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1), loop, tbb::simple_partitioner());
    });
  } catch (const std::runtime_error&) {
    if (is_of_body) throw;
    throw std::bad_alloc();  // TBB's own: there is no room for another thread's stack
  }
}
#endif

}  // namespace detail
}  // namespace copse
