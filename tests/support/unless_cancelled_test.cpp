// SPDX-License-Identifier: Apache-2.0
#include "support/unless_cancelled.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace copse {
namespace {

class Stopped final : public Progress {
 public:
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return is_cancelled; }
  bool is_cancelled = false;
};

TEST(UnlessCancelled, gives_the_answer_and_passes_on_what_is_thrown) {
  Stopped progress;
  for (Progress* listener : {static_cast<Progress*>(nullptr), static_cast<Progress*>(&progress)}) {
    const Execution execution{.progress = listener};
    EXPECT_EQ(unless_cancelled(execution, [] { return 7; }), 7);
    EXPECT_THROW(unless_cancelled(execution, []() -> int { throw std::runtime_error("no"); }),
                 std::runtime_error);
  }
}

TEST(UnlessCancelled, leaves_work_that_goes_on_behind) {
  Stopped progress;
  progress.is_cancelled = true;
  struct Shared {
    std::atomic<bool> may_end{false}, has_ended{false};
  };
  const auto shared = std::make_shared<Shared>();
  const auto work = [shared] {
    while (!shared->may_end) std::this_thread::yield();
    shared->has_ended = true;
    return 1;
  };
  EXPECT_THROW(unless_cancelled({.progress = &progress}, work), Cancelled);
  EXPECT_FALSE(shared->has_ended) << "it was not waited for";
  shared->may_end = true;
  while (!shared->has_ended) std::this_thread::yield();
}

}  // namespace
}  // namespace copse
