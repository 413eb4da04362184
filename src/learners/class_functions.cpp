// SPDX-License-Identifier: Apache-2.0
#include "learners/class_functions.hpp"

#include <algorithm>
#include <limits>

#include "copse/support/parallel.hpp"

namespace copse {

void ClassFunctions::assign(std::vector<std::vector<double>> values) {
  unseen_ = std::move(values.back());
  values.pop_back();
  of_class_ = std::move(values);
}

double ClassFunctions::project(NodeId node, Label label, std::span<const double> column, int threads) {
  const double diagonal = column[node];
  while (of_class_.size() <= label) of_class_.push_back(unseen_);
  if (!(diagonal > 0)) return 0;
  std::vector<double*> functions;
  std::vector<double> steps;
  double progress = 0;
  const auto add = [&](std::vector<double>& function, double wanted) {
    const double missing = wanted - function[node];
    functions.push_back(function.data());
    steps.push_back(missing / diagonal);
    return missing * missing / diagonal / 2;
  };
  for (std::size_t c = 0; c < of_class_.size(); ++c) progress += add(of_class_[c], c == label ? 1 : -1);
  const double of_unseen = add(unseen_, -1);
  if (num_classes() < 2) progress += of_unseen;
  parallel_blocks(threads, column.size(), std::size_t{1} << 15,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t f = 0; f < functions.size(); ++f)
                      for (std::size_t u = begin; u < end; ++u) functions[f][u] += steps[f] * column[u];
                  });
  return progress;
}

double ClassFunctions::least_progress(NodeId node) const {
  const auto missing = [](double margin) {
    const double short_of = std::max(0.0, 1 - margin);
    return short_of * short_of;
  };
  double if_none = 0, least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < num_rivals(); ++r) {
    const double g = value(r, node);
    if_none += missing(-g);
    least = std::min(least, missing(g) - missing(-g));
  }
  return std::max(0.0, if_none + least) / 2;
}

double ClassFunctions::margin(NodeId node) const {
  double first = -std::numeric_limits<double>::infinity(), second = first;
  for (std::size_t r = 0; r < num_rivals(); ++r) {
    const double g = value(r, node);
    second = std::max(second, std::min(first, g));
    first = std::max(first, g);
  }
  return (first - second) / 2;
}

Label ClassFunctions::best(NodeId node) const {
  std::size_t best = 0;
  for (std::size_t r = 1; r < num_rivals(); ++r)
    if (value(r, node) > value(best, node)) best = r;
  return static_cast<Label>(std::min(best, num_classes()));
}

}  // namespace copse
