// SPDX-License-Identifier: Apache-2.0
//
// GraphML, GEXF, GML, Pajek, JSON, JSON lines, adjacency lists and DIMACS: the first byte chooses, or
// COPSE_FUZZ_FORMAT=0 ... 7 for a long run on one of them.
#include <cstdlib>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  if (size == 0) return 0;
  constexpr decltype(&read_gml) kReaders[] = {read_graphml,        read_gexf,  read_gml,
                                              read_pajek,          read_json,  read_json_lines,
                                              read_adjacency_list, read_dimacs};
  static const char* const one = std::getenv("COPSE_FUZZ_FORMAT");
  const auto read = kReaders[(one == nullptr ? data[0] : static_cast<unsigned>(std::atoi(one))) % 8];
  return fuzz::run(data + 1, size - 1,
                   [&](ByteSource& source) { fuzz::build_and_check(read(source, {}, fuzz::two_threads())); });
}
