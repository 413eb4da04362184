// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace copse {

/// Throws InputError if a file's first bytes are those of a kind that people have and copse does not read:
/// says what it is and how to make a text of it.
void refuse_other_files(std::string_view first, const std::string& name);

/// Whether a ZIP archive's first member is an array, as in every .npz.
bool is_zip_of_arrays(std::string_view first);

}  // namespace copse
