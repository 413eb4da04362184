// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/queries/query.hpp"
#include "learners/signs.hpp"

namespace copse {

/// Names, for the error.
std::string strategies_with_signs();

/// A row from a strategy's class: S(graph, S::Options, execution), S::bytes(size, options) and whether
/// S::kTakesSigns, or refuses graphs with negative edges.
template <class S>
QueryRow make_query_row(const char* name, const char* idea, const char* cost, const char* paper) {
  QueryRow row{{name, idea, cost, paper, describe_options<typename S::Options>(), {}}};
  const auto read = [owner = row.name](const OptionValues& values) {
    return parse_options<typename S::Options>(owner, values);
  };
  row.check = read;
  row.signed_graphs = S::kTakesSigns;
  row.depends_on_order = S::kDependsOnOrder;
  row.make = [=](const GraphView& graph, const OptionValues& values, const Execution& execution) {
    if (!S::kTakesSigns) refuse_signs(graph, name, "strategies that can are " + strategies_with_signs());
    return std::make_unique<S>(graph, read(values), execution);
  };
  row.bytes = [=](const ProblemSize& size, const OptionValues& values) {
    return S::bytes(size, read(values));
  };
  return row;
}

// One source each: query_NAME.cpp; the first three are in query_spectral.cpp.
QueryRow auto_query_row();
QueryRow vopt_row();
QueryRow uncertainty_row();
QueryRow act_st_row();
QueryRow act_mu_row();
QueryRow random_row();
QueryRow disagreement_row();
QueryRow cover_row();

}  // namespace copse
