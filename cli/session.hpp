// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "copse/support/execution.hpp"

namespace copse::cli {

enum ExitCode { kDone = 0, kAnswerIsNo = 1, kBadInput = 2, kInterrupted = 3 };

/// The bar on stderr, drawn only on a terminal, and the ear for Ctrl-C.
class ProgressBar final : public Progress {
 public:
  void enable(bool wanted);  // has no effect where stderr is not a terminal
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) override;
  bool cancelled() const override;
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(std::uint64_t done, std::uint64_t total, Clock::time_point now);

  bool enabled_ = false;
  std::atomic<std::int64_t> next_draw_{
      0};  // Clock ticks; read without the lock, so that most reports cost one load
  std::mutex mutex_;
  std::string stage_;
  Clock::time_point stage_start_{};
  bool visible_ = false;
};

/// Significant digits of the numbers in tables; kExactDigits: the fewest that read back as the same number.
inline constexpr int kDefaultDigits = 6, kExactDigits = 0;

/// One run of the program: the options that mean the same in every verb, the talk, and what to do.
class Session {
 public:
  Session();

  std::uint64_t seed = Execution{}.seed;
  int threads;  // all processors unless told otherwise
  bool json = false;
  bool quiet = false;
  int digits = kDefaultDigits;
  std::string output = "-";
  std::function<int()> run;  // set by the verb that was parsed

  Execution execution() { return {seed, threads, &bar_}; }
  ProgressBar& bar() { return bar_; }
  /// A line on stderr, unless --quiet.
  void say(std::string_view line) {
    if (!quiet) complain(line);
  }
  template <class First, class... Rest>
  void say(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    if (!quiet) complain(format, std::forward<First>(first), std::forward<Rest>(rest)...);
  }
  /// "  3 edges dropped", where there are any.
  void say_any(std::uint64_t count, std::string_view noun, std::string_view what);
  /// A line on stderr, always.
  void complain(std::string_view line);
  template <class First, class... Rest>
  void complain(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
    complain(std::string_view(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)));
  }

 private:
  ProgressBar bar_;
};

/// Where the program was started with descriptor 0, 1 or 2 closed, opens it on /dev/null: the next file must
/// not get its number, and with it all notes, or be taken for a stream of questions. Standard input is then
/// empty, and writing to standard output an error: a result must not vanish.
void open_standard_descriptors();

/// Ctrl-C and SIGTERM: the first asks the run to finish with what it has, the second ends it at once.
void catch_interrupts();
bool was_interrupted();

/// One step of a longer run after the other: what is reported of a step moves the bar on within that step,
/// and never back where the step has several stages.
class StepsOfRun final : public Progress {
 public:
  explicit StepsOfRun(ProgressBar& bar) : bar_(bar) {}
  void begin(std::string stage, std::uint64_t step, std::uint64_t num_steps);
  void report(std::string_view, std::uint64_t done, std::uint64_t total) override;
  bool cancelled() const override { return was_interrupted(); }

 private:
  static constexpr std::uint64_t kParts = 1000;  // of a step
  ProgressBar& bar_;
  std::string stage_;
  std::uint64_t step_ = 0, num_steps_ = 0;
  std::atomic<std::uint64_t> furthest_{0};
};

/// 0.042 s, 1.73 s, 2 min 05 s.
std::string duration_text(double seconds);
/// 1536 as "1.5 KiB".
std::string bytes_text(std::uint64_t bytes);
/// "1 node", "2 nodes", with thousands separated.
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// `text` in bold where `fd` is a terminal and NO_COLOR is not set; as it is elsewhere.
std::string emphasized(const std::string& text, int fd);

/// Wall clock since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace copse::cli
