// SPDX-License-Identifier: Apache-2.0
#include "streamed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "checkpoint.hpp"
#include "copse/learners/forest_committee.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/forest_builder.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse::cli {
namespace {

// The program, and either text and its columns or blocks of edges and what is kept of them.
std::uint64_t fixed_bytes(const RunSize& size) {
  constexpr std::uint64_t kProgram = std::uint64_t{9} << 20, kBlocks = std::uint64_t{40} << 20;
  return kProgram + std::min(kBlocks, 40 * size.edges);
}

CommitteeOptions committee_options(const LearnerChoice& learner) {
  return parse_options<CommitteeOptions>(learner.name, learner.values);
}

template <class T>
std::uint64_t hash_of(std::span<const T> values, std::uint64_t before = 0) {
  return XXH3_64bits_withSeed(values.data(), values.size_bytes(), before);
}

/// What key_bound() and distances have to know of the weights, and `hash`, where that is asked for, of edges.
struct Weighing {
  std::vector<std::uint64_t> bins;
  WeightRange range;
  std::uint64_t hash = 0;
};
Weighing weigh(const EdgeStream& stream, bool with_hash, const Execution& execution) {
  Weighing weighing;
  if (!stream.is_weighted() && !with_hash) return weighing;
  if (stream.is_weighted()) weighing.bins.resize(kWeightBins);
  stream.scan(execution, "a look at the edges",
              [&](std::span<const NodeId> u, std::span<const NodeId> v, std::span<const Weight> weights) {
                if (with_hash) weighing.hash = hash_of(weights, hash_of(v, hash_of(u, weighing.hash)));
                count_weights(weights, weighing.bins);
                for (const Weight weight : weights)
                  if (weight != 0) weighing.range.add(weight);
              });
  return weighing;
}

}  // namespace

std::string MemoryChoice::directory() const {
  if (!spool.empty()) return spool;
  const char* place = std::getenv("TMPDIR");
  return place != nullptr && *place != '\0' ? place : "/tmp";
}

void add_memory_options(CLI::App* verb, MemoryChoice& choice, bool with_spool) {
  add_option(verb, "--memory BYTES", choice.bytes,
             "what the run may take, as in 8G: a graph that needs more is streamed from disk, by\n"
             "wta or tree_cut on random_key trees (docs/scale.md)")
      ->transform(CLI::AsSizeValue(false).description(""));
  if (!with_spool) return;
  add_option(verb, "--spool DIRECTORY", choice.spool,
             "directory for the edges of a streamed graph [$TMPDIR or /tmp]");
  add_option(verb, "--resume FILE", choice.resume,
             "streamed trees are kept here from scan to scan: the same command goes on where a run was\n"
             "killed, and removes the file in the end")
      ->needs("--memory");
}

StreamPlan plan_stream(const RunSize& size, std::size_t num_classes, std::uint32_t num_trees, int threads,
                       std::uint64_t memory) {
  const std::uint64_t per_node = 2 * sizeof(Label) + ForestCommittee::bytes_per_node(num_classes, num_trees);
  const auto bytes = [&](std::uint32_t at_once, int with_threads) {
    return fixed_bytes(size) + size.name_bytes +
           size.nodes * (per_node + ForestBuilder::bytes_per_node(size.weighted, at_once, with_threads));
  };
  for (int fewer = std::max(1, threads); fewer >= 1; fewer = fewer == 1 ? 0 : fewer / 2)
    for (std::uint32_t at_once = std::min(num_trees, kMostTreesAtOnce); at_once >= 1; --at_once)
      if (bytes(at_once, fewer) <= memory && (at_once >= static_cast<std::uint32_t>(fewer) || fewer == 1)) {
        int scanning = fewer;  // one tree at a time is sorted by one thread, but all can read edges for it
        while (scanning < threads && bytes(at_once, scanning + 1) <= memory) ++scanning;
        return {at_once, scanning, bytes(at_once, scanning)};
      }
  return {0, 1, bytes(1, 1)};
}

LearnerChoice streamed_learner(const LearnerChoice& choice) {
  LearnerChoice learner = choice;
  if (!learner.is_given) learner.name = "wta";
  if (learner.name != "wta" && learner.name != "tree_cut")
    throw UsageError("--learner", learner.name + " needs the graph in memory, where it does not fit",
                     "take wta or tree_cut, which learn from a stream of edges, or give more --memory");
  const auto tree = learner.values.find("tree");
  if (tree != learner.values.end() && tree->second != "random_key")
    throw UsageError("--tree", tree->second + " trees need the graph in memory, where it does not fit",
                     "leave it out for random_key, or give more --memory");
  learner.values["tree"] = "random_key";
  learner.row().check(learner.values);
  return learner;
}

