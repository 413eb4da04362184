// SPDX-License-Identifier: Apache-2.0
#include "server/page.hpp"

#include <filesystem>

#include "copse/support/error.hpp"

// The bytes of the files as they are; the directories come from CMakeLists.txt.
#define COPSE_FILE(name, path) \
  asm(".section .rodata\n" name "_begin: .incbin \"" path "\"\n" name "_end: .byte 0\n.previous\n")
COPSE_FILE("copse_page_html", COPSE_WEB "/index.html");
COPSE_FILE("copse_page_script", COPSE_WEB "/app.js");
COPSE_FILE("copse_page_style", COPSE_WEB "/app.css");
COPSE_FILE("copse_page_icon", COPSE_WEB "/favicon.svg");
COPSE_FILE("copse_demo_edges", COPSE_DEMO "/edges.tsv.zst");
COPSE_FILE("copse_demo_labels", COPSE_DEMO "/labels.tsv.gz");
extern "C" {  // NOLINTBEGIN: names of the assembler
extern const char copse_page_html_begin[], copse_page_html_end[], copse_page_script_begin[],
    copse_page_script_end[], copse_page_style_begin[], copse_page_style_end[], copse_page_icon_begin[],
    copse_page_icon_end[], copse_demo_edges_begin[], copse_demo_edges_end[], copse_demo_labels_begin[],
    copse_demo_labels_end[];
}  // NOLINTEND

namespace copse::server {

const PageFile& page_html() {
  static const PageFile file{"text/html; charset=utf-8", {copse_page_html_begin, copse_page_html_end}};
  return file;
}
const PageFile& page_script() {
  static const PageFile file{"text/javascript; charset=utf-8",
                             {copse_page_script_begin, copse_page_script_end}};
  return file;
}
const PageFile& page_style() {
  static const PageFile file{"text/css; charset=utf-8", {copse_page_style_begin, copse_page_style_end}};
  return file;
}
const PageFile& page_icon() {
  static const PageFile file{"image/svg+xml", {copse_page_icon_begin, copse_page_icon_end}};
  return file;
}

std::string_view demo_edges() { return {copse_demo_edges_begin, copse_demo_edges_end}; }
std::string_view demo_labels() { return {copse_demo_labels_begin, copse_demo_labels_end}; }

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    throw InputError(path, "cannot be made: " + error.message(),
                     "the server keeps labels there; give a directory that it may write to: --data DIR");
}

}  // namespace copse::server
