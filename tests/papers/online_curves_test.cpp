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
      {"C-proj, every label", {.method = Method::cyclic, .aggressive = true}},
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
  for (const char* method : {"Act-st", "Act-mu", "Act-st, every label", "Act-mu, every label"}) {
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

/// Four draws, a permutation each.
Results made_up(double better, double worse, double third = 0) {
  Results results({"draw", "method", "permutation"});
  for (int draw = 0; draw < 4; ++draw) {
    for (const auto& [method, value] : {std::pair{"C-proj", better}, {"1-proj", worse}, {"MNI-ag", third}}) {
      const std::vector<std::string> factors{std::to_string(draw), method, "1"};
      results.add(factors, {"future_error", 0, value + draw});
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
}

TEST(OnlineCurves, two_methods_are_comparable_that_are_closer_to_each_other_than_to_the_weaker) {
  const auto verdict = [](double c, double mni, double weaker) {
    const Results results = made_up(c, weaker, mni);
    return comparable(results, "comparable", "C-proj", "MNI-ag", "1-proj", results.levels("draw")).verdict;
  };
  EXPECT_EQ(verdict(80, 68, 114), Verdict::confirmed);
  EXPECT_EQ(verdict(108, 139, 156), Verdict::contradicted);
  EXPECT_EQ(verdict(100, 110, 120), Verdict::mixed);
}

}  // namespace
}  // namespace copse