BatchResult fit_streamed(Session& session, const EdgeStream& stream, std::span<const Label> labels,
                         std::size_t num_classes, const LearnerChoice& learner, const MemoryChoice& memory) {
  const CommitteeOptions options = committee_options(learner);
  const auto num_trees = static_cast<std::uint32_t>(options.num_trees);
  const RunSize size{stream.num_nodes(), stream.num_edges(), stream.names().bytes(), stream.is_weighted()};
  const StreamPlan plan = plan_stream(size, num_classes, num_trees, session.threads, memory.bytes);
  if (plan.trees_at_once == 0)
    throw UsageError("--memory",
                     fmt::format("a tree of {} needs {}, and {} are allowed", counted(size.nodes, "node"),
                                 bytes_text(plan.bytes), bytes_text(memory.bytes)),
                     "give more; edges may lie on disk, nodes may not");
  session.say("  streamed: {} of {}, {} at once in {}, two scans over the edges each",
              counted(num_trees, "tree"), learner.name, counted(plan.trees_at_once, "tree"),
              bytes_text(plan.bytes));
  Execution execution = session.execution();
  execution.threads = plan.threads;
  const Weighing weighing = weigh(stream, !memory.resume.empty(), execution);
  const double bound = key_bound(size.nodes, size.edges, weighing.bins);
  const ForestRule rule = learner.name == "wta" ? ForestRule::wta : ForestRule::tree_cut;
  ForestCommittee committee(rule, labels, num_classes, num_trees,
                            options.weighted ? weighing.range : WeightRange{}, execution);

  std::optional<Checkpoint> checkpoint;
  Checkpoint::Progress progress;
  if (!memory.resume.empty()) {
    const std::string described =
        fmt::format("{} {} {} {}", COPSE_VERSION, described_text(learner.row(), learner.values), session.seed,
                    num_classes);
    const std::uint64_t bytes =
        size.nodes * (ForestCommittee::bytes_per_node(num_classes, num_trees) +
                      std::min(num_trees, plan.trees_at_once) * (size.weighted ? 12 : 8));
    checkpoint.emplace(memory.resume,
                       Checkpoint::Run{weighing.hash, hash_of(labels), hash_of(std::span(described))}, bytes);
    progress = checkpoint->read(committee);
    session.say("  {}: {}, up to {} there", memory.resume,
                progress.trees == 0 && progress.halves.empty()
                    ? std::string("nothing to go on with")
                    : fmt::format("goes on after {}{}", counted(progress.trees, "tree"),
                                  progress.halves.empty() ? ""
                                                          : fmt::format(" and the first scan of {} more",
                                                                        progress.halves.size())),
                bytes_text(bytes));
  }
  std::uint32_t done = progress.trees;
  try {
    while (done < num_trees) {
      // Trees that were half done need the memory that is allowed now.
      if (progress.halves.size() > plan.trees_at_once) progress.halves.clear();
      const auto halves = static_cast<std::uint32_t>(progress.halves.size());
      const std::uint32_t count = halves > 0 ? halves : std::min(plan.trees_at_once, num_trees - done);
      ForestBuilder builder(size.nodes, size.weighted, {session.seed, done, count}, bound, execution);
      for (int scan = 1; !builder.is_done(); ++scan, builder.end_scan()) {
        if (scan == 2 && checkpoint && halves == 0) checkpoint->write(done, committee, count, &builder);
        if (scan == 1 && halves > 0) {
          for (std::uint32_t t = 0; t < halves; ++t) builder.resume(t, progress.halves[t]);
          progress.halves.clear();
          continue;
        }
        stream.scan(
            execution, fmt::format("trees {}-{}, scan {}", done + 1, done + count, scan),
            [&](std::span<const NodeId> u, std::span<const NodeId> v, std::span<const Weight> weight) {
              builder.add(EdgeBlock<NodeId>{u, v, weight});
            });
      }
      parallel_for(execution, count, [&](std::size_t t) {
        SpanningForest forest = builder.take_forest(static_cast<std::uint32_t>(t));
        if (!options.weighted) forest.weight = {};
        committee.vote(done + static_cast<std::uint32_t>(t), std::move(forest));
      });
      done += count;
      if (checkpoint) checkpoint->write(done, committee);
    }
  } catch (const Cancelled&) {
    if (done == 0) throw;  // the trees that have voted are a committee
  }
  return committee.finish();
}

}  // namespace copse::cli
