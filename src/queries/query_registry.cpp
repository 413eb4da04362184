// SPDX-License-Identifier: Apache-2.0
#include "queries/query_row.hpp"

namespace copse {

const std::vector<QueryRow>& query_rows() {
  static const std::vector<QueryRow> rows = {act_st_row(), act_mu_row(), disagreement_row(), cover_row(),
                                             random_row()};
  return rows;
}

const QueryRow& query_row(const std::string& name) {
  std::string known;
  for (const QueryRow& row : query_rows()) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + row.name;
  }
  throw UsageError{"strategy", quoted(name) + " is not known",
                   "the strategies are " + known + "; `copse query --help` describes them"};
}

}  // namespace copse
