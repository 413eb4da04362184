// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/splits.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

void check_fraction(double fraction) {
  if (fraction > 0 && fraction < 1) return;  // false for NaN
  throw UsageError{"train fraction", std::to_string(fraction) + " is not between 0 and 1",
                   "it is the share of the labelled nodes that is given to the learner, 0.1 for example"};
}

std::vector<NodeId> labelled_nodes(std::span<const Label> labels) {
  std::vector<NodeId> nodes;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) nodes.push_back(static_cast<NodeId>(u));
  if (nodes.size() < 2) {
    throw UsageError{"split", "there are " + std::to_string(nodes.size()) + " labelled nodes",
                     "one is needed to learn from and one to be hidden: give at least two labels"};
  }
  return nodes;
}

std::vector<std::vector<NodeId>> nodes_by_class(std::span<const Label> labels) {
  std::vector<std::vector<NodeId>> classes;
  for (const NodeId u : labelled_nodes(labels)) {
    if (labels[u] >= classes.size()) classes.resize(std::size_t{labels[u]} + 1);
    classes[labels[u]].push_back(u);
  }
  return classes;
}

// How many of `count` nodes to give: the nearest whole number that leaves one on each side.
std::size_t share_of(double fraction, std::size_t count) {
  const auto wanted = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(count)));
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(count - 1, 1));
}

// Fisher-Yates, as far as needed: a random choice of num_train of the nodes goes to train, the rest to test.
void deal(std::vector<NodeId> nodes, std::size_t num_train, Stream& stream, Split& split) {
  for (std::size_t i = 0; i < num_train; ++i) std::swap(nodes[i], nodes[i + stream.below(nodes.size() - i)]);
  const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>(num_train);
  split.train.insert(split.train.end(), nodes.begin(), middle);
  split.test.insert(split.test.end(), middle, nodes.end());
}

Split sorted(Split split) {
  std::sort(split.train.begin(), split.train.end());
  std::sort(split.test.begin(), split.test.end());
  return split;
}

}  // namespace

Split random_split(std::span<const Label> labels, double fraction, std::uint64_t seed, std::uint64_t index) {
  check_fraction(fraction);
  std::vector<NodeId> nodes = labelled_nodes(labels);
  const std::size_t num_train = share_of(fraction, nodes.size());
  Stream stream{seed, Purpose::split, index};
  Split split;
  deal(std::move(nodes), num_train, stream, split);
  return sorted(std::move(split));
}

Split stratified_split(std::span<const Label> labels, double fraction, std::uint64_t seed,
                       std::uint64_t index) {
  check_fraction(fraction);
  Stream stream{seed, Purpose::split, index};
  Split split;
  for (auto& nodes : nodes_by_class(labels)) {
    if (nodes.empty()) continue;
    const std::size_t num_train = share_of(fraction, nodes.size());
    deal(std::move(nodes), num_train, stream, split);
  }
  if (split.test.empty()) {
    throw UsageError{"split", "every class has a single labelled node, so nothing would be hidden",
                     "give more labels, or split at random without regard to classes"};
  }
  return sorted(std::move(split));
}

Split per_class_split(std::span<const Label> labels, std::uint64_t per_class, std::uint64_t seed,
                      std::uint64_t index) {
  if (per_class == 0) {
    throw UsageError{"labels per class", "0 leaves nothing to learn from",
                     "give at least 1 label of each class"};
  }
  Stream stream{seed, Purpose::split, index};
  Split split;
  for (auto& nodes : nodes_by_class(labels)) {
    if (nodes.empty()) continue;
    const std::size_t num_train = std::min<std::uint64_t>(per_class, nodes.size() - 1);
    deal(std::move(nodes), num_train, stream, split);
  }
  if (split.train.empty()) {
    throw UsageError{"split", "every class has a single labelled node, so nothing would be given",
                     "give more labels, or split at random without regard to classes"};
  }
  return sorted(std::move(split));
}

std::vector<NodeId> random_order(std::span<const Label> labels, std::uint64_t seed, std::uint64_t index) {
  std::vector<NodeId> nodes;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) nodes.push_back(static_cast<NodeId>(u));
  Stream stream{seed, Purpose::online_order, index};
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[stream.below(i)]);
  return nodes;
}

}  // namespace copse
