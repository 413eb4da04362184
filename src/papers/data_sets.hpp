// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/io/read.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/points/points.hpp"

/// The papers' data sets: DIRECTORY/SET/FILE, packed or not.
namespace copse {

/// Points with a class each.
struct LabelledPoints {
  Points points;
  std::vector<Label> labels;  // of digits: the digit itself
};

/// usps/points.npy and labels.tsv, 9,298 digits of 16 x 16; without a directory the 1,797 digits of 8 x 8
/// inside the program (data/digits).
LabelledPoints digits(const std::string& directory);

/// The rows of one digit; InputError where there are fewer than `needed`.
std::vector<std::size_t> rows_of_digit(const std::vector<Label>& labels, Label digit, std::size_t needed);

/// The rows of `points` in that order.
LabelledPoints chosen_points(const LabelledPoints& points, const std::vector<std::size_t>& rows);

/// SET/edges.tsv and labels.tsv, any number of labels per node; nodes are numbers.
struct LabelledGraph {
  NamedGraph graph;
  MultiLabels labels;
};
LabelledGraph read_labelled_graph(const std::string& directory, const std::string& set,
                                  const Execution& execution);
/// SET/points.svm and labels.tsv: points, any number of labels each.
struct MultiLabelledPoints {
  Points points;
  MultiLabels labels;
};
MultiLabelledPoints read_labelled_points(const std::string& directory, const std::string& set,
                                         const Execution& execution);

/// Not everybody has every set.
bool has_file(const std::string& directory, const std::string& set, const std::string& file);

}  // namespace copse
