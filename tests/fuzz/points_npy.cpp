// SPDX-License-Identifier: Apache-2.0
#include "fuzz_points.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  return fuzz::run(data, size, [](ByteSource& source) {
    PointsReadReport report;
    fuzz::check_and_build(read_npy_points(source, fuzz::two_threads(), report));
  });
}
