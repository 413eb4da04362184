// SPDX-License-Identifier: Apache-2.0
// Halving: against the listing of all labellings, and the bound of the line.

#include "copse/learners/halving.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "learners/count_labellings.hpp"
#include "oracle/graphs.hpp"
#include "oracle/halving.hpp"

namespace copse {
namespace {

// The smallest cut that some labelling keeps.
std::uint64_t smallest_cut(const GraphView& graph, const std::vector<Label>& known, std::size_t num_classes) {
  for (std::uint64_t cut = 0;; ++cut) {
    const auto votes = oracle::consistent_votes(graph, known, num_classes, cut);
    for (const std::uint64_t vote : votes[0])
      if (vote > 0) return cut;
  }
}

std::uint64_t allowed(std::uint64_t smallest) { return std::bit_ceil(std::max<std::uint64_t>(smallest, 1)); }

void compare_with_listing(const Graph& graph, std::uint64_t seed, int max_cut) {
  std::mt19937_64 random(seed);
  const NodeId n = graph.num_nodes();
  std::vector<Label> known(n, kNoLabel);
  const std::size_t num_classes = 2 + random() % 2;
  for (Label& label : known)
    if (random() % 3 == 0) label = static_cast<Label>(random() % num_classes);
  for (Label c = 0; c < num_classes; ++c) known[c] = c;  // all classes occur
  const std::uint64_t smallest = smallest_cut(graph, known, num_classes);
  const std::uint64_t most = max_cut > 0
                                 ? std::max<std::uint64_t>(smallest, static_cast<std::uint64_t>(max_cut))
                                 : allowed(smallest);
  const auto votes = oracle::consistent_votes(graph, known, num_classes, most);
  const auto fitted = Halving::fit(graph, known, num_classes, {.max_cut = max_cut}, {});
  std::vector<double> scores(num_classes);
  for (NodeId u = 0; u < n; ++u) {
    double total = 0;
    for (const std::uint64_t vote : votes[u]) total += static_cast<double>(vote);
    fitted.predictor->scores(u, scores);
    for (std::size_t c = 0; c < num_classes; ++c)
      ASSERT_NEAR(scores[c], static_cast<double>(votes[u][c]) / total, 1e-9) << "node " << u;
  }
}

TEST(Halving, on_trees_counts_what_listing_finds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto n = static_cast<NodeId>(3 + seed % 6);
    compare_with_listing(oracle::random_tree({.num_nodes = n, .seed = seed, .weighted = seed % 2 == 0}), seed,
                         0);
    compare_with_listing(oracle::path(n), seed, static_cast<int>(1 + seed % 4));
    compare_with_listing(oracle::star(n), seed, 0);
  }
}

TEST(Halving, on_small_graphs_lists_them_all) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto n = static_cast<NodeId>(4 + seed % 4);
    compare_with_listing(
        oracle::random_connected_graph({.num_nodes = n, .num_edges = n + seed % 4, .seed = seed}), seed,
        static_cast<int>(seed % 3));
  }
}

TEST(Halving, a_deep_tree_neither_recurses_nor_overflows) {
  const NodeId n = 20000;
  const Graph graph = oracle::path(n);
  std::vector<Label> known(n, kNoLabel);
  known[0] = 0;
  known[n - 1] = 1;
  const auto fitted = Halving::fit(graph, known, 2, {.max_cut = 1}, {});
  std::vector<double> scores(2);
  for (const NodeId u : {NodeId{1}, n / 4, n / 2, n - 2}) {
    fitted.predictor->scores(u, scores);
    EXPECT_NEAR(scores[0], 1 - u / (n - 1.0), 1e-9) << u;  // one cut edge, anywhere
  }
}

TEST(Halving, a_cut_that_no_tree_can_have_allows_all_labellings) {
  const Graph graph = oracle::path(6);
  std::vector<Label> known(6, kNoLabel);
  known[0] = 0;
  known[5] = 1;
  const auto fitted = Halving::fit(graph, known, 2, {.max_cut = 1 << 20}, {});
  std::vector<double> scores(2);
  for (NodeId u = 1; u < 5; ++u) {
    fitted.predictor->scores(u, scores);
    EXPECT_NEAR(scores[0], 0.5, 1e-12);
  }
}

TEST(Halving, noisy_labels_of_a_large_cut_are_counted_from_the_smallest_upwards) {
  // Alternating labels on every second node: each stretch must be cut once.
  const NodeId n = 2001;
  const Graph graph = oracle::path(n);
  std::vector<Label> known(n, kNoLabel);
  for (NodeId u = 0; u < n; u += 2) known[u] = static_cast<Label>(u / 2 % 2);
  const auto fitted = Halving::fit(graph, known, 2, {}, {});
  std::vector<double> scores(2);
  fitted.predictor->scores(1001, scores);
  EXPECT_NEAR(scores[0], 0.5, 1e-9);
}

// The adversary asks where the learner errs, if there is such a node. The mistakes on the first label and on
// the first of the second class cannot be helped: nobody can name a class that has not been seen.
TEST(Halving, on_a_line_with_one_cut_errs_at_most_log_n_times_once_both_classes_are_known) {
  for (const NodeId n : {2u, 3u, 8u, 9u, 16u, 31u, 33u, 64u}) {
    const Graph graph = oracle::path(n);
    for (NodeId cut = 1; cut < n; cut = cut < 8 ? cut + 1 : cut + 5) {
      SCOPED_TRACE(std::to_string(n) + " nodes, cut before " + std::to_string(cut));
      std::vector<Label> truth(n);
      for (NodeId u = cut; u < n; ++u) truth[u] = 1;
      Halving learner(graph, {.max_cut = 1}, {});
      learner.reveal(0, 0);
      learner.reveal(n - 1, 1);
      std::vector<NodeId> left;
      for (NodeId u = 1; u + 1 < n; ++u) left.push_back(u);
      int mistakes = 0;
      while (!left.empty()) {
        std::size_t pick = 0;
        for (std::size_t i = 0; i < left.size(); ++i)
          if (learner.predict(left[i]).label != truth[left[i]]) pick = i;
        mistakes += learner.predict(left[pick]).label != truth[left[pick]];
        learner.reveal(left[pick], truth[left[pick]]);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
      }
      EXPECT_LE(mistakes, std::bit_width(n - 1u));  // ceil(log2 n)
    }
  }
}

TEST(Halving, shares_that_are_equal_but_for_rounding_are_a_tie) {
  int num_ties = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const auto n = static_cast<NodeId>(5 + seed % 40);
    const Graph graph =
        seed % 2 == 1
            ? oracle::random_tree({.num_nodes = n, .seed = seed})
            : oracle::random_connected_graph({.num_nodes = n, .num_edges = n + n / 2, .seed = seed});
    std::mt19937_64 random(seed);
    std::vector<Label> known(n, kNoLabel);
    for (Label& label : known)
      if (random() % 3 == 0) label = static_cast<Label>(random() % 2);
    known[0] = 0;
    known[1] = 1;
    const auto fitted = Halving::fit(graph, known, 2, {.num_trees = 7}, {});
    std::vector<double> scores(2);
    for (NodeId u = 0; u < n; ++u) {
      fitted.predictor->scores(u, scores);
      if (std::fabs(scores[0] - 0.5) > 1e-9) continue;
      EXPECT_EQ(scores[0], scores[1]) << u;
      ++num_ties;
    }
  }
  EXPECT_GT(num_ties, 100);
}

}  // namespace
}  // namespace copse
