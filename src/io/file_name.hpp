// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace copse {

/// edges.tsv for edges.tsv.gz: the ending that tells the format.
inline std::string_view without_compression(std::string_view name) {
  for (const std::string_view ending : {".gz", ".zst", ".xz", ".bz2"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

}  // namespace copse
