// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "fuzz.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

// Checksums would keep the fuzzer from everything behind them: right ones are put in first (the layout is
// that of src/graph/copse_file.cpp).
void seal(std::vector<char>& bytes) {
  if (bytes.size() < 192) return;
  for (std::size_t entry = 64; entry < 184; entry += 24) {
    std::uint64_t place[2];
    std::memcpy(place, bytes.data() + entry, sizeof place);
    if (place[0] > bytes.size() || place[1] > bytes.size() - place[0]) continue;
    const std::uint64_t block = XXH3_64bits(bytes.data() + place[0], place[1]);
    const std::uint64_t checksum = XXH3_64bits(&block, place[1] == 0 ? 0 : sizeof block);
    std::memcpy(bytes.data() + entry + 16, &checksum, sizeof checksum);
  }
  const std::uint64_t size = bytes.size(),
                      header = (std::memcpy(bytes.data() + 48, &size, 8), XXH3_64bits(bytes.data(), 184));
  std::memcpy(bytes.data() + 184, &header, sizeof header);
}

}  // namespace

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
  };
  fuzz::run(data, size, open);
  std::vector<char> bytes(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(data) + size);
  seal(bytes);
  return fuzz::run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), open);
}
