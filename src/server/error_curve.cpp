// SPDX-License-Identifier: Apache-2.0
#include "server/error_curve.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace copse::server {

void ErrorCurve::remove(std::uint64_t seq) {
  const auto found = std::ranges::lower_bound(trials_, seq, {}, &Trial::seq);
  if (found != trials_.end() && found->seq == seq) trials_.erase(found);  // mostly the last
}

std::size_t ErrorCurve::mistakes_before(std::size_t end) const {
  const auto last = trials_.begin() + static_cast<std::ptrdiff_t>(end);
  return static_cast<std::size_t>(std::count_if(last - static_cast<std::ptrdiff_t>(std::min(end, kWindow)),
                                                last, [](const Trial& trial) { return trial.is_mistake; }));
}

std::vector<ErrorCurve::Point> ErrorCurve::points(std::size_t most) const {
  const std::size_t step = std::max<std::size_t>(1, (trials_.size() + most - 1) / most);
  std::vector<Point> points;
  for (std::size_t end = trials_.empty() ? 1 : (trials_.size() - 1) % step + 1; end <= trials_.size();
       end += step) {
    constexpr double z = 1.959963984540054;
    const auto n = static_cast<double>(std::min(end, kWindow));
    const double p = static_cast<double>(mistakes_before(end)) / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    points.push_back(
        {trials_[end - 1].seq, end, p, std::max(0.0, middle - half), std::min(1.0, middle + half)});
  }
  return points;
}

ErrorCurve::Stop ErrorCurve::stop() const {
  if (trials_.size() < 2 * kWindow)
    return {false, "a hint needs " + std::to_string(2 * kWindow) +
                       " labels that were guessed before they were told; there are " +
                       std::to_string(trials_.size())};
  const std::size_t last = mistakes_before(trials_.size()),
                    earlier = mistakes_before(trials_.size() - kWindow);
  const std::string facts = std::to_string(last) + " of the last 100 were guessed wrong, " +
                            std::to_string(earlier) + " of the 100 before";
  return last < earlier ? ErrorCurve::Stop{false, facts + ": further labels still pay"}
                        : ErrorCurve::Stop{true, facts + ": further labels of this kind gain little"};
}

}  // namespace copse::server
