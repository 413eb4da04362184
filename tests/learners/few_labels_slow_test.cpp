// SPDX-License-Identifier: Apache-2.0
// The block model on which converged label propagation is no better than chance: 10^5 nodes, five classes,
// 1.2 million nonzeros, 100 labels, weights that help.

#include <gtest/gtest.h>

#include <random>

#include "copse/graph/generate.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

TEST(FewLabels, of_a_hundred_thousand_nodes_a_hundred_labels_suffice_for_those_who_can) {
  constexpr NodeId n = 100'000;
  const Execution execution{.threads = available_threads()};
  const GeneratedGraph made = generate_graph("block_model",
                                             {{"nodes", n},
                                              {"classes", 5},
                                              {"degree_inside", 9},
                                              {"degree_outside", 3},
                                              {"weight_inside", 1},
                                              {"weight_outside", 0.5}},
                                             execution);
  std::mt19937_64 random(1);
  std::vector<Label> given(n, kNoLabel);
  for (int i = 0; i < 100;) {
    const auto u = static_cast<NodeId>(random() % n);
    if (given[u] != kNoLabel) continue;
    given[u] = made.labels.of_node[u];
    ++i;
  }
  const auto run = [&](const char* name, const OptionValues& options) {
    BatchResult result = learner_row(name).fit(made.graph, given, 5, options, execution);
    double right = 0;
    for (NodeId u = 0; u < n; ++u)
      right += given[u] == kNoLabel && result.predictor->predict(u).label == made.labels.of_node[u];
    return std::pair{right / (n - 100), result.notes};
  };
  const auto [plain, notes] = run("label_propagation", {{"shift", "none"}});
  EXPECT_LT(plain, 0.35);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("nearly constant"), std::string::npos) << notes[0];
  EXPECT_GE(run("label_propagation", {}).first, 0.93);
  EXPECT_GE(run("poisson", {}).first, 0.93);
  EXPECT_GE(run("kernel_ridge", {}).first, 0.93);
}

}  // namespace
}  // namespace copse
