// SPDX-License-Identifier: Apache-2.0
#include "server/page.hpp"

// The bytes of a file as they are, from `name`_begin to `name`_end; the directories come from CMakeLists.txt.
#define COPSE_FILE(name, path)                                                                         \
  asm(".section .rodata\n" #name "_begin: .incbin \"" path "\"\n" #name "_end: .byte 0\n.previous\n"); \
  extern "C" const char name##_begin[], name##_end[]
COPSE_FILE(copse_page_html, COPSE_WEB "/index.html");
COPSE_FILE(copse_page_script, COPSE_WEB "/app.js");
COPSE_FILE(copse_page_style, COPSE_WEB "/app.css");
COPSE_FILE(copse_page_icon, COPSE_WEB "/favicon.svg");
COPSE_FILE(copse_demo_edges, COPSE_DEMO "/edges.tsv.zst");
COPSE_FILE(copse_demo_labels, COPSE_DEMO "/labels.tsv.gz");

namespace copse::server {

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = {
      {"/", "text/html; charset=utf-8", {copse_page_html_begin, copse_page_html_end}},
      {"/app.js", "text/javascript; charset=utf-8", {copse_page_script_begin, copse_page_script_end}},
      {"/app.css", "text/css; charset=utf-8", {copse_page_style_begin, copse_page_style_end}},
      {"/favicon.svg", "image/svg+xml", {copse_page_icon_begin, copse_page_icon_end}}};
  return files;
}

std::string_view demo_edges() { return {copse_demo_edges_begin, copse_demo_edges_end}; }
std::string_view demo_labels() { return {copse_demo_labels_begin, copse_demo_labels_end}; }

}  // namespace copse::server
