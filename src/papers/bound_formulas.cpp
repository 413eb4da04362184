// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "papers/bounds.hpp"

namespace copse {

double perceptron_bound(double z, double num_noise) {
  return 2 * num_noise + z / 2 + std::sqrt(2 * num_noise * z + z * z / 4);
}

double kernel_bound(double cut_weight, double balance, double num_flips, double resistance_diameter, double b,
                    double c) {
  const double noise = num_flips > 0 ? 4 * num_flips / c : 0;
  return (4 * cut_weight + balance / b + noise) * (resistance_diameter + b + c);
}

BestKernel best_kernel(double cut_weight, double balance, double num_flips, double resistance_diameter) {
  BestKernel best;
  const double root_r = std::sqrt(resistance_diameter), root_cut = 2 * std::sqrt(cut_weight);
  const double root = root_cut * root_r + std::sqrt(balance) + 2 * std::sqrt(num_flips);
  best.z = root * root;
  if (cut_weight > 0) {
    best.b = std::sqrt(balance) * root_r / root_cut;
    best.c = 2 * std::sqrt(num_flips) * root_r / root_cut;
  } else {
    best.b = std::numeric_limits<double>::infinity();  // nothing is cut: the larger the better
  }
  return best;
}

std::uint64_t projection_bound(double squared_norm, std::span<const double> diagonal, double progress) {
  std::vector<double> largest_first(diagonal.begin(), diagonal.end());
  std::sort(largest_first.rbegin(), largest_first.rend());
  // Solves and sums have errors of their own: a bound must not be missed by them.
  double left = (squared_norm - progress) * (1 + 1e-6) + 1e-9;
  std::uint64_t count = 0;
  for (const double k : largest_first) {
    left -= k > 0 ? 1 / k : 0;
    if (left < 0) break;
    ++count;
  }
  return count;
}

double pounce_bound(double squared_norm, std::span<const double> covers) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < covers.size(); ++i)
    best = std::min(best, static_cast<double>(i + 1) + squared_norm * covers[i] + 1);
  return best;
}

std::uint64_t covering_number(std::span<const double> covers, double rho) {
  for (std::size_t i = 0; i < covers.size(); ++i)
    if (covers[i] <= rho) return i + 1;
  return 0;
}

namespace {

// For every number of edges set aside, the largest resistances first: that is the best F of its size.
template <class OfRest>
double best_over_sets_aside(const CutEdges& edges, double price, OfRest&& of_rest) {
  std::vector<double> ascending = edges.uncut_resistances;
  std::sort(ascending.begin(), ascending.end());
  double resistance = 0, best = std::numeric_limits<double>::infinity();
  for (std::size_t kept = 0; kept <= ascending.size(); ++kept) {
    if (kept > 0) resistance += ascending[kept - 1];
    best = std::min(best, of_rest(resistance) + price * static_cast<double>(ascending.size() - kept));
  }
  return best;
}

}  // namespace

double line_bound(const CutEdges& edges) {
  if (edges.cut_size == 0) return 1;
  const double p = edges.cut_size, w = edges.cut_weight;
  return best_over_sets_aside(edges, 1,
                              [=](double r) { return 1 + p + 2 * p * std::log2(1 + r * w / (2 * p)); });
}

double tree_bound(const CutEdges& edges) {
  return robust_tree_bound(edges, edges.cut_size, edges.cut_weight);
}

double robust_tree_bound(const CutEdges& edges, double smoothed, double smoothed_weight) {
  if (edges.cut_size == 0) return 1;
  return best_over_sets_aside(edges, 2, [=, p = edges.cut_size](double r) {
    return 1 + 2 * p + 4 * smoothed * std::log2(1 + r * smoothed_weight / smoothed);
  });
}

double random_tree_bound(double expected_cut, double expected_resistance, double largest_cut_weight) {
  return robust_random_tree_bound(expected_cut, expected_cut, expected_resistance, largest_cut_weight);
}

double robust_random_tree_bound(double expected_cut, double smoothed, double expected_resistance,
                                double largest_cut_weight) {
  return 1 + 2 * expected_cut + 4 * smoothed * std::log2(1 + largest_cut_weight * expected_resistance);
}

