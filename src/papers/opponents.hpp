// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "copse/evaluation/protocols.hpp"
#include "papers/experiment.hpp"

/// Who chooses the order of an online game: "worst", who looks for mistakes, or chance, known by the number
/// of a random order. Bounds on mistakes speak of the worst.
namespace copse {

/// Mistakes against an opponent who always asks about a node that will be guessed wrong, as long as there is
/// one; among several the one that comes first in a random order.
inline std::uint64_t mistakes_where_wrong(Learner& learner, std::span<const Label> labels,
                                          std::vector<NodeId> left) {
  std::uint64_t count = 0;
  for (;;) {
    const auto wrong = std::find_if(left.begin(), left.end(),
                                    [&](NodeId u) { return learner.predict(u).label != labels[u]; });
    if (wrong == left.end()) return count;
    ++count;
    learner.reveal(*wrong, labels[*wrong]);
    left.erase(wrong);
  }
}

inline std::vector<std::string> worst_and_random(int num_random) {
  std::vector<std::string> opponents{"worst"};
  for (int i = 0; i < num_random; ++i) opponents.push_back(std::to_string(i));
  return opponents;
}

/// Mistakes of the learner that make() gives; "worst" is the most of 20 games, as far as we can find it.
template <class Make>
double mistakes_against(const std::string& opponent, Make&& make, std::span<const Label> labels,
                        const Execution& execution) {
  constexpr std::uint64_t kGames = 20;
  std::uint64_t most = 0;
  if (opponent == "worst") {
    for (std::uint64_t i = 0; i < kGames; ++i)
      most = std::max(most, mistakes_where_wrong(*make(), labels, random_order(labels, execution.seed, i)));
  } else {
    const auto order = random_order(labels, execution.seed, std::stoull(opponent));
    most = play_online(*make(), labels, order, execution).mistakes();
  }
  return static_cast<double>(most);
}

/// A trial for every method and opponent: the measure "mistakes" at `size`, as play(method, opponent,
/// execution) gives it. Factors `part`, size, method, opponent.
template <class Methods, class Play>
void add_games(std::vector<Trial>& trials, const std::string& part, double size, const Methods& methods,
               const std::vector<std::string>& opponents, const Play& play) {
  for (const std::string method : methods)
    for (const std::string& opponent : opponents)
      trials.push_back(
          {{part, fixed(size, 0), method, opponent}, [=](const Execution& e) -> std::vector<Measurement> {
             return {{"mistakes", size, play(method, opponent, e)}};
           }});
}

/// Mistakes in the games of `where` that were played in random orders, at a size.
inline std::vector<double> in_random_orders(const Results& results, Results::Where where, double size) {
  std::vector<double> found;
  const std::vector<std::string> opponents = results.levels("opponent", where);
  where.emplace_back("opponent", "");
  for (const std::string& opponent : opponents) {
    if (opponent.find_first_not_of("0123456789") != opponent.npos) continue;
    where.back().second = opponent;
    for (const double mistakes : results.values("mistakes", where, size)) found.push_back(mistakes);
  }
  return found;
}

/// "7 (5.3)": in the order of `opponent`, and the mean over random ones where there are some.
inline std::string mistakes_text(const Results& results, Results::Where where, double size,
                                 const std::string& opponent = "worst") {
  const std::vector<double> random = in_random_orders(results, where, size);
  where.emplace_back("opponent", opponent);
  const std::string chosen = fixed(results.mean("mistakes", where, size), 0);
  return random.empty() ? chosen : chosen + " (" + fixed(mean(random)) + ")";
}

/// A series as a dashed line.
inline ChartSeries reference(ChartSeries series) {
  series.is_reference = true;
  return series;
}

}  // namespace copse
