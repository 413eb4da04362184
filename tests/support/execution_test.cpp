// SPDX-License-Identifier: Apache-2.0
#include "copse/support/execution.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace copse {
namespace {

class Recorder final : public Progress {
 public:
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) override {
    lines.push_back(std::string(stage) + " " + std::to_string(done) + "/" + std::to_string(total));
  }
  bool cancelled() const override { return is_cancelled; }
  std::vector<std::string> lines;
  bool is_cancelled = false;
};

TEST(Execution, by_default_runs_on_one_thread_without_anyone_watching) {
  const Execution execution;
  EXPECT_EQ(execution.threads, 1);
  EXPECT_FALSE(execution.cancelled());
  EXPECT_NO_THROW(execution.throw_if_cancelled());
  EXPECT_NO_THROW(execution.report("trees", 1, 2));
}

TEST(Execution, passes_reports_on_and_asks_whether_to_stop) {
  Recorder recorder;
  const Execution execution{.seed = 3, .threads = 2, .progress = &recorder};
  execution.report("trees", 1, 31);
  EXPECT_EQ(recorder.lines, std::vector<std::string>{"trees 1/31"});
  EXPECT_NO_THROW(execution.throw_if_cancelled());
  recorder.is_cancelled = true;
  EXPECT_TRUE(execution.cancelled());
  EXPECT_THROW(execution.throw_if_cancelled(), Cancelled);
}

}  // namespace
}  // namespace copse
