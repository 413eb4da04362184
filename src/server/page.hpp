// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace copse::server {

/// A file of web/dist, inside the program.
struct PageFile {
  std::string path, type;
  std::string_view bytes;
};
const std::vector<PageFile>& page_files();

/// The Debian example of `copse serve --demo`, compressed as in data/debian.
std::string_view demo_edges();
std::string_view demo_labels();

}  // namespace copse::server
