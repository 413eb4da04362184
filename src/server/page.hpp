// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace copse::server {

/// A file of web/dist, inside the program.
struct PageFile {
  std::string type;
  std::string_view bytes;
};
const PageFile& page_html();
const PageFile& page_script();
const PageFile& page_style();
const PageFile& page_icon();

/// The Debian example of `copse serve --demo`, compressed as in data/debian.
std::string_view demo_edges();
std::string_view demo_labels();

/// With the directories above it; InputError where that cannot be.
void make_directory(const std::string& path);

}  // namespace copse::server
