// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  return fuzz::run(data, size, [](ByteSource& source) {
    fuzz::build_and_check(read_matrix_market(source, {}, fuzz::two_threads()));
  });
}
