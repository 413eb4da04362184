// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "choices.hpp"
#include "copse/io/edge_stream.hpp"
#include "inputs.hpp"

// Graphs that need not fit into memory: `--memory` chooses between reading them and streaming their edges.

namespace copse::cli {

/// --memory, --spool and --resume.
struct MemoryChoice {
  std::uint64_t bytes = 0;  // 0: not told, and nothing is streamed
  std::string spool, resume;

  std::string directory() const;  // the one told, else TMPDIR, else /tmp
};
void add_memory_options(CLI::App* verb, MemoryChoice& choice, bool with_spool);

/// What reading a graph and learning from it takes at the peak.
struct RunSize {
  std::uint64_t nodes = 0, edges = 0, name_bytes = 0;
  bool weighted = false, listed_both_ways = false;

  std::uint64_t arcs() const { return 2 * edges; }
  std::uint64_t graph_bytes() const { return 8 * (nodes + 1) + arcs() * (weighted ? 8 : 4); }
};
std::uint64_t reading_bytes(const RunSize& size);  // of text, beside the graph; estimate.cpp
std::uint64_t peak_bytes(const RunSize& size, bool is_text, std::uint64_t learner_bytes);  // estimate.cpp

/// How trees are streamed within a number of bytes: so many at once.
struct StreamPlan {
  std::uint32_t trees_at_once = 0;  // 0: not even one fits
  int threads = 1;
  std::uint64_t bytes = 0;  // at the peak
};
StreamPlan plan_stream(const RunSize& size, std::size_t num_classes, std::uint32_t num_trees, int threads,
                       std::uint64_t memory);
/// The learner as it streams: wta of random keys unless the user says otherwise; UsageError for one that
/// cannot.
LearnerChoice streamed_learner(const LearnerChoice& choice);

/// The committee's answers in the memory that is allowed.
BatchResult fit_streamed(Session& session, const EdgeStream& stream, std::span<const Label> labels,
                         std::size_t num_classes, const LearnerChoice& learner, const MemoryChoice& memory);

}  // namespace copse::cli
