// SPDX-License-Identifier: Apache-2.0
// The driver: what a run leaves behind, and how the next one goes on from there.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "copse/support/error.hpp"
#include "oracle/temporary_directory.hpp"
#include "papers/experiment.hpp"

namespace copse {
namespace {

std::atomic<int> num_played = 0;

/// Six trials that count how often they are run.
std::vector<Trial> counting_plan(const ExperimentSetup&, const Execution&) {
  std::vector<Trial> trials;
  for (const char* method : {"a", "b"})
    for (int repeat = 0; repeat < 3; ++repeat)
      trials.push_back(
          {{method, std::to_string(repeat)}, [=](const Execution& execution) -> std::vector<Measurement> {
             ++num_played;
             return {{"score", 1, 1.0 / 3 + repeat},
                     {"score", 2, method[0] == 'a' ? 10.0 : 20.0 + static_cast<double>(execution.seed)}};
           }});
  return trials;
}

ExperimentRow counting() { return {"counting", "", "", "", {"method", "repeat"}, counting_plan, nullptr}; }

/// Says stop once that many trials have been played.
class StopAfter final : public Progress {
 public:
  explicit StopAfter(int count) : count_(count) {}
  void report(std::string_view, std::uint64_t done, std::uint64_t) override {
    done_ = static_cast<int>(done);
  }
  bool cancelled() const override { return done_ >= count_; }

 private:
  int count_;
  std::atomic<int> done_ = 0;
};

class RunExperiment : public ::testing::Test {
 protected:
  void SetUp() override { num_played = 0; }

  std::string text() const { return oracle::contents(path_); }
  void write(const std::string& bytes) const { oracle::put(path_, bytes); }

