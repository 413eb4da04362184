// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace copse {

/// XXH3_64bits_update() of an XXH3_state_t in registers of 32 bytes; false, and nothing is done, where the
/// processor or the compiler has none for it.
bool update_checksum_widely(void* state, std::string_view bytes);

}  // namespace copse
