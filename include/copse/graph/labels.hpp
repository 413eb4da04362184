// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "copse/graph/names.hpp"
#include "copse/graph/types.hpp"

namespace copse {

/// The classes, in order of first appearance: index <-> name.
class ClassNames {
 public:
  /// The index of `name`, added if new. Throws InputError beyond kMaxClasses, and where check_name() does.
  Label intern(std::string_view name);
  /// kNoLabel if there is no such class.
  Label find(std::string_view name) const;
  const std::string& name(Label label) const { return names_[label]; }
  std::size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, Label, Hash, std::equal_to<>> labels_;
};

/// At most one label per node: label[node] or kNoLabel.
struct Labels {
  std::vector<Label> of_node;
  ClassNames classes;
  std::uint64_t num_labelled() const;
};

/// A label that is not certain, or what a model thinks of a class.
struct SoftLabel {
  NodeId node = kNoNode;
  Label label = kNoLabel;
  double weight = 1;
};

/// Any number of labels per node, kept as the distinct sets that occur. Most methods then treat a set as
/// one class (`set_of_node`, kNoLabel = unlabelled), and a class's score is the sum over the sets that
/// hold it: one run answers every yes/no question at once, because all of them share the labelled nodes.
struct MultiLabels {
  std::vector<Label> set_of_node;
  std::vector<std::vector<Label>> sets;  // sorted class indices of each distinct set
  ClassNames classes;

  /// `of_classes[c]` becomes the sum of `of_sets` over the sets that hold class c.
  void add_up(std::span<const double> of_sets, std::span<double> of_classes) const;
};

}  // namespace copse
