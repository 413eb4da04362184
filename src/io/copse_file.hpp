// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace copse {

/// The first bytes of a .copse file. The high bit of the first byte and the line ends after the name tell
/// a file that went through a text-mode transfer from one that is whole, as in PNG.
inline constexpr char kCopseMagic[8] = {'\x89', 'c', 'o', 'p', 's', 'e', '\r', '\n'};

}  // namespace copse
