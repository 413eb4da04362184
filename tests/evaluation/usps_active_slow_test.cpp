// SPDX-License-Identifier: Apache-2.0
// Even against odd digits, as in Herbster, Pontil & Wainer 2005, section 6: 100 images of every digit drawn
// at random, their graph of 3 nearest neighbours without weights, the future cumulative error of five
// methods.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/points/points.hpp"
#include "copse/points/similarity_graph.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

struct Digits {
  Graph graph;
  std::vector<Label> is_odd;
};

Digits draw_digits(const std::string& directory, std::uint64_t seed) {
  const NamedPoints all = read_points(directory + "/points.npy.zst", {}, {});
  const Labels digit = read_labels(directory + "/labels.tsv", all.names);
  Stream stream{seed, Purpose::test, 0};
  const PointsView view = all.points;
  std::vector<NodeId> chosen;
  for (Label c = 0; c < 10; ++c) {
    std::vector<NodeId> nodes;
    for (NodeId u = 0; u < digit.of_node.size(); ++u)
      if (digit.of_node[u] == c) nodes.push_back(u);
    for (std::size_t i = 0; i < 100; ++i) {
      std::swap(nodes[i], nodes[i + stream.below(nodes.size() - i)]);
      chosen.push_back(nodes[i]);
    }
  }
  Buffer<float> values(chosen.size() * view.num_columns);
  Digits digits;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = view.row(chosen[i]);
    std::copy(row.begin(), row.end(), values.data() + i * view.num_columns);
    digits.is_odd.push_back((digit.classes.name(digit.of_node[chosen[i]])[0] - '0') % 2 == 1 ? 1 : 0);
  }
  SimilarityOptions options;
  options.neighbors.k = 3;
  options.weighting = Weighting::none;
  digits.graph = similarity_graph(Points(chosen.size(), view.num_columns, std::move(values)), options, {});
  return digits;
}

constexpr std::size_t kPrefixes[] = {0, 2, 5, 10, 20, 50, 100};

constexpr std::size_t kFive = 2;  // kPrefixes[kFive] is 5
constexpr std::size_t kHundred = 6;

/// Mean future cumulative error from each prefix on.
std::vector<double> curve_at_random(const Digits& digits, const char* learner, const OptionValues& options,
                                    std::uint64_t num_orders) {
  std::vector<double> mean(std::size(kPrefixes));
  for (std::uint64_t index = 0; index < num_orders; ++index) {
    const auto player = learner_row(learner).make(digits.graph, options, {});
    const OnlineGame game = play_online(*player, digits.is_odd, random_order(digits.is_odd, 1, index));
    for (std::size_t p = 0; p < std::size(kPrefixes); ++p)
      for (std::size_t t = kPrefixes[p]; t < game.mistake.size(); ++t)
        mean[p] += game.mistake[t] ? 1.0 / static_cast<double>(num_orders) : 0;
  }
  return mean;
}

std::vector<double> curve_active(const Digits& digits, const char* strategy, const char* learner,
                                 const OptionValues& options, std::uint64_t num_orders) {
  const auto asking = query_row(strategy).make(digits.graph, {}, {});
  const std::vector<NodeId> asked = ask_labels(*asking, digits.is_odd, kPrefixes[std::size(kPrefixes) - 1]);
  std::vector<double> mean(std::size(kPrefixes));
  for (std::size_t p = 0; p < std::size(kPrefixes); ++p) {
    for (std::uint64_t index = 0; index < num_orders; ++index) {
      const auto player = learner_row(learner).make(digits.graph, options, {});
      const auto prefix = std::span(asked).first(kPrefixes[p]);
      mean[p] += static_cast<double>(play_active(*player, digits.is_odd, prefix, 1, index).mistakes()) /
                 static_cast<double>(num_orders);
    }
  }
  return mean;
}

void print(const char* name, const std::vector<double>& curve) {
  std::printf("%-26s", name);
  for (const double value : curve) std::printf(" %7.1f", value);
  std::printf("\n");
  std::fflush(stdout);
}

// The paper reports 104.4 for 1-proj and 66.9 for Act-st from trial 5 on, of one draw. Its footnote 2 says
// that Act-st is aggressive (learns from every label, not from mistakes only) while it asks, and not
// afterwards. Played so, five questions save little, and a hundred save nearly half. The paper's 66.9 is what
// comes out when every trial is aggressive; then most of it is won by that, not by the five questions.
TEST(UspsEvenOdd, asking_saves_mistakes_and_so_does_learning_from_every_label) {
  const std::string directory = std::string(COPSE_SHARED_DATA) + "/usps";
  if (!std::filesystem::exists(directory)) GTEST_SKIP() << "the shared data are not here";
  constexpr std::uint64_t kDraws = 1, kOrders = 10;
  const OptionValues aggressive{{"aggressive", "true"}};
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    SCOPED_TRACE(draw);
    const Digits digits = draw_digits(directory, draw);
    std::printf("draw %d: %zu components\n%-26s", static_cast<int>(draw),
                connected_components(digits.graph).count(), "future mistakes from trial");
    for (const std::size_t prefix : kPrefixes) std::printf(" %7zu", prefix);
    std::printf("\n");
    const auto passive = curve_at_random(digits, "one_projection", {}, kOrders);
    print("one_projection", passive);
    print("cyclic_projection", curve_at_random(digits, "cyclic_projection", {}, kOrders));
    print("min_norm_interpolation", curve_at_random(digits, "min_norm_interpolation", {}, 2));
    const auto act_st = curve_active(digits, "act_st", "one_projection", {}, kOrders);
    print("act_st", act_st);
    const auto act_mu = curve_active(digits, "act_mu", "one_projection", {}, kOrders);
    print("act_mu", act_mu);
    print("one_projection, aggressive", curve_at_random(digits, "projection", aggressive, kOrders));
    const auto always = curve_active(digits, "act_st", "projection", aggressive, kOrders);
    print("act_st, aggressive", always);
    EXPECT_LT(always[kFive], 0.75 * passive[kFive]);  // the paper's 66.9 / 104.4 is 0.64
    EXPECT_LT(act_st[kFive], passive[kFive]);
    EXPECT_LT(act_st[kHundred], 0.7 * passive[kHundred]);
    EXPECT_LT(act_mu[kHundred], 0.8 * passive[kHundred]);
  }
}

}  // namespace
}  // namespace copse
