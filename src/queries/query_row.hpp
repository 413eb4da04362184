// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/queries/query.hpp"
#include "learners/signs.hpp"

namespace copse {

/// A row from a strategy's class: S(graph, S::Options, execution) and S::bytes(num_nodes, num_arcs, weighted,
/// num_classes, options, threads). One that does not say kTakesSigns refuses graphs with negative edges.
template <class S>
QueryRow make_query_row(const char* name, const char* idea, const char* cost, const char* paper) {
  // The name travels by the row, not by a capture: these are plain function pointers.
  static const std::string owner = name;
  QueryRow row;
  row.name = name;
  row.idea = idea;
  row.cost = cost;
  row.paper = paper;
  row.signed_graphs = requires { S::kTakesSigns; };
  row.options = describe_options<typename S::Options>();
  row.make = [](const GraphView& graph, const OptionValues& values,
                const Execution& execution) -> std::unique_ptr<QueryStrategy> {
    if constexpr (!requires { S::kTakesSigns; })
      refuse_signs(graph, owner, "strategies that can are disagreement, cover and random");
    return std::make_unique<S>(graph, parse_options<typename S::Options>(owner, values), execution);
  };
  row.bytes = [](std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted, std::size_t num_classes,
                 const OptionValues& values, int threads) {
    return S::bytes(num_nodes, num_arcs, weighted, num_classes,
                    parse_options<typename S::Options>(owner, values), threads);
  };
  return row;
}

// One source each: query_NAME.cpp.
QueryRow act_st_row();
QueryRow act_mu_row();
QueryRow random_row();
QueryRow disagreement_row();
QueryRow cover_row();

}  // namespace copse
