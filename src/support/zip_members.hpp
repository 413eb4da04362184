// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "copse/support/buffer.hpp"

namespace copse {

/// The member of a zip archive with that name, stored or deflated; nothing if there is none. Others are not
/// unpacked: a small archive can hold very large ones. InputError, with `where`, for what is no whole
/// archive. Memory is the member's size, which is refused where so short an archive cannot hold it.
std::optional<Buffer<char>> read_zip_member(std::span<const char> archive, const std::string& name,
                                            const std::string& where);

}  // namespace copse
