// SPDX-License-Identifier: Apache-2.0
// Ctrl-C at any moment: a committee is the trees that have voted as a whole, whatever was under way.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "copse/learners/registry.hpp"
#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

/// Says no from the question number `patience` on.
class Impatient final : public Progress {
 public:
  explicit Impatient(std::uint64_t patience) : patience_(patience) {}
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return asked_++ >= patience_; }
  std::uint64_t asked() const { return asked_; }

 private:
  std::uint64_t patience_;
  mutable std::atomic<std::uint64_t> asked_{0};
};

constexpr NodeId kSide = 150;  // a tree of its square asks several times

std::vector<Label> labels_here_and_there() {
  std::vector<Label> labels(kSide * kSide, kNoLabel);
  for (NodeId u = 0; u < labels.size(); u += 37) labels[u] = static_cast<Label>(u / 37 % 3);
  return labels;
}

class CancelledFit : public testing::TestWithParam<const char*> {};

TEST_P(CancelledFit, leaves_whole_trees_or_nothing) {
  const Graph graph = oracle::grid(kSide, kSide);
  const std::vector<Label> labels = labels_here_and_there();
  const OptionValues options{{"num_trees", "5"}};
  Impatient patient(~std::uint64_t{0});
  learner_row(GetParam()).fit(graph, labels, 3, options, {.progress = &patient});
  ASSERT_GT(patient.asked(), 25U) << "more than the trees";
  int num_partial = 0, num_nothing = 0;
  for (std::uint64_t patience = 0; patience < patient.asked(); patience += 3) {
    SCOPED_TRACE(patience);
    Impatient progress(patience);
    try {
      const BatchResult result =
          learner_row(GetParam()).fit(graph, labels, 3, options, {.progress = &progress});
      ASSERT_TRUE(result.interrupted);
      ASSERT_GT(result.units_done, 0U);
      ASSERT_LT(result.units_done, 5U);
      ++num_partial;
      for (NodeId u = 0; u < graph.view().num_nodes(); u += 11) {
        double scores[3], sum = 0;
        result.predictor->scores(u, scores);
        for (const double score : scores) {
          const double votes = score * static_cast<double>(result.units_done);
          EXPECT_NEAR(votes, std::round(votes), 1e-9) << "a tree has voted at some nodes and not at others";
          sum += score;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
      }
    } catch (const Cancelled&) {
      ++num_nothing;
    }
  }
  EXPECT_GT(num_partial, 0);
  EXPECT_GT(num_nothing, 0);
}

TEST_P(CancelledFit, is_the_committee_of_its_trees_on_one_thread) {
  const Graph graph = oracle::grid(kSide, kSide);
  const std::vector<Label> labels = labels_here_and_there();
  Impatient patient(~std::uint64_t{0});
  learner_row(GetParam()).fit(graph, labels, 3, {{"num_trees", "5"}}, {.progress = &patient});
  Impatient progress(patient.asked() - 1);
  const BatchResult part =
      learner_row(GetParam()).fit(graph, labels, 3, {{"num_trees", "5"}}, {.progress = &progress});
  const BatchResult whole =
      learner_row(GetParam()).fit(graph, labels, 3, {{"num_trees", std::to_string(part.units_done)}}, {});
  for (NodeId u = 0; u < graph.view().num_nodes(); ++u) {
    double a[3], b[3];
    part.predictor->scores(u, a);
    whole.predictor->scores(u, b);
    for (int c = 0; c < 3; ++c) ASSERT_EQ(a[c], b[c]) << u;
  }
}

INSTANTIATE_TEST_SUITE_P(Committees, CancelledFit, testing::Values("wta", "tree_cut"));

TEST(CancelledSolve, ends_wherever_it_is_asked) {
  const Graph graph = oracle::grid(kSide, kSide);
  const std::vector<Label> labels = labels_here_and_there();
  for (const char* name : {"label_propagation", "poisson", "kernel_ridge", "nearest_neighbor"}) {
    SCOPED_TRACE(name);
    Impatient patient(~std::uint64_t{0});
    learner_row(name).fit(graph, labels, 3, {}, {.progress = &patient});
    ASSERT_GT(patient.asked(), 0U);
    for (std::uint64_t patience = 0; patience < patient.asked(); patience += 1 + patient.asked() / 7) {
      Impatient progress(patience);
      EXPECT_THROW(learner_row(name).fit(graph, labels, 3, {}, {.progress = &progress}), Cancelled)
          << patience;
    }
  }
}

}  // namespace
}  // namespace copse
