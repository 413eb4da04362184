// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "copse/queries/query.hpp"
#include "program.hpp"
#include "table.hpp"

namespace copse::cli {

/// --strategy (or --active) and its options.
struct StrategyChoice {
  std::string name = "act_st";
  OptionValues values;

  const QueryRow& row() const { return query_row(name); }
  void check() const;  // UsageError for a wrong option: before the graph is read, not after
  /// Refuses what would not fit into memory, with the number of bytes, before it starts.
  void check_memory(const GraphView& graph, std::size_t num_classes, int threads) const;
  Json effective() const;    // all options as they are in effect, typed
  std::string text() const;  // "act_st (components=weighted, ...)"
};

/// `flag` and the options of the strategy that the command line mentions, as flags.
void add_strategy_options(CLI::App* verb, const std::string& flag, StrategyChoice& choice,
                          const Mentioned& mentioned);

/// A paragraph a strategy, for help.
std::string strategies_text();

}  // namespace copse::cli
