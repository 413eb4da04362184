// SPDX-License-Identifier: Apache-2.0
// What does a committee take whose edges stay on disk? Writes a graph of communities in blocks of a million
// edges, then streams them: two scans per group of trees that fit into --memory, votes, answers. Says what
// every step took by the clock, as it goes, trees times edges per second and core, and the most memory the
// kernel has seen us use. At up to 10^7 edges the answers are compared with those of the same committee in
// memory first.
//
//   scale [--edges 1e7] [--nodes EDGES/10] [--trees 31] [--threads 2] [--memory 8e9] [--candidates 2]
//         [--directory /tmp]

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <memory>

#include "bench.hpp"
#include "copse/graph/build.hpp"
#include "copse/learners/forest_committee.hpp"
#include "copse/learners/wta.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/forest_builder.hpp"

namespace {

using namespace copse;

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr NodeId kCommunity = 1000;  // nodes, of one class
constexpr Label kClasses = 4;

double mebibytes_at_the_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// A file without a name, of blocks of u and of v.
class EdgeFile {
 public:
  EdgeFile(const std::string& directory, std::uint64_t num_edges) : num_edges_(num_edges) {
    std::string name = directory + "/scale-XXXXXX";
    fd_ = mkstemp(name.data());
    bench::check(fd_ >= 0, "no place for the edges");
    unlink(name.c_str());
  }
  ~EdgeFile() { close(fd_); }

  std::size_t num_blocks() const { return (num_edges_ + kBlock - 1) / kBlock; }

  /// Three edges of four inside a community, the others anywhere; ends that are low in their community are
  /// hubs.
  void write(NodeId num_nodes, const Execution& execution) {
    parallel_for(execution, num_blocks(), [&](std::size_t b) {
      FastStream random(7, Purpose::generator, b);
      const std::size_t size = size_of(b);
      std::vector<NodeId> uv(2 * size);
      const auto skewed = [&] {
        const double x = static_cast<double>(random.next64() >> 11) * 0x1p-53;
        return static_cast<NodeId>(x * x * kCommunity);
      };
      const NodeId communities = (num_nodes + kCommunity - 1) / kCommunity;
      for (std::size_t i = 0; i < size; ++i) {
        const auto here = static_cast<NodeId>((random.next64() >> 32) * communities >> 32);
        const bool inside = random.next64() % 4 != 0;
        const NodeId there = inside ? here : static_cast<NodeId>((random.next64() >> 32) * communities >> 32);
        uv[i] = std::min(num_nodes - 1, here * kCommunity + skewed());
        uv[size + i] =
            std::min(num_nodes - 1,
                     there * kCommunity + static_cast<NodeId>((random.next64() >> 32) * kCommunity >> 32));
      }
      const std::size_t bytes = uv.size() * sizeof(NodeId);
      bench::check(pwrite(fd_, uv.data(), bytes, offset_of(b)) == static_cast<ssize_t>(bytes),
                   "the disk is full");
    });
  }

  /// Threads read parts of a block each.
  template <class Body>
  void scan(const Execution& execution, Body&& body) const {
    constexpr std::size_t kParts = 8;
    std::vector<NodeId> uv;
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
    for (std::size_t b = 0; b < num_blocks(); ++b) {
      const std::size_t size = size_of(b);
      uv.resize(2 * size);
      const auto bytes = std::as_writable_bytes(std::span(uv));
      parallel_for(execution, kParts, [&](std::size_t part) {
        const std::size_t begin = bytes.size() * part / kParts;
        const std::size_t length = bytes.size() * (part + 1) / kParts - begin;
        bench::check(pread(fd_, &bytes[begin], length, offset_of(b) + static_cast<off_t>(begin)) ==
                         static_cast<ssize_t>(length),
                     "the edges cannot be read");
      });
      const std::span<const NodeId> all(uv);
      body(EdgeBlock<NodeId>{all.first(size), all.subspan(size)});
    }
  }

 private:
  std::size_t size_of(std::size_t b) const { return std::min<std::size_t>(kBlock, num_edges_ - b * kBlock); }
  static off_t offset_of(std::size_t b) { return static_cast<off_t>(b * kBlock * 2 * sizeof(NodeId)); }

  std::uint64_t num_edges_;
  int fd_;
};

Label class_of(NodeId node) { return static_cast<Label>(node / kCommunity % kClasses); }

std::vector<Label> some_labels(NodeId n) {
  std::vector<Label> labels(n, kNoLabel);
  for (NodeId node = 0; node < n; ++node)
    if (EdgeIndex{node} * 0x9E3779B97F4A7C15 >> 58 == 0) labels[node] = class_of(node);
  return labels;
}

/// By the clock, and of all processors: on a machine that others use as well, the second is the fair one.
struct Seconds {
  double clock = 0, processors = 0;

