// SPDX-License-Identifier: Apache-2.0
#include "streamed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "copse/learners/forest_committee.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/forest_builder.hpp"

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

/// What key_bound() and distances have to know of the weights.
struct Weighing {
  std::vector<std::uint64_t> bins;
  WeightRange range;
};
Weighing weigh(const EdgeStream& stream, const Execution& execution) {
  Weighing weighing;
  if (!stream.is_weighted()) return weighing;
  weighing.bins.resize(kWeightBins);
  stream.scan(execution, "weights", [&](auto, auto, std::span<const Weight> weights) {
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
  verb->add_option("--memory", choice.bytes,
                   "what the run may take, as in 8G: a graph that needs more is streamed from disk, by\n"
                   "wta or tree_cut on random_key trees (docs/scale.md)")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue(false).description(""));
  if (with_spool)
    verb->add_option("--spool", choice.spool, "directory for the edges of a streamed graph [$TMPDIR or /tmp]")
        ->type_name("DIRECTORY");
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
                         std::size_t num_classes, const LearnerChoice& learner, std::uint64_t memory) {
  const CommitteeOptions options = committee_options(learner);
  const auto num_trees = static_cast<std::uint32_t>(options.num_trees);
  const RunSize size{stream.num_nodes(), stream.num_edges(), stream.names().bytes(), stream.is_weighted()};
  const StreamPlan plan = plan_stream(size, num_classes, num_trees, session.threads, memory);
  if (plan.trees_at_once == 0)
    throw UsageError("--memory",
                     fmt::format("a tree of {} needs {}, and {} are allowed", counted(size.nodes, "node"),
                                 bytes_text(plan.bytes), bytes_text(memory)),
                     "give more; edges may lie on disk, nodes may not");
  session.say(fmt::format("  streamed: {} of {}, {} at once in {}, two scans over the edges each",
                          counted(num_trees, "tree"), learner.name, counted(plan.trees_at_once, "tree"),
                          bytes_text(plan.bytes)));
  Execution execution = session.execution();
  execution.threads = plan.threads;
  const Weighing weighing = weigh(stream, execution);
  const double bound = key_bound(size.nodes, size.edges, weighing.bins);
  const ForestRule rule = learner.name == "wta" ? ForestRule::wta : ForestRule::tree_cut;
  ForestCommittee committee(rule, labels, num_classes, num_trees,
                            options.weighted ? weighing.range : WeightRange{}, execution);
  std::uint32_t done = 0;
  try {
    for (std::uint32_t first = 0; first < num_trees; first += plan.trees_at_once) {
      const std::uint32_t count = std::min(plan.trees_at_once, num_trees - first);
      ForestBuilder builder(size.nodes, size.weighted, {session.seed, first, count}, bound, execution);
      for (int scan = 1; !builder.is_done(); ++scan, builder.end_scan())
        stream.scan(
            execution, fmt::format("trees {}-{}, scan {}", first + 1, first + count, scan),
            [&](std::span<const NodeId> u, std::span<const NodeId> v, std::span<const Weight> weight) {
              builder.add(EdgeBlock<NodeId>{u, v, weight});
            });
      parallel_for(execution, count, [&](std::size_t t) {
        SpanningForest forest = builder.take_forest(static_cast<std::uint32_t>(t));
        if (!options.weighted) forest.weight = {};
        committee.vote(first + static_cast<std::uint32_t>(t), std::move(forest));
      });
      done = first + count;
    }
  } catch (const Cancelled&) {
    if (done == 0) throw;  // the trees that have voted are a committee
  }
  return committee.finish();
}

}  // namespace copse::cli
