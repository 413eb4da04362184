// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

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
  if (edges.cut_size == 0) return 1;
  const double p = edges.cut_size, w = edges.cut_weight;
  return best_over_sets_aside(edges, 2,
                              [=](double r) { return 1 + 2 * p + 4 * p * std::log2(1 + r * w / p); });
}

double random_tree_bound(double expected_cut, double expected_resistance, double largest_cut_weight) {
  return 1 + 2 * expected_cut + 4 * expected_cut * std::log2(1 + largest_cut_weight * expected_resistance);
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
