// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "copse/learners/learner.hpp"

namespace copse {

/// Each of n nodes is labelled with the probability `share`, by a class drawn at random.
inline std::vector<Label> some_labels(NodeId n, int num_classes, double share, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels) {
    if (static_cast<double>(random() % 1000) < share * 1000)
      label = static_cast<Label>(random() % static_cast<unsigned>(num_classes));
  }
  return labels;
}

inline std::vector<Prediction> answers(const Predictor& predictor, NodeId num_nodes) {
  std::vector<Prediction> all;
  for (NodeId u = 0; u < num_nodes; ++u) all.push_back(predictor.predict(u));
  return all;
}

/// To the last bit, labels, confidence and scores of all nodes.
inline void expect_same_answers(const Predictor& a, const Predictor& b, NodeId num_nodes) {
  ASSERT_EQ(answers(a, num_nodes), answers(b, num_nodes));
  std::vector<double> x(std::max(a.num_classes(), b.num_classes())), y(x.size());
  for (NodeId u = 0; u < num_nodes; ++u) {
    a.scores(u, std::span(x).first(a.num_classes()));
    b.scores(u, std::span(y).first(b.num_classes()));
    ASSERT_EQ(x, y) << u;
  }
}

}  // namespace copse
