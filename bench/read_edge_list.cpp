// SPDX-License-Identifier: Apache-2.0
// How fast is a text edge list read, beside `wc -l` on the same file and the same graph as .copse?
// Every way of reading is checked to give the same graph before it is timed; the files are in the page
// cache (read once before), so this measures the processor, not the disk. Then what reading takes of
// memory, beside the arrays it leaves. `--order sorted` writes each edge from its smaller end, in order;
// `--only-write FILE` leaves it at that.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "copse/io/read.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace {

using namespace copse;

// The few pairs that occur twice must not make a weighted graph of it.
const ReadOptions kOptions{.duplicates = Duplicates::max};

// Ids of 6 to 8 digits, ends at random: the hardest order for the caches.
std::uint64_t write_text(const std::string& path, std::uint64_t megabytes, bool is_sorted) {
  std::ofstream out(path, std::ios::binary);
  const std::uint64_t wanted = megabytes * 1'000'000, num_nodes = std::max<std::uint64_t>(1000, wanted / 100);
  Stream stream(1, Purpose::test, 0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  const auto digits = [](std::uint64_t id) { return std::to_string(id).size(); };
  for (std::uint64_t bytes = 0; bytes < wanted;) {
    std::uint64_t u = stream.below(num_nodes), v = stream.below(num_nodes);
    bytes += digits(u) + digits(v) + 2;
    if (is_sorted && u > v) std::swap(u, v);
    edges.emplace_back(u, v);
  }
  if (is_sorted) std::sort(edges.begin(), edges.end());
  std::string block;
  std::uint64_t written = 0;
  for (const auto& [u, v] : edges) {
    block += std::to_string(u);
    block += '\t';
    block += std::to_string(v);
    block += '\n';
    if (block.size() > (1 << 20)) {
      out << block;
      written += block.size();
      block.clear();
    }
  }
  out << block;
  return written + block.size();
}

struct Timing {
  double median = 0, smallest = 0, largest = 0;  // wall clock
  double processor = 0;  // median seconds of all cores together: hardly disturbed by other programs
  double system = 0;     // the part of these that the kernel took: above all for clearing fresh pages
};

struct Processor {
  double all = 0, system = 0;
};

// Of this process and of the programs it has waited for.
Processor processor_seconds() {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  Processor total;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    total.all += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    total.system += seconds(usage.ru_stime);
  }
  return total;
}

Timing time(int runs, const std::function<void()>& body) {
  std::vector<double> seconds, processor, system;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Processor before = processor_seconds();
    body();
    const Processor after = processor_seconds();
    processor.push_back(after.all - before.all);
    system.push_back(after.system - before.system);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(processor.begin(), processor.end());
  std::sort(system.begin(), system.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back(), processor[processor.size() / 2],
          system[system.size() / 2]};
}

bool is_same(const NamedGraph& a, const NamedGraph& b) {
  const GraphView &x = a.graph, &y = b.graph;
  return std::ranges::equal(x.offsets, y.offsets) && std::ranges::equal(x.neighbors, y.neighbors) &&
         std::ranges::equal(x.weights, y.weights) && a.names.size() == b.names.size();
}

// In a process of its own, because a peak never falls.
void report_memory(const std::string& path, int threads) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const NamedGraph read = read_graph(path, kOptions, {.threads = threads});
    const GraphView& graph = read.graph;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
    const auto arrays = static_cast<double>(graph.offsets.size_bytes() + graph.neighbors.size_bytes() +
                                            graph.weights.size_bytes());
    std::printf(
        "peak, %d thread%s: %.0f MB, arrays of the graph %.0f MB, ratio %.2f, %.1f bytes per node more\n",
        threads, threads == 1 ? "" : "s", peak / 1e6, arrays / 1e6, peak / arrays,
        (peak - arrays) / graph.num_nodes());
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::abort();
}

void row(const std::string& name, const Timing& timing, double bytes, const Timing& reference) {
  std::printf(
      "%-22s %8.3f s (%.3f to %.3f) %8.0f MB/s   %8.3f cpu s (%.3f system) %8.0f MB/s a core   ratio %8.3f   "
      "cpu ratio %8.3f\n",
      name.c_str(), timing.median, timing.smallest, timing.largest, bytes / timing.median / 1e6,
      timing.processor, timing.system, bytes / timing.processor / 1e6, timing.median / reference.median,
      timing.processor / reference.processor);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t megabytes = 1000;
  int runs = 3;
  bool is_sorted = false;
  std::string only_write;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--megabytes") megabytes = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string(argv[i]) == "--order") is_sorted = std::string(argv[i + 1]) == "sorted";
    if (std::string(argv[i]) == "--only-write") only_write = argv[i + 1];
    if (std::string(argv[i]) == "--runs") runs = std::max(1, std::atoi(argv[i + 1]));
  }
  if (!only_write.empty()) return write_text(only_write, megabytes, is_sorted) == 0 ? 2 : 0;
  const std::filesystem::path directory = std::filesystem::temp_directory_path();
  const std::string stem =
      (directory /
       ("copse_bench_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())))
          .string();
  const std::string text = stem + ".tsv", binary = stem + ".copse";
  int status = 0;
  try {
    const auto bytes = static_cast<double>(write_text(text, megabytes, is_sorted));
    for (const int threads : {1, 2}) report_memory(text, threads);
    ReadReport report;
    const NamedGraph graph =
        read_graph(text, kOptions, {.threads = 1}, &report);  // also warms the page cache
    write_graph(binary, graph, {});
    std::printf("%.0f MB of text, %llu lines, %u nodes, seed 1, %d processors, compiler %s, median of %d\n",
                bytes / 1e6, static_cast<unsigned long long>(report.build.num_listed),
                graph.graph.num_nodes(), available_threads(), __VERSION__, runs);
    if (!is_same(graph, read_graph(text, kOptions, {.threads = 2})) ||
        !is_same(graph, read_graph(binary, {}, {}))) {
      std::printf("the graphs differ: nothing is timed\n");
      status = 1;
    } else {
      const std::string command = "wc -l '" + text + "'";
      const Timing lines = time(runs, [&] {
        FILE* pipe = popen(command.c_str(), "r");
        char answer[64];
        if (pipe == nullptr || std::fgets(answer, sizeof answer, pipe) == nullptr) std::abort();
        pclose(pipe);
      });
      row("wc -l", lines, bytes, lines);
      for (const int threads : {1, 2})
        row("read_graph, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            time(runs, [&] { read_graph(text, kOptions, {.threads = threads}); }), bytes, lines);
      row(".copse", time(runs, [&] { read_graph(binary, {}, {.threads = 1}); }), bytes, lines);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 2;
  }
  std::filesystem::remove(text);
  std::filesystem::remove(binary);
  return status;
}
