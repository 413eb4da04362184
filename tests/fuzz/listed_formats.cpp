// SPDX-License-Identifier: Apache-2.0
//
// GraphML, GEXF, GML, Pajek, JSON, JSON lines, adjacency lists and DIMACS: the first byte chooses.
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  if (size == 0) return 0;
  constexpr decltype(&read_gml) kReaders[] = {read_graphml,        read_gexf,  read_gml,
                                              read_pajek,          read_json,  read_json_lines,
                                              read_adjacency_list, read_dimacs};
  const auto read = kReaders[data[0] % 8];
  return fuzz::run(data + 1, size - 1,
                   [&](ByteSource& source) { fuzz::build_and_check(read(source, {}, fuzz::two_threads())); });
}
