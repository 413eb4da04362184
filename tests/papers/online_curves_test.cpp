// SPDX-License-Identifier: Apache-2.0
#include "papers/online_curves.hpp"

#include <gtest/gtest.h>

#include "copse/evaluation/splits.hpp"
#include "oracle/online_kernel.hpp"
#include "papers/generators.hpp"

namespace copse {
namespace {

OnlineTask small_task() {
  GeneratedGraph made = generate_any_graph("hierarchical", {{"clusters", 6}}, {.seed = 3});
  return {std::move(made.graph), std::move(made.labels.of_node)};
}

OnlinePlan small_plan() { return {{Lazy<OnlineTask>(small_task)}, 2, {0, 3, 10, 30}}; }

/// The future errors of a trial.
std::vector<Measurement> run(const std::string& method, const std::string& permutation) {
  const Execution execution{.seed = 5};
  std::vector<Measurement> errors;
  for (const Trial& trial : online_trials(small_plan(), execution))
    if (trial.factors == std::vector<std::string>{"1", method, permutation})
      for (const Measurement& one : trial.run(execution))
        if (one.measure == "future_error") errors.push_back(one);
  EXPECT_EQ(errors.size(), small_plan().places.size()) << method;
  return errors;
}

/// The mistakes of a dense twin from each trial on.
std::vector<double> twin_errors(const oracle::KernelGame& game, std::uint64_t permutation) {
  const OnlineTask task = small_task();
  oracle::OnlineKernelTwin twin(task.graph, game);
  std::vector<bool> mistakes;
  for (const NodeId node : random_order(task.labels, 5, permutation)) {
    mistakes.push_back(twin.guess(node) != task.labels[node]);
    twin.reveal(node, task.labels[node]);
  }
  std::vector<double> errors;
  for (const std::size_t place : small_plan().places) {
    errors.push_back(0);
    for (std::size_t t = place; t < mistakes.size(); ++t) errors.back() += mistakes[t];
  }
  return errors;
}

TEST(OnlineCurves, count_the_mistakes_that_a_dense_twin_makes_from_a_trial_on) {
  using Method = oracle::KernelGame::Method;
  const std::pair<const char*, oracle::KernelGame> games[] = {
      {"1-proj", {.method = Method::one_projection}},
      {"C-proj", {.method = Method::cyclic}},
      {"MNI-ag", {.method = Method::interpolation, .aggressive = true}},
      {"1-proj, every label", {.method = Method::one_projection, .aggressive = true}},
  };
  for (const auto& [method, game] : games)
    for (std::uint64_t p = 0; p < 2; ++p) {
      SCOPED_TRACE(method);
      const std::vector<Measurement> found = run(method, std::to_string(p + 1));
      const std::vector<double> expected = twin_errors(game, p);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].value, expected[i]) << found[i].at;
    }
}

TEST(OnlineCurves, asking_leaves_fewer_trials_to_err_in) {
  for (const char* method : {"Act-st", "Act-mu", "Act-st, every label"}) {
    const std::vector<Measurement> found = run(method, "1");
    ASSERT_EQ(found.size(), 4u);
    for (const Measurement& one : found) EXPECT_LE(one.value, 36 - one.at) << method;
  }
}

TEST(OnlineCurves, a_trial_is_the_same_whenever_it_runs) {
  for (const std::string& method : online_methods()) {
    const auto once = run(method, "2"), again = run(method, "2");
    ASSERT_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].value, again[i].value) << method;
  }
}

Results made_up(double better, double worse) {
  Results results({"draw", "method", "permutation"});
  for (int p = 0; p < 4; ++p) {
    for (const auto& [method, value] : {std::pair{"C-proj", better}, {"1-proj", worse}}) {
      const std::vector<std::string> factors{"1", method, std::to_string(p)};
      results.add(factors, {"future_error", 0, value + p});
      results.add(factors, {"seconds", 0, 0});
    }
  }
  return results;
}

TEST(OnlineCurves, verdicts_follow_the_runs_and_not_the_paper) {
  const auto verdict = [](double better, double worse) {
    return fewer_mistakes(made_up(better, worse), "C-proj is ahead", "C-proj", "1-proj", 0).verdict;
  };
  EXPECT_EQ(verdict(50, 80), Verdict::confirmed);
  EXPECT_EQ(verdict(80, 50), Verdict::contradicted);
  EXPECT_EQ(verdict(80, 80), Verdict::mixed);
  const auto near = [](double a, double b) {
    return as_many_mistakes(made_up(a, b), "comparable", "C-proj", "1-proj", 0).verdict;
  };
  EXPECT_EQ(near(100, 105), Verdict::confirmed);
  EXPECT_EQ(near(100, 130), Verdict::contradicted);
}

}  // namespace
}  // namespace copse
