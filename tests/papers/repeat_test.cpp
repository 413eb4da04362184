// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "papers/experiment.hpp"

namespace copse {
namespace {

class EveryExperiment : public testing::TestWithParam<std::string> {};

/// Trials are pure: spot checks, since running all twice would take twice as long.
TEST_P(EveryExperiment, repeats_a_trial_to_the_last_bit) {
  const ExperimentRow& row = experiment_row(GetParam());
  const Execution execution{.seed = 2};
  const std::vector<Trial> plan = row.plan({.data = "", .quick = true}, execution),
                           again = row.plan({.data = "", .quick = true}, execution);
  ASSERT_EQ(plan.size(), again.size());
  for (const std::size_t i : {plan.size() - 1, plan.size() / 2}) {
    const std::vector<Measurement> a = plan[i].run(execution), b = again[i].run(execution);
    EXPECT_EQ(plan[i].factors, again[i].factors);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].value, b[k].value) << a[k].measure;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ExperimentRow& row : experiment_rows()) all.push_back(row.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Experiments, EveryExperiment, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace copse
