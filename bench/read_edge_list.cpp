// SPDX-License-Identifier: Apache-2.0
// How fast is a text edge list read, beside `wc -l` on the same file and the same graph as .copse?
// Every way of reading is checked to give the same graph before it is timed; the files are in the page
// cache (read once before), so this measures the processor, not the disk.
#include <sys/resource.h>

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

#include "copse/graph/read.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace {

using namespace copse;

// Ids of 6 to 8 digits, ends at random: the hardest order for the caches.
std::uint64_t write_text(const std::string& path, std::uint64_t megabytes) {
  std::ofstream out(path, std::ios::binary);
  const std::uint64_t wanted = megabytes * 1'000'000, num_nodes = std::max<std::uint64_t>(1000, wanted / 100);
  Stream stream(1, Purpose::test, 0);
  std::string block;
  std::uint64_t written = 0;
  while (written + block.size() < wanted) {
    block += std::to_string(stream.below(num_nodes));
    block += '\t';
    block += std::to_string(stream.below(num_nodes));
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
};

// Of this process and of the programs it has waited for.
double processor_seconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      total += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return total;
}

Timing time(int runs, const std::function<void()>& body) {
  std::vector<double> seconds, processor;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double before = processor_seconds();
    body();
    processor.push_back(processor_seconds() - before);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::sort(processor.begin(), processor.end());
  return {seconds[seconds.size() / 2], seconds.front(), seconds.back(), processor[processor.size() / 2]};
}

bool is_same(const NamedGraph& a, const NamedGraph& b) {
  const GraphView &x = a.graph, &y = b.graph;
  return std::ranges::equal(x.offsets, y.offsets) && std::ranges::equal(x.neighbors, y.neighbors) &&
         std::ranges::equal(x.weights, y.weights) && a.names.size() == b.names.size();
}

void row(const std::string& name, const Timing& timing, double bytes, const Timing& reference) {
  std::printf(
      "%-22s %8.3f s (%.3f to %.3f) %8.0f MB/s   %8.3f cpu s %8.0f MB/s a core   ratio %8.3f   cpu ratio "
      "%8.3f\n",
      name.c_str(), timing.median, timing.smallest, timing.largest, bytes / timing.median / 1e6,
      timing.processor, bytes / timing.processor / 1e6, timing.median / reference.median,
      timing.processor / reference.processor);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t megabytes = 1000;
  int runs = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--megabytes") megabytes = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string(argv[i]) == "--runs") runs = std::max(1, std::atoi(argv[i + 1]));
  }
  const std::filesystem::path directory = std::filesystem::temp_directory_path();
  const std::string stem =
      (directory /
       ("copse_bench_" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())))
          .string();
  const std::string text = stem + ".tsv", binary = stem + ".copse";
  int status = 0;
  try {
    const auto bytes = static_cast<double>(write_text(text, megabytes));
    ReadReport report;
    const NamedGraph graph = read_graph(text, {}, {.threads = 1}, &report);  // also warms the page cache
    write_graph(binary, graph, {});
    std::printf("%.0f MB of text, %llu lines, %u nodes, seed 1, %d processors, compiler %s, median of %d\n",
                bytes / 1e6, static_cast<unsigned long long>(report.build.num_listed),
                graph.graph.num_nodes(), available_threads(), __VERSION__, runs);
    if (!is_same(graph, read_graph(text, {}, {.threads = 2})) ||
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
            time(runs, [&] { read_graph(text, {}, {.threads = threads}); }), bytes, lines);
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
