// SPDX-License-Identifier: Apache-2.0
#include "streamed.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "copse/learners/forest_committee.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/forest_builder.hpp"
#include "support/atomic_file.hpp"

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

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The columns of some edges, each behind its length.
template <class Edges, class Column>
void for_each_column(Edges& edges, Column&& column) {
  column(edges.u);
  column(edges.v);
  column(edges.weight);
}

/// The file of `--resume`: the votes of a streamed committee so far and, between two scans, the edges of the
/// trees that are being built. It is there as a whole or not at all, and only read back into the same run.
class Checkpoint {
 public:
  /// What the answers depend on, as hashes that are told apart in messages.
  struct Run {
    std::uint64_t edges = 0, labels = 0, options = 0;
    bool operator==(const Run&) const = default;
  };
  struct Progress {
    std::uint32_t trees = 0;        // that have voted
    std::vector<KeptEdges> halves;  // of the trees that follow, after their first scan
  };

  /// `bytes`: how large the file becomes. Needs room for two of them while one replaces the other.
  Checkpoint(const std::string& path, const Run& run, std::uint64_t bytes) : path_(path), run_(run) {
    std::string directory = std::filesystem::path(path).parent_path().string();
    if (directory.empty()) directory = ".";
    struct statvfs disk {};
    if (::statvfs(directory.c_str(), &disk) != 0)
      throw InputError(directory, std::string("no file can be put there: ") + std::strerror(errno),
                       "name another file with --resume FILE");
    std::error_code none;
    const std::uintmax_t old = std::filesystem::file_size(path, none);
    const std::uint64_t needed = 2 * bytes - (none ? 0 : std::min<std::uint64_t>(old, bytes));
    const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    if (free < needed)
      throw InputError(directory,
                       "what the run may be resumed from takes " + with_commas(needed) +
                           " bytes more there, and " + with_commas(free) + " are free",
                       "free some space, or name another place with --resume FILE");
  }

  /// Nothing where there is no file; InputError for one that is damaged or of another run.
  Progress read(ForestCommittee& committee) const {
    Progress progress;
    std::ifstream file(path_, std::ios::binary);
    if (!file) {
      if (errno == ENOENT) return progress;
      throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno),
                       "name another file with --resume FILE");
    }
    const InputError damaged(path_, "is not what --resume writes, or damaged",
                             "remove it to begin anew, or name another file");
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    const auto take = [&](std::span<std::byte> bytes) {
      file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      if (!file) throw damaged;
      XXH3_64bits_update(&hash, bytes.data(), bytes.size());
    };
    Header header;
    take(std::as_writable_bytes(std::span(&header, 1)));
    if (std::memcmp(header.magic, Header{}.magic, sizeof header.magic) != 0) throw damaged;
    if (header.run != run_)
      throw InputError(path_,
                       std::string("is of another run: its ") +
                           (header.run.edges != run_.edges     ? "edges"
                            : header.run.labels != run_.labels ? "labels"
                                                               : "options, seed or version of copse") +
                           " were others",
                       "repeat the command as it was, remove the file to begin anew, or name another one");
    const auto room = static_cast<std::uint64_t>(std::filesystem::file_size(path_));
    for (const std::span<std::byte> part : committee.state()) take(part);
    progress.halves.resize(header.num_halves);
    for (KeptEdges& edges : progress.halves)
      for_each_column(edges, [&](auto& column) {
        std::uint64_t size = 0;
        take(std::as_writable_bytes(std::span(&size, 1)));
        if (size > room / sizeof(column[0])) throw damaged;
        column.resize(size);
        take(std::as_writable_bytes(std::span(column)));
      });
    const std::uint64_t expected = XXH3_64bits_digest(&hash);
    std::uint64_t found = 0;
    take(std::as_writable_bytes(std::span(&found, 1)));
    if (found != expected) throw damaged;
    progress.trees = header.trees;
    committee.resume(header.trees);
    return progress;
  }

  /// Not every time where that would take more than a tenth of the time.
  void write(std::uint32_t trees, ForestCommittee& committee, std::uint32_t num_halves = 0,
             const ForestBuilder* builder = nullptr) {
    const double start = now();
    if (start - written_at_ < 10 * took_) return;
    AtomicFile file(path_, false);
    XXH3_state_t hash;
    XXH3_64bits_reset(&hash);
    const auto put = [&](std::span<const std::byte> bytes) {
      file.write(bytes.data(), bytes.size());
      XXH3_64bits_update(&hash, bytes.data(), bytes.size());
    };
    const Header header{.run = run_, .trees = trees, .num_halves = num_halves};
    put(std::as_bytes(std::span(&header, 1)));
    for (const std::span<std::byte> part : committee.state()) put(part);
    for (std::uint32_t t = 0; t < num_halves; ++t)
      for_each_column(builder->edges(t), [&](const auto& column) {
        const std::uint64_t size = column.size();
        put(std::as_bytes(std::span(&size, 1)));
        put(std::as_bytes(std::span(column)));
      });
    const std::uint64_t digest = XXH3_64bits_digest(&hash);
    file.write(&digest, sizeof digest);
    file.commit();
    written_at_ = now();
    took_ = written_at_ - start;
  }

 private:
  struct Header {
    char magic[8] = {'c', 'o', 'p', 's', 'e', '-', 'r', '1'};
    Checkpoint::Run run;
    std::uint32_t trees = 0, num_halves = 0;
  };

  std::string path_;
  Run run_;
  double written_at_ = -1e9, took_ = 0;  // seconds, by the clock
};

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
