// SPDX-License-Identifier: Apache-2.0
#include "queries/query_row.hpp"

namespace copse {

const std::vector<QueryRow>& query_rows() {
  static const std::vector<QueryRow> rows = {auto_query_row(),   act_st_row(),      act_mu_row(),
                                             disagreement_row(), uncertainty_row(), vopt_row(),
                                             cover_row(),        random_row()};
  return rows;
}

const QueryRow& query_row(const std::string& name) {
  return find_row(query_rows(), name, "strategy", "; `copse query --help` describes them");
}

std::string strategies_with_signs() {
  std::vector<QueryRow> rows = query_rows();
  std::erase_if(rows, [](const QueryRow& row) { return !row.signed_graphs; });
  return names_of(rows);
}

}  // namespace copse
