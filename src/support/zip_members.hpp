// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "copse/support/buffer.hpp"

namespace copse {

struct ZipMember {
  std::string name;
  Buffer<char> bytes;
};

/// The members of a zip archive, stored or deflated, in archive order. InputError, with `where`, for what
/// is no whole archive. Memory is the members' size, which is refused where so short an archive cannot
/// hold it.
std::vector<ZipMember> read_zip(std::span<const char> archive, const std::string& where);

}  // namespace copse
