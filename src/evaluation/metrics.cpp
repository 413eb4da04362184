// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/metrics.hpp"

#include <cassert>

namespace copse {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Without its true negatives, which F1 does not look at.
BinaryCounts one_class(const Confusion& table, std::size_t c) {
  BinaryCounts counts;
  const auto label = static_cast<Label>(c);
  counts.true_positive = table.count(label, label);
  counts.false_negative = table.count(label, kNoLabel);
  for (std::size_t other = 0; other < table.num_classes(); ++other) {
    if (other == c) continue;
    counts.false_negative += table.count(label, static_cast<Label>(other));
    counts.false_positive += table.count(static_cast<Label>(other), label);
  }
  return counts;
}

bool occurs(const BinaryCounts& counts) {
  return counts.true_positive + counts.false_positive + counts.false_negative > 0;
}

double mean_f1(const std::vector<BinaryCounts>& classes) {
  double sum = 0;
  std::uint64_t num_occurring = 0;
  for (const BinaryCounts& counts : classes) {
    if (!occurs(counts)) continue;
    sum += counts.f1();
    ++num_occurring;
  }
  return num_occurring == 0 ? 0 : sum / static_cast<double>(num_occurring);
}

double pooled_f1(const std::vector<BinaryCounts>& classes) {
  BinaryCounts sum;
  for (const BinaryCounts& counts : classes) sum += counts;
  return sum.f1();
}

}  // namespace

std::vector<BinaryCounts> Confusion::by_class() const {
  std::vector<BinaryCounts> classes;
  for (std::size_t c = 0; c < num_classes_; ++c) classes.push_back(one_class(*this, c));
  return classes;
}

Confusion& Confusion::operator+=(const Confusion& more) {
  assert(more.num_classes_ == num_classes_);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.counts_[i];
  return *this;
}

void Confusion::add(Label truth, Label predicted) {
  assert(truth < num_classes_ && (predicted < num_classes_ || predicted == kNoLabel));
  ++counts_[truth * (num_classes_ + 1) + (predicted == kNoLabel ? num_classes_ : predicted)];
}

std::uint64_t Confusion::count(Label truth, Label predicted) const {
  return counts_[truth * (num_classes_ + 1) + (predicted == kNoLabel ? num_classes_ : predicted)];
}

std::uint64_t Confusion::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts_) sum += count;
  return sum;
}

double Confusion::error() const {
  std::uint64_t right = 0;
  for (std::size_t c = 0; c < num_classes_; ++c) right += count(static_cast<Label>(c), static_cast<Label>(c));
  return ratio(total() - right, total());
}

double Confusion::macro_f1() const { return mean_f1(by_class()); }
double Confusion::micro_f1() const { return pooled_f1(by_class()); }

std::vector<double> Confusion::f1() const {
  std::vector<double> values;
  for (const BinaryCounts& counts : by_class()) values.push_back(counts.f1());
  return values;
}

void BinaryCounts::add(bool is_true, bool is_yes) {
  ++(is_yes ? is_true ? true_positive : false_positive : is_true ? false_negative : true_negative);
}

BinaryCounts& BinaryCounts::operator+=(const BinaryCounts& more) {
  true_positive += more.true_positive;
  false_positive += more.false_positive;
  false_negative += more.false_negative;
  true_negative += more.true_negative;
  return *this;
}

double BinaryCounts::error() const {
  return ratio(false_positive + false_negative,
               true_positive + false_positive + false_negative + true_negative);
}

double BinaryCounts::f1() const {
  return ratio(2 * true_positive, 2 * true_positive + false_positive + false_negative);
}

double OneVersusRest::error() const {
  double sum = 0;
  for (const BinaryCounts& counts : by_class) sum += counts.error();
  return by_class.empty() ? 0 : sum / static_cast<double>(by_class.size());
}

double OneVersusRest::macro_f1() const { return mean_f1(by_class); }
double OneVersusRest::micro_f1() const { return pooled_f1(by_class); }

}  // namespace copse