namespace {

/// The fewest sets of bits, none of which holds two that are too far apart: by the set of points covered.
std::uint64_t fewest_sets(const std::vector<std::uint32_t>& near) {
  const std::size_t all = std::size_t{1} << near.size();
  std::vector<char> is_set(all);
  std::vector<std::uint32_t> fewest(all);
  is_set[0] = 1;
  for (std::uint32_t points = 1; points < all; ++points) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(points));
    const std::uint32_t others = points & (points - 1);
    is_set[points] = is_set[others] != 0 && (others & ~near[first]) == 0 ? 1 : 0;
    fewest[points] = static_cast<std::uint32_t>(near.size());
    for (std::uint32_t rest = others;; rest = (rest - 1) & others) {  // what other sets cover
      if (is_set[points & ~rest] != 0) fewest[points] = std::min(fewest[points], fewest[rest] + 1);
      if (rest == 0) break;
    }
  }
  return fewest[all - 1];
}

}  // namespace

SeparatingCover separating_cover(std::span<const double> distances, std::span<const Label> labels) {
  const std::size_t count = labels.size();
  const auto distance = [&](std::size_t i, std::size_t j) { return distances[i * count + j]; };
  SeparatingCover cover;
  double separation = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (labels[i] != labels[j]) separation = std::min(separation, distance(i, j));
  if (std::isinf(separation)) {  // one label: one set
    cover.least_sets = cover.most_sets = cover.least_components = cover.most_components = count > 0 ? 1 : 0;
    return cover;
  }
  cover.separation = separation;
  const double below = separation * (1 - 1e-9);  // distances have rounding errors
  const auto is_near = [&](std::size_t i, std::size_t j) { return distance(i, j) < below; };
  // Farthest from the first point first: on a tree all that is near such a point is near each other, so that
  // the points chosen and the sets around them are equally many.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance(0, a) > distance(0, b); });
  std::vector<char> is_covered(count), is_excluded(count);
  for (const std::size_t i : order) {
    if (is_excluded[i] == 0) {  // apart from all points chosen so far
      ++cover.least_sets;
      for (std::size_t j = 0; j < count; ++j) is_excluded[j] |= is_near(i, j) || i == j ? 1 : 0;
    }
    if (is_covered[i] != 0) continue;
    ++cover.most_sets;
    std::vector<std::size_t> members;
    for (std::size_t j : order)
      if (is_covered[j] == 0 && std::ranges::all_of(members, [&](std::size_t m) { return is_near(j, m); }) &&
          (j == i || is_near(i, j))) {
        members.push_back(j);
        is_covered[j] = 1;
      }
  }
  if (count <= 14 && cover.least_sets < cover.most_sets) {
    std::vector<std::uint32_t> near(count);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j) near[i] |= i == j || is_near(i, j) ? 1U << j : 0U;
    cover.least_sets = cover.most_sets = fewest_sets(near);
  }
  std::vector<char> is_seen(count);
  for (std::size_t start = 0; start < count; ++start) {
    if (is_seen[start] != 0) continue;
    ++cover.least_components;
    std::vector<std::size_t> open{start};
    is_seen[start] = 1;
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      for (std::size_t j = 0; j < count; ++j)
        if (is_seen[j] == 0 && is_near(i, j)) is_seen[j] = 1, open.push_back(j);
    }
  }
  cover.most_components = cover.least_components;
  return cover;
}

double halving_bound(std::uint64_t num_nodes, std::uint64_t max_cut) {
  if (num_nodes == 0) return 0;
  const auto edges = static_cast<double>(num_nodes - 1);
  // log2 of a sum of binomials, the largest term taken out.
  const auto log_choose = [&](double j) {
    return (std::lgamma(edges + 1) - std::lgamma(j + 1) - std::lgamma(edges - j + 1)) / std::log(2.0);
  };
  const std::uint64_t last = std::min<std::uint64_t>(max_cut, num_nodes - 1);
  const std::uint64_t peak = std::min<std::uint64_t>(last, (num_nodes - 1) / 2);
  const double most = log_choose(static_cast<double>(peak));
  double sum = 0;
  for (std::uint64_t j = 0; j <= last; ++j) sum += std::exp2(log_choose(static_cast<double>(j)) - most);
  return most + std::log2(sum);  // the 2 in front is the first label's
}

}  // namespace copse
