// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/io/read_labels.hpp"
#include "copse/points/points.hpp"
#include "copse/io/read.hpp"

namespace copse {

/// Points with a class each.
struct LabelledPoints {
  std::string name;  // for people: "USPS", "the digits that copse carries"
  Points points;
  std::vector<Label> labels;  // of digits: the digit itself
};

/// 1,797 digits of 8 x 8, inside the program (data/digits).
LabelledPoints carried_digits();

/// DIRECTORY/usps/points.npy[.zst] and labels.tsv: 9,298 digits of 16 x 16.
LabelledPoints usps_digits(const std::string& directory);

/// USPS where there is a directory, else what copse carries.
LabelledPoints digits(const std::string& directory);

/// The rows of `points` in that order.
LabelledPoints chosen_points(const LabelledPoints& points, const std::vector<std::size_t>& rows);

/// DIRECTORY/NAME/edges.tsv[.zst] and labels.tsv[.zst], any number of labels a node; nodes are numbers.
struct LabelledGraph {
  std::string name;
  NamedGraph graph;
  MultiLabels labels;
};
LabelledGraph read_labelled_graph(const std::string& directory, const std::string& name,
                                  const Execution& execution);
/// DIRECTORY/NAME/points.svm[.zst] and labels.tsv[.zst]: points, any number of labels each.
struct MultiLabelledPoints {
  std::string name;
  Points points;
  MultiLabels labels;
};
MultiLabelledPoints read_labelled_points(const std::string& directory, const std::string& name,
                                         const Execution& execution);
/// Whether DIRECTORY/NAME has points.
bool has_points(const std::string& directory, const std::string& name);
/// Whether DIRECTORY/NAME has edges: sets that not everybody has.
bool has_labelled_graph(const std::string& directory, const std::string& name);

}  // namespace copse
