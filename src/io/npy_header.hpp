// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace copse {

/// What stands before the values of a NumPy array (numpy.lib.format, versions 1 to 3).
struct NpyHeader {
  std::string type;  // as NumPy writes it: "<f4"
  bool is_fortran = false;
  std::vector<std::uint64_t> shape;
  std::size_t num_bytes = 0;  // of the header: values begin here
};

/// Throws InputError that names `where`; the values themselves are not looked at.
NpyHeader parse_npy_header(
    std::string_view bytes, const std::string& where,
    const std::string& remedy = "write it again with numpy.save(file, x.astype(\"float32\"))");

}  // namespace copse
