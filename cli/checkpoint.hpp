// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copse/learners/forest_committee.hpp"
#include "copse/trees/forest_builder.hpp"

namespace copse::cli {

/// The file of `--resume`: the votes of a streamed committee so far and, between two scans, the edges of the
/// trees that are being built. It is there as a whole or not at all, and only read back into the same run.
class Checkpoint {
 public:
  /// What the answers depend on, as hashes that are told apart in messages.
  struct Run {
    std::uint64_t edges = 0, labels = 0, options = 0;
    bool operator==(const Run&) const = default;
  };
  /// `bytes`: how large the file becomes. Needs room for two of them while one replaces the other.
  Checkpoint(const std::string& path, const Run& run, std::uint64_t bytes);

  struct Progress {
    std::uint32_t trees = 0;        // that have voted
    std::vector<KeptEdges> halves;  // of the trees that follow, after their first scan
  };
  /// Nothing where there is no file; InputError for one that is damaged or of another run.
  Progress read(ForestCommittee& committee) const;
  /// Not every time where that would take more than a tenth of the time.
  void write(std::uint32_t trees, ForestCommittee& committee, std::uint32_t num_halves = 0,
             const ForestBuilder* builder = nullptr);

 private:
  std::string path_;
  Run run_;
  double written_at_ = -1e9, took_ = 0;  // seconds, by the clock
};

}  // namespace copse::cli