  oracle::TemporaryDirectory directory_;
  std::string path_ = directory_.file("counting.tsv");
};

TEST_F(RunExperiment, leaves_a_tidy_table_and_answers_questions_about_it) {
  const ExperimentRun run = run_experiment(counting(), {}, path_, {});
  EXPECT_EQ(num_played, 6);
  EXPECT_EQ(run.num_resumed, 0u);
  EXPECT_FALSE(run.interrupted);
  EXPECT_EQ(run.results.levels("method"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(run.results.places("score"), (std::vector<double>{1, 2}));
  EXPECT_DOUBLE_EQ(run.results.mean("score", {{"method", "a"}}, 1), 1 + 1.0 / 3);
  EXPECT_DOUBLE_EQ(deviation(run.results.values("score", {{"method", "a"}}, 1)), 1);
  EXPECT_DOUBLE_EQ(run.results.mean("score", {{"method", "b"}}, 2), 21);
  EXPECT_EQ(run.results.values("score", {{"method", "c"}}, 1).size(), 0u);
  EXPECT_THROW(run.results.values("score", {{"colour", "red"}}), UsageError);
  EXPECT_TRUE(text().starts_with(
      "# copse reproduce counting --seed 1\nmethod\trepeat\tmeasure\tat\tvalue\na\t0\tscore\t1\t0.333"));
}

TEST_F(RunExperiment, an_interrupted_run_is_taken_up_where_it_stopped_and_ends_with_the_same_figures) {
  StopAfter stop(2);
  const ExperimentRun first = run_experiment(counting(), {}, path_, {1, 1, &stop});
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(num_played, 2);
  const ExperimentRun second = run_experiment(counting(), {}, path_, {});
  EXPECT_FALSE(second.interrupted);
  EXPECT_EQ(second.num_resumed, 2u);
  EXPECT_EQ(num_played, 6);
  const ExperimentRun third = run_experiment(counting(), {}, path_, {});
  EXPECT_EQ(third.num_resumed, 6u);
  EXPECT_EQ(num_played, 6);
  EXPECT_EQ(third.results.values("score", {}, 1),
            (std::vector<double>{1.0 / 3, 1.0 / 3 + 1, 1.0 / 3 + 2, 1.0 / 3, 1.0 / 3 + 1, 1.0 / 3 + 2}));
}

TEST_F(RunExperiment, a_table_cut_off_in_the_middle_of_a_line_costs_that_trial_only) {
  run_experiment(counting(), {}, path_, {});
  std::string bytes = text();
  bytes.resize(bytes.size() - 3);  // the end of the last trial's last row
  write(bytes);
  EXPECT_EQ(run_experiment(counting(), {}, path_, {}).num_resumed, 5u);
  EXPECT_EQ(num_played, 7);
}

TEST_F(RunExperiment, threads_do_not_change_the_table_but_for_its_seconds) {
  const ExperimentRun one = run_experiment(counting(), {}, path_, {});
  std::filesystem::remove(path_);
  const ExperimentRun four = run_experiment(counting(), {}, path_, {1, 4});
  for (const double at : {1.0, 2.0})
    EXPECT_EQ(one.results.values("score", {}, at), four.results.values("score", {}, at));
}

TEST_F(RunExperiment, a_table_of_another_seed_setup_or_experiment_is_refused_and_kept) {
  run_experiment(counting(), {}, path_, {});
  const std::string before = text();
  EXPECT_THROW(run_experiment(counting(), {}, path_, {2}), InputError);
  EXPECT_THROW(run_experiment(counting(), {.quick = true}, path_, {}), InputError);
  EXPECT_THROW(run_experiment(counting(), {.data = "elsewhere"}, path_, {}), InputError);
  EXPECT_EQ(text(), before);
}

TEST_F(RunExperiment, bad_tables_are_refused_with_their_line) {
  const std::string head = "# copse reproduce counting --seed 1\nmethod\trepeat\tmeasure\tat\tvalue\n";
  const auto message = [&](const std::string& bytes) {
    write(bytes);
    try {
      run_experiment(counting(), {}, path_, {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(message(head + "a\t0\tscore\t1\n").find(":3: 4 columns where the header has 5"),
            std::string::npos);
  EXPECT_NE(message(head + "a\t0\tscore\tone\t2\n").find("\"one\" is not a number"), std::string::npos);
  EXPECT_NE(message(head + "z\t0\tseconds\t0\t2\n").find("has runs that this experiment does not make"),
            std::string::npos);
  EXPECT_NE(message(head + "a\t0\tseconds\t0\t2\na\t0\tseconds\t0\t2\n").find("twice"), std::string::npos);
  EXPECT_NE(message(std::string("\x00\x01\xff\n", 4)).find("another run"), std::string::npos);
  EXPECT_EQ(num_played, 0);
}

TEST_F(RunExperiment, an_empty_file_is_a_run_that_has_not_begun) {
  write("");
  EXPECT_EQ(run_experiment(counting(), {}, path_, {}).num_resumed, 0u);
}

TEST_F(RunExperiment, an_unwritable_place_is_said_before_anything_is_run) {
  EXPECT_THROW(run_experiment(counting(), {}, directory_.file("nowhere/x.tsv"), {}), InputError);
  EXPECT_EQ(num_played, 0);
}

TEST(Experiments, an_unknown_name_lists_the_known_ones) {
  try {
    experiment_row("digits");
    FAIL();
  } catch (const UsageError& error) {
    for (const ExperimentRow& row : experiment_rows())
      EXPECT_NE(std::string(error.what()).find(row.name), std::string::npos);
  }
}

TEST(Experiments, no_two_trials_of_a_plan_have_the_same_factors) {
  for (const ExperimentRow& row : experiment_rows()) {
    std::set<std::vector<std::string>> seen;
    for (const Trial& trial : row.plan({.quick = true}, {})) {
      EXPECT_EQ(trial.factors.size(), row.factors.size()) << row.name;
      EXPECT_TRUE(seen.insert(trial.factors).second) << row.name;
    }
    EXPECT_GT(seen.size(), 3u) << row.name;
  }
}

class EveryExperiment : public testing::TestWithParam<ExperimentRow> {};

/// Trials are pure: spot checks, since running all twice would take twice as long.
TEST_P(EveryExperiment, repeats_a_trial_to_the_last_bit) {
  const ExperimentRow& row = GetParam();
  const Execution execution{.seed = 2};
  const std::vector<Trial> plan = row.plan({.data = "", .quick = true}, execution),
                           again = row.plan({.data = "", .quick = true}, execution);
  ASSERT_EQ(plan.size(), again.size());
  for (const std::size_t i : {plan.size() - 1, plan.size() / 2}) {
    const std::vector<Measurement> a = plan[i].run(execution), b = again[i].run(execution);
    EXPECT_EQ(plan[i].factors, again[i].factors);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      EXPECT_TRUE(a[k].value == b[k].value || a[k].measure == "answer_seconds") << a[k].measure;
  }
}

INSTANTIATE_TEST_SUITE_P(Experiments, EveryExperiment, testing::ValuesIn(experiment_rows()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace copse