  static double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  template <class Body>
  static Seconds of(Body&& body) {
    const double before = processor_seconds();
    const double clock = bench::seconds(body);
    return {clock, processor_seconds() - before};
  }
  void say(const char* step) const {
    std::printf("%s %.1f s (%.1f s of processors), ", step, clock, processors);
  }
};
struct Steps {
  Seconds scan_1, kruskal, scan_2, rest, votes;
};

BatchResult stream(const EdgeFile& file, std::uint64_t num_edges, std::span<const Label> labels,
                   std::uint32_t trees, std::uint32_t at_once, double candidates, const Execution& execution,
                   Steps& steps) {
  const auto take = [](const char* name, Seconds& step, auto&& body) {
    const Seconds took = Seconds::of(body);
    took.say(name);
    step.clock += took.clock, step.processors += took.processors;
  };
  const double bound = key_bound(labels.size(), num_edges, {}, candidates);
  ForestCommittee committee(ForestRule::wta, labels, kClasses, trees, {}, execution);
  for (std::uint32_t first = 0; first < trees; first += at_once) {
    const std::uint32_t count = std::min(at_once, trees - first);
    std::printf("trees %u-%u: ", first + 1, first + count);
    ForestBuilder builder(labels.size(), false, {execution.seed, first, count}, bound, execution);
    take("scan 1", steps.scan_1,
         [&] { file.scan(execution, [&](const auto& block) { builder.add(block); }); });
    take("kruskal", steps.kruskal, [&] { builder.end_scan(); });
    if (!builder.is_done()) {
      take("scan 2", steps.scan_2,
           [&] { file.scan(execution, [&](const auto& block) { builder.add(block); }); });
      take("rest", steps.rest, [&] { builder.end_scan(); });
    }
    take("votes", steps.votes, [&] {
      parallel_for(execution, count, [&](std::size_t t) {
        const auto tree = static_cast<std::uint32_t>(t);
        committee.vote(first + tree, builder.take_forest(tree));
      });
    });
    std::printf("%.0f MiB so far\n", mebibytes_at_the_peak());
  }
  return committee.finish();
}

void check_answers(const EdgeFile& file, std::span<const Label> labels, std::uint32_t trees,
                   const Execution& execution, const Predictor& streamed) {
  EdgeChunk chunk;
  file.scan(execution, [&](const auto& block) {
    chunk.u.insert(chunk.u.end(), block.u.begin(), block.u.end());
    chunk.v.insert(chunk.v.end(), block.v.begin(), block.v.end());
  });
  std::vector<EdgeChunk> chunks;
  chunks.push_back(std::move(chunk));
  const Graph graph =
      build_graph(std::move(chunks), labels.size(), {.duplicates = Duplicates::max}, execution, "scale");
  const double seconds = bench::seconds([&] {
    const BatchResult result =
        Wta::fit(graph, labels, kClasses,
                 {.tree = TreeKind::random_key, .num_trees = static_cast<int>(trees)}, execution);
    for (NodeId node = 0; node < labels.size(); ++node) {
      const Prediction a = streamed.predict(node), b = result.predictor->predict(node);
      bench::check(a.label == b.label && a.confidence == b.confidence, "not the answers of trees in memory");
    }
  });
  std::printf("agrees with random_key trees in memory, which took %.1f s\n", seconds);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // into a file as well, every step when it is done
  const auto number = [&](const char* name, double fallback) {
    return std::atof(bench::argument(argc, argv, name, std::to_string(fallback)).c_str());
  };
  const auto num_edges = static_cast<std::uint64_t>(number("edges", 1e7));
  const auto num_nodes = static_cast<NodeId>(number("nodes", static_cast<double>(num_edges) / 10));
  const auto trees = static_cast<std::uint32_t>(number("trees", 31));
  const Execution execution{.seed = 1, .threads = static_cast<int>(number("threads", 2))};
  const double memory = number("memory", 8e9);

  const double per_node =
      sizeof(Label) + static_cast<double>(ForestCommittee::bytes_per_node(kClasses, trees));
  std::uint32_t at_once = std::min(trees, kMostTreesAtOnce);
  while (at_once > 1 && num_nodes * (per_node + static_cast<double>(ForestBuilder::bytes_per_node(
                                                    false, at_once, execution.threads))) >
                            memory)
    --at_once;
  EdgeFile file(bench::argument(argc, argv, "directory", "/tmp"), num_edges);
  std::printf("%.3g edges, %.3g nodes, %u trees, %u at once, %d threads\n", static_cast<double>(num_edges),
              static_cast<double>(num_nodes), trees, at_once, execution.threads);
  Seconds::of([&] { file.write(num_nodes, execution); }).say("writing");
  std::printf("\n");
  const std::vector<Label> labels = some_labels(num_nodes);
  Steps steps;
  BatchResult result;
  const Seconds all = Seconds::of([&] {
    result = stream(file, num_edges, labels, trees, at_once, number("candidates", 2), execution, steps);
  });
  std::uint64_t wrong = 0, hidden = 0;
  for (NodeId node = 0; node < num_nodes; ++node) {
    if (labels[node] != kNoLabel) continue;
    ++hidden;
    wrong += result.predictor->predict(node).label != class_of(node);
  }
  steps.scan_1.say("scan 1");
  steps.kruskal.say("kruskal");
  steps.scan_2.say("scan 2");
  steps.rest.say("rest");
  steps.votes.say("votes");
  all.say("in all");
  const double edge_trees = static_cast<double>(num_edges) * trees * 1e-6;
  std::printf(
      "\nmillion edge-trees per second and core: %.1f by the clock, %.1f by processor time; %.0f MiB at the "
      "peak, error %.2f %%\n",
      edge_trees / all.clock / execution.threads, edge_trees / all.processors, mebibytes_at_the_peak(),
      100 * static_cast<double>(wrong) / static_cast<double>(hidden));
  if (num_edges <= 10'000'000) check_answers(file, labels, trees, execution, *result.predictor);
}
