// SPDX-License-Identifier: Apache-2.0
// Opening a .copse file, everything checked, beside adding up its bytes: seconds by the clock and of the
// processor, the file in the page cache, in turns, medians.
//   open_copse [--file g.copse] [--nodes 1e7] [--edges 1e8] [--weighted yes] [--repeats 5] [--threads 1]
// A file that is not there is written first, of random pairs; without a name it is removed again.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "copse/graph/build.hpp"
#include "copse/io/read.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace {

using namespace copse;

// Of all threads.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Times {
  std::vector<double> clock, processor;
  void add(const std::function<void()>& body) {
    const double before = processor_seconds();
    clock.push_back(bench::seconds(body));
    processor.push_back(processor_seconds() - before);
  }
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

void write_random_graph(const std::string& path, std::uint64_t num_nodes, std::uint64_t num_edges,
                        bool is_weighted) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  std::vector<EdgeChunk> chunks((num_edges + kPiece - 1) / kPiece);
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    Stream stream(1, Purpose::test, c);
    const std::uint64_t count = std::min(kPiece, num_edges - c * kPiece);
    for (std::uint64_t i = 0; i < count; ++i) {
      chunks[c].u.push_back(static_cast<NodeId>(stream.below(num_nodes)));
      chunks[c].v.push_back(static_cast<NodeId>(stream.below(num_nodes)));
      if (is_weighted) chunks[c].weight.push_back(static_cast<Weight>(1 + stream.below(1000)));
    }
  }
  BuildOptions options;
  options.duplicates = Duplicates::max;
  write_graph(path,
              {build_graph(std::move(chunks), num_nodes, options, {.threads = 2}, path),
               NodeNames::numbered(num_nodes)},
              {.threads = 2});
}

std::uint64_t sum_of_bytes(const std::string& path, std::size_t size, int threads) {
  const int file = open(path.c_str(), O_RDONLY);
  void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  bench::check(file >= 0 && data != MAP_FAILED, "the file can be mapped");
  const auto* const words = static_cast<const std::uint64_t*>(data);
  const std::uint64_t sum = deterministic_reduce(
      threads, size / 8, std::uint64_t{0},
      [&](std::size_t begin, std::size_t end) {
        std::uint64_t part = 0;
        for (std::size_t i = begin; i < end; ++i) part += words[i];
        return part;
      },
      std::plus{}, std::size_t{1} << 19);
  munmap(data, size);
  close(file);
  return sum;
}

void run(int argc, char** argv) {
  std::string path = bench::argument(argc, argv, "file", "");
  const auto number = [&](const char* name, const char* fallback) {
    return std::stod(bench::argument(argc, argv, name, fallback));
  };
  const int repeats = static_cast<int>(number("repeats", "5")),
            threads = static_cast<int>(number("threads", "1"));
  const bool is_own = path.empty();
  if (is_own)
    path = std::filesystem::temp_directory_path() / ("copse_bench_" + std::to_string(getpid()) + ".copse");
  if (!std::filesystem::exists(path))
    write_random_graph(path, static_cast<std::uint64_t>(number("nodes", "1e7")),
                       static_cast<std::uint64_t>(number("edges", "1e8")),
                       bench::argument(argc, argv, "weighted", "no") == "yes");
  const std::size_t size = std::filesystem::file_size(path);
  Times opening, adding;
  std::uint64_t arcs = 0;
  for (int i = -1; i < repeats; ++i) {
    if (i == 0) opening = adding = {};  // the first was for the page cache
    opening.add([&] { arcs = read_graph(path, {}, {.threads = threads}).graph.view().num_arcs(); });
    adding.add([&] { bench::keep(sum_of_bytes(path, size, threads)); });
  }
  if (is_own) std::filesystem::remove(path);
  for (const auto& [name, times] : {std::pair("opening", opening), std::pair("adding up", adding)})
    std::printf(
        "%-10s %.3f s by the clock, %.3f s of the processor (%.2f GB, %llu arcs, %d thread%s, median of "
        "%d)\n",
        name, Times::median(times.clock), Times::median(times.processor), static_cast<double>(size) / 1e9,
        static_cast<unsigned long long>(arcs), threads, threads == 1 ? "" : "s", repeats);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
