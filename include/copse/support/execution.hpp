// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "copse/support/error.hpp"

namespace copse {

class SharedColumns;

/// Told how a long call gets on, and asked whether to go on. Called from any thread.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `done` of `total` units of `stage` are finished.
  virtual void report(std::string_view stage, std::uint64_t done, std::uint64_t total) = 0;
  virtual bool cancelled() const = 0;
};

/// How to run, as opposed to what to compute: every long call takes one. No global generator, no clock,
/// no thread count picked behind the caller's back.
struct Execution {
  std::uint64_t seed = 1;
  int threads = 1;
  Progress* progress = nullptr;
  SharedColumns* columns = nullptr;  // of a small graph on which many games are played

  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) const {
    if (progress != nullptr) progress->report(stage, done, total);
  }
  bool cancelled() const { return progress != nullptr && progress->cancelled(); }
  void throw_if_cancelled() const {
    if (cancelled()) throw Cancelled{};
  }
};

/// For loops of many cheap steps: asks whether to go on once in 2^14 of them, some milliseconds apart.
class CancelCheck {
 public:
  explicit CancelCheck(const Execution& execution) : execution_(execution) {}
  void step(std::uint64_t count = 1) {
    num_steps_ += count;
    if (num_steps_ < kBetween) return;
    num_steps_ = 0;
    execution_.throw_if_cancelled();
  }

 private:
  static constexpr std::uint64_t kBetween = 1 << 14;
  Execution execution_;
  std::uint64_t num_steps_ = 0;
};

}  // namespace copse
