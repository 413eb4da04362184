// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "papers/experiment.hpp"
#include "papers/findings.hpp"

/// Parts of the reports on spanning trees: tables a set, figures a set, statements over all sets and shares.
namespace copse {

/// The values of a method's runs in one cell.
std::vector<double> cell(const Results& results, const std::string& measure, const std::string& set,
                         const std::string& train, const std::string& method);

/// Calls body(set, train) for every data set and share of training labels.
void for_each_cell(const Results& results,
                   const std::function<void(const std::string& set, const std::string& train)>& body);

/// Whether `better` has less of `measure` than `worse`, in every cell.
Tally compare_methods(const Results& results, const std::string& measure, const std::string& better,
                      const std::string& worse);
void add(Tally& sum, const Tally& part);

/// The mean over all cells, in percent.
double overall(const Results& results, const std::string& measure, const std::string& method);

/// "WTA+MST 4.1, GPA+MST 7.0": means over all cells.
std::string overall_text(const Results& results, const std::string& measure,
                         const std::vector<std::string>& methods);

/// Error and F of `methods` on one set, a column each for every share.
ReportTable set_table(const Results& results, const std::string& set, const std::string& title,
                      const std::vector<std::string>& methods, const std::string& error,
                      const std::string& f);

/// Error against the share of training labels, a line a method.
Chart set_chart(const Results& results, const std::string& set, const std::string& title,
                const std::string& measure, const std::vector<std::string>& methods);

/// "usps-10: 9,298 nodes, 68,817 edges, 10 classes", for the setting.
std::string set_sizes(const Results& results);

}  // namespace copse
