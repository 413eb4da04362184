// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// Which function speaks for which class. The first two classes share one, the papers' f, as f and -f; the
/// third splits them, and from then on each class has its own, which begins at 0 with its first label.
class ClassFunctions {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Class {
    std::size_t column = kNone;
    double sign = 1;
  };

  enum class Met { known, first, second, third, later };
  /// Gives a class that is new its function, made by space.add_column() or space.add_negative_column().
  template <class Space>
  Met meet(Label label, Space& space) {
    if (label >= classes_.size()) classes_.resize(std::size_t{label} + 1);
    if (classes_[label].column != kNone) return Met::known;
    lowest_ = label < lowest_ ? label : lowest_;  // kNoLabel is the largest
    ++count_;
    if (count_ == 2) {
      classes_[label] = {0, -1};
      return Met::second;
    }
    if (count_ == 3) {
      for (std::size_t c = 0; c < classes_.size(); ++c) {
        if (classes_[c].sign > 0) continue;
        classes_[c] = {space.add_negative_column(), 1};
        owner_.push_back(static_cast<Label>(c));
      }
    }
    classes_[label] = {space.add_column(), 1};
    owner_.push_back(label);
    return count_ == 1 ? Met::first : count_ == 3 ? Met::third : Met::later;
  }

  bool knows(Label label) const { return label < classes_.size() && classes_[label].column != kNone; }
  const Class& operator[](Label label) const { return classes_[label]; }
  std::size_t num_columns() const { return owner_.size(); }
  /// The class a function says yes to.
  Label owner(std::size_t column) const { return owner_[column]; }
  /// What a function should be at a node of this label.
  double target(std::size_t column, Label label) const { return owner_[column] == label ? 1 : -1; }
  Label lowest() const { return lowest_; }

 private:
  std::vector<Class> classes_;  // by label
  std::vector<Label> owner_;    // by column
  std::size_t count_ = 0;
  Label lowest_ = kNoLabel;
};

}  // namespace copse
