// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "fuzz.hpp"
#include "oracle/promises.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

// Checksums would keep the fuzzer from everything behind them: right ones are put in first (the layout is
// that of src/io/copse_file.cpp).
template <class T>
T get(std::span<const char> bytes, std::size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}
template <class T>
void set(std::span<char> bytes, std::size_t position, T value) {
  std::memcpy(bytes.data() + position, &value, sizeof value);
}

struct Section {
  std::size_t position = 0, length = 0;  // 0 if it does not lie in the file
};
Section section(std::span<const char> bytes, std::size_t entry) {
  const auto position = get<std::uint64_t>(bytes, entry), length = get<std::uint64_t>(bytes, entry + 8);
  if (position > bytes.size() || length > bytes.size() - position) return {};
  return {position, length};
}
constexpr std::size_t kOffsets = 64, kNeighbors = 88, kWeights = 112;  // entries of the header
bool is_signed(std::span<const char> bytes) {
  return bytes.size() >= 256 && get<std::uint32_t>(bytes, 8) == 2;
}

void seal(std::span<char> bytes) {
  if (bytes.size() < 192) return;
  const auto seal_section = [&](std::size_t entry) {
    const auto [position, length] = section(bytes, entry);
    const std::uint64_t block = XXH3_64bits(bytes.data() + position, length);
    set<std::uint64_t>(bytes, entry + 16, XXH3_64bits(&block, length == 0 ? 0 : sizeof block));
  };
  for (std::size_t entry = kOffsets; entry < 184; entry += 24) seal_section(entry);
  set<std::uint64_t>(bytes, 48, bytes.size());
  set<std::uint64_t>(bytes, 184, XXH3_64bits(bytes.data(), 184));
  if (!is_signed(bytes)) return;
  seal_section(192);
  set<std::uint64_t>(bytes, 248, XXH3_64bits(bytes.data() + 192, 56));
}

/// Another weight for an arc and for those of the same weight as it had: the arc back is among them, so that
/// the file stays a graph.
void change_weight(std::span<char> bytes, std::mt19937& random) {
  const auto [position, length] = section(bytes, kWeights);
  if (length < 4) return;
  const std::uint32_t old = get<std::uint32_t>(bytes, position + random() % (length / 4) * 4);
  const std::uint32_t extremes[] = {1, 0x00800000, 0x3F800000, 0x7F7FFFFF};
  const std::uint32_t other = random() % 2 == 0 ? extremes[random() % 4] : random() % 0x7F800000;
  for (std::size_t at = position; at + 4 <= position + length; at += 4)
    if (get<std::uint32_t>(bytes, at) == old) set(bytes, at, other);
}

/// One number of a section, or two that change places: rows that are no longer those of a graph.
void change_rows(std::span<char> bytes, std::mt19937& random) {
  const std::size_t entries[] = {kOffsets, kNeighbors, kWeights};
  const auto [position, length] = section(bytes, entries[random() % 3]);
  if (length < 4) return;
  const std::size_t one = position + random() % (length / 4) * 4,
                    other = position + random() % (length / 4) * 4;
  const auto value = get<std::uint32_t>(bytes, one);
  if (random() % 2 == 0) {
    set(bytes, one, get<std::uint32_t>(bytes, other));
    set(bytes, other, value);
  } else {
    set<std::uint32_t>(bytes, one, value + random() % 3 - 1);
  }
}

/// What was accepted as a graph is one, and every learner answers on it.
void run_learners(const copse::GraphView& graph) {
  using namespace copse;
  constexpr NodeId kMostNodes = 12;
  if (graph.num_nodes() == 0 || graph.num_nodes() > kMostNodes) return;
  std::vector<Label> labels(graph.num_nodes(), kNoLabel);
  for (NodeId u = 0; u < graph.num_nodes(); u += 2) labels[u] = static_cast<Label>(u / 2 % 2);
  for (const LearnerRow& row : learner_rows()) {
    if (graph.is_signed() && !row.signed_graphs) continue;
    const OptionValues options =
        oracle::with_quick_trees(row.options, oracle::option_sets(row.options).front(), graph);
    const std::string fault = oracle::learner_fault(row, options, graph, labels, 2, {});
    if (fault.empty()) continue;
    std::fprintf(stderr, "%s: %s\n", row.name.c_str(), fault.c_str());
    __builtin_trap();
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  if (size < 192 || random() % 4 == 0) {
    size = LLVMFuzzerMutate(data, size, max_size);
  } else {
    const std::span<char> bytes(reinterpret_cast<char*>(data), size);
    for (std::uint32_t changes = 1 + random() % 3; changes > 0; --changes)
      random() % 2 == 0 ? change_weight(bytes, random) : change_rows(bytes, random);
  }
  seal({reinterpret_cast<char*>(data), size});
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  const auto open = [](ByteSource& source) {
    const NamedGraph graph = open_copse(source, fuzz::two_threads());
    try {
      check_graph(graph.graph, "fuzz", 2);
    } catch (const Error&) {
      __builtin_trap();
    }
    for (NodeId u = 0; u < graph.graph.num_nodes(); ++u) {
      // Two nodes of one name are odd but harmless; a name that is found must be the one asked for.
      const auto found = graph.names.find(graph.names.name(u));
      if (!found || graph.names.name(*found) != graph.names.name(u)) __builtin_trap();
    }
    run_learners(graph.graph);
  };
  fuzz::run(data, size, open);
  std::vector<char> bytes(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(data) + size);
  seal(bytes);
  return fuzz::run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), open);
}
