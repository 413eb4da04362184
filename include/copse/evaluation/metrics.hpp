// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// One yes/no question: of one class in a multi-label set, or one against the rest.
struct BinaryCounts {
  std::uint64_t true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;
  void add(bool is_true, bool is_yes);
  BinaryCounts& operator+=(const BinaryCounts& more);
  double error() const;
  double f1() const;  // 0 where nothing is positive in truth or answer
};

/// Counts of (true class, predicted class) on the hidden nodes; the last column is "no answer".
class Confusion {
 public:
  explicit Confusion(std::size_t num_classes)
      : num_classes_(num_classes), counts_(num_classes * (num_classes + 1)) {}
  void add(Label truth, Label predicted);
  std::uint64_t count(Label truth, Label predicted) const;  // predicted may be kNoLabel
  std::size_t num_classes() const { return num_classes_; }
  Confusion& operator+=(const Confusion& more);  // of the same classes

  std::uint64_t total() const;
  double error() const;  // share of wrong answers; 0 of an empty table
  /// Mean over the classes that occur as truth or prediction of 2TP / (2TP + FP + FN).
  double macro_f1() const;
  double micro_f1() const;  // over all classes together; equals accuracy when every node is answered
  std::vector<double> f1() const;
  std::vector<BinaryCounts> by_class() const;  // each against the rest

 private:
  std::size_t num_classes_;
  std::vector<std::uint64_t> counts_;
};

/// Averages over the classes, as Cesa-Bianchi et al. 2013 section 7 does for sets with several labels per
/// node.
struct OneVersusRest {
  std::vector<BinaryCounts> by_class;
  double error() const;     // mean over classes
  double macro_f1() const;  // mean over classes that occur
  double micro_f1() const;  // of the summed counts
};

}  // namespace copse
