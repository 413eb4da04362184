// SPDX-License-Identifier: Apache-2.0
#include "server/error_curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace copse::server {

void ErrorCurve::remove(std::uint64_t seq) {
  const auto found = std::ranges::lower_bound(trials_, seq, {}, &Trial::seq);
  if (found != trials_.end() && found->seq == seq) found->counts = false;
}

std::vector<ErrorCurve::Point> ErrorCurve::points(std::size_t most) const {
  std::vector<Trial> trials;
  std::ranges::copy_if(trials_, std::back_inserter(trials), &Trial::counts);
  const std::size_t step = std::max<std::size_t>(1, (trials.size() + most - 1) / most);
  std::vector<Point> points;
  double mistakes = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    mistakes += trials[i].is_mistake ? 1 : 0;
    if (i >= kWindow) mistakes -= trials[i - kWindow].is_mistake ? 1 : 0;
    if ((trials.size() - 1 - i) % step != 0) continue;
    constexpr double z = 1.959963984540054;
    const double n = static_cast<double>(std::min(i + 1, kWindow)), p = mistakes / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    points.push_back({trials[i].seq, i + 1, p, std::max(0.0, middle - half), std::min(1.0, middle + half)});
  }
  return points;
}

ErrorCurve::Stop ErrorCurve::stop() const {
  std::vector<Trial> trials;
  std::ranges::copy_if(trials_, std::back_inserter(trials), &Trial::counts);
  if (trials.size() < 2 * kWindow)
    return {false, "a hint needs " + std::to_string(2 * kWindow) +
                       " labels that were guessed before they were told; there are " +
                       std::to_string(trials.size())};
  const auto mistakes = [&](std::size_t back) {
    const auto end = trials.end() - static_cast<std::ptrdiff_t>(back);
    return std::count_if(end - kWindow, end, [](const Trial& trial) { return trial.is_mistake; });
  };
  const auto last = mistakes(0), earlier = mistakes(kWindow);
  const std::string facts = std::to_string(last) + " of the last 100 were guessed wrong, " +
                            std::to_string(earlier) + " of the 100 before";
  return last < earlier ? ErrorCurve::Stop{false, facts + ": further labels still pay"}
                        : ErrorCurve::Stop{true, facts + ": further labels of this kind gain little"};
}

}  // namespace copse::server
