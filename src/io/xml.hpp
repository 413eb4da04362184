// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <pugixml.hpp>

#include "io/listing.hpp"
#include "io/text.hpp"

// XML for GraphML and GEXF, by pugixml: it expands no entities but those of XML itself and reads no other
// file, so a document cannot grow or reach out. The tree takes about five times the bytes of the file.

namespace copse {

/// The tree of a file. Its text is what errors count lines in.
class XmlFile {
 public:
  explicit XmlFile(ByteSource& source) : text_(bytes_of(source)), name_(source.name()) {
    const pugi::xml_parse_result result = document_.load_buffer(
        text_.data(), text_.size(), pugi::parse_cdata | pugi::parse_escapes | pugi::parse_embed_pcdata);
    if (!result)
      throw InputError{line_of_offset(name_, text_)(static_cast<std::size_t>(result.offset)),
                       std::string("this is no XML: ") + result.description(),
                       "the file is cut short or damaged: copy or write it again"};
  }
  pugi::xml_node root() const { return document_.document_element(); }
  std::string_view text() const { return text_; }
  const std::string& name() const { return name_; }

 private:
  static std::string_view bytes_of(ByteSource& source) {
    const std::span<const char> bytes = source.rest();
    return {bytes.data(), bytes.size()};
  }

  std::string_view text_;
  std::string name_;
  pugi::xml_document document_;
};

/// Without the prefix of a namespace.
inline std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  return name.substr(name.find(':') == std::string_view::npos ? 0 : name.find(':') + 1);
}

inline std::size_t place_of(const pugi::xml_node& node) {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
}

/// visit(element) for all below `root`, in the order of the file; depth costs nothing.
template <class Visit>
void for_each_element(const pugi::xml_node& root, const Visit& visit) {
  for (pugi::xml_node at = root.first_child(); at && at != root;) {
    if (at.type() == pugi::node_element) visit(at);
    if (at.first_child()) {
      at = at.first_child();
      continue;
    }
    while (at != root && !at.next_sibling()) at = at.parent();
    if (at != root) at = at.next_sibling();
  }
}

/// Text of an element or attribute, without blanks and line ends around it.
inline std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The value that an element must have.
inline std::string_view needed(const GraphListing& listing, const pugi::xml_node& node,
                               const char* attribute) {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found)
    throw listing.wrong(place_of(node), std::string(node.name()) + " has no attribute " + quoted(attribute),
                        "a node has an id, an edge a source and a target");
  return found.value();
}

}  // namespace copse
