// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a call from Python runs: without the lock of the interpreter, under Ctrl-C, with news for whoever
// asked.

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse::python {

namespace nb = nanobind;

/// What every long call takes from Python: `progress` is None or a callable (stage, done, total) that may
/// return False to stop.
struct Settings {
  std::uint64_t seed = Execution{}.seed;
  int threads = 1;
  nb::object progress;
};

/// The library's ear. Threads of the library leave their news here and read whether to go on; only the thread
/// that called from Python ever talks to the interpreter.
class Watch final : public Progress {
 public:
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) override;
  bool cancelled() const override;

  /// Does `work` on a thread of its own and listens meanwhile, with the interpreter's lock held only to look
  /// for signals and to tell `progress`. What `work` threw is thrown here; KeyboardInterrupt, and what the
  /// callable raised, go before it.
  void run(const nb::object& progress, const std::function<void()>& work);

 private:
  struct News {
    std::string stage;
    std::uint64_t done = 0, total = 0;
    bool is_new = false;
  };
  void listen(const nb::object& progress, std::exception_ptr& raised);
  bool tell(const nb::object& progress);

  std::atomic<bool> cancelled_{false};
  std::mutex news_mutex_;
  News news_;
  std::mutex done_mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;
};

/// For calls too short to be worth a thread: Ctrl-C is looked for by the calling thread itself whenever the
/// library asks whether to go on. Alive during the call, without the interpreter's lock.
class SignalPoll {
 public:
  SignalPoll();
  ~SignalPoll();
  SignalPoll(const SignalPoll&) = delete;
  SignalPoll& operator=(const SignalPoll&) = delete;

  bool interrupted();
  /// KeyboardInterrupt, if that is what stopped the call. Holds the interpreter's lock.
  void rethrow() const {
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  std::chrono::steady_clock::time_point next_look_;
  std::exception_ptr raised_;
  SignalPoll* outer_;
};

/// The threads a call may use: as asked, but one in a child that was forked while our pool had threads. Those
/// do not exist there, and answers do not depend on the number of threads.
int usable_threads(int threads);
void after_fork_in_child();

/// A short call, on the calling thread, without the interpreter's lock. Work that ends early because it was
/// told to stop ends in KeyboardInterrupt as well.
template <class Work>
auto run_here(Work&& work) {
  SignalPoll poll;
  const auto without_lock = [&] {
    const nb::gil_scoped_release release;
    return work();
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      without_lock();
      poll.rethrow();
    } else {
      auto result = without_lock();
      poll.rethrow();
      return result;
    }
  } catch (const Cancelled&) {
    poll.rethrow();
    throw;
  }
}

/// Below this many nodes and arcs a thread costs more than it brings.
inline constexpr std::uint64_t kSmall = 1 << 16;
inline constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};

/// A call of some length: work(execution) under a watch of its own; small ones on the calling thread alone.
template <class Work>
auto run(const Settings& settings, Work&& work, std::uint64_t size = kUnknownSize) {
  using Result = std::invoke_result_t<Work, const Execution&>;
  Watch watch;
  const bool is_small = size < kSmall && settings.progress.is_none();
  const Execution execution{settings.seed, is_small ? 1 : usable_threads(settings.threads), &watch};
  if (is_small) return run_here([&] { return work(execution); });
  if constexpr (std::is_void_v<Result>) {
    watch.run(settings.progress, [&] { work(execution); });
  } else {
    std::optional<Result> result;
    watch.run(settings.progress, [&] { result.emplace(work(execution)); });
    return std::move(*result);
  }
}

/// What `run` goes by.
inline std::uint64_t size_of(const GraphView& graph) { return graph.num_nodes() + graph.num_arcs(); }

}  // namespace copse::python
