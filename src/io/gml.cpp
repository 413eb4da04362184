// SPDX-License-Identifier: Apache-2.0
//
// GML (Himsolt 1997): keys with values, lists in brackets: graph [ node [ id 1 label "a" ] edge [ source 1
// target 2 weight 3 ] ]. Nodes are called by their labels where each has one of its own, as networkx does,
// else by their ids.

#include <charconv>

#include "io/graph_text.hpp"
#include "io/listing.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr char kGmlRemedy[] =
    "a GML file is text: graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]";

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(kLead[more] | code >> (6 * more));
  for (int shift = 6 * (more - 1); shift >= 0; shift -= 6)
    out += static_cast<char>(0x80 | (code >> shift & 0x3F));
}

// The character that an entity stands for; 0 if it is none we know.
std::uint32_t code_of_entity(std::string_view entity) {
  constexpr std::pair<std::string_view, char> kNamed[] = {
      {"amp", '&'}, {"quot", '"'}, {"lt", '<'}, {"gt", '>'}, {"apos", '\''}};
  for (const auto& [name, code] : kNamed)
    if (entity == name) return static_cast<std::uint32_t>(code);
  if (!entity.starts_with('#')) return 0;
  const bool is_hex = entity.starts_with("#x");
  entity.remove_prefix(is_hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(entity.data(), entity.data() + entity.size(), code, is_hex ? 16 : 10);
  const bool is_character = code != 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return error == std::errc() && end == entity.data() + entity.size() && is_character ? code : 0;
}

// GML is ASCII: other characters, & and quotes stand in strings as entities.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    constexpr std::size_t kLongest = 10;
    const std::size_t end = text[i] == '&' ? text.substr(i, kLongest).find(';') : std::string_view::npos;
    const std::uint32_t code =
        end == std::string_view::npos ? 0 : code_of_entity(text.substr(i + 1, end - 1));
    if (code == 0) {
      out += text[i];
    } else {
      append_utf8(out, code);
      i += end;
    }
  }
  return out;
}

struct GmlToken {
  enum class Kind { word, text, open, close, end } kind = Kind::end;
  std::string_view text;
  std::size_t place = 0;
};

class GmlTokens {
 public:
  explicit GmlTokens(std::string_view text) : text_(text) {}

  GmlToken next() {
    skip();
    const std::size_t begin = at_;
    if (at_ == text_.size()) return {GmlToken::Kind::end, {}, begin};
    if (text_[at_] == '[' || text_[at_] == ']')
      return {text_[at_++] == '[' ? GmlToken::Kind::open : GmlToken::Kind::close, text_.substr(begin, 1),
              begin};
    if (text_[at_] == '"') {
      at_ = std::min(text_.find('"', begin + 1), text_.size() - 1) + 1;
      return {GmlToken::Kind::text, text_.substr(begin + 1, std::max(at_, begin + 2) - begin - 2), begin};
    }
    at_ = std::min(text_.find_first_of(" \t\r\n[]\"", at_), text_.size());
    return {GmlToken::Kind::word, text_.substr(begin, at_ - begin), begin};
  }

 private:
  // Blanks, and lines that begin with #.
  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#' && (at_ == 0 || text_[at_ - 1] == '\n'))
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view(" \t\r\n").find(text_[at_]) == std::string_view::npos)
        return;
      else
        ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class GmlReader {
 public:
  GmlReader(ByteSource& source, const ReadOptions& options)
      : text_(whole_text(source, kGmlRemedy)),
        listing_(options, source.name(), line_of_offset(source.name(), text_)),
        roles_(options.table, {Role::source, Role::target, Role::weight}, source.name()),
        name_key_(options.table.column("node").value_or("label")) {}

  ParsedEdges read(const Execution& execution) {
    GmlTokens tokens(text_);
    for (GmlToken key = tokens.next(); key.kind != GmlToken::Kind::end; key = tokens.next()) {
      if (key.kind == GmlToken::Kind::close) {
        close(key);
        continue;
      }
      if (key.kind != GmlToken::Kind::word)
        throw listing_.wrong(key.place, "found " + quoted(key.text) + " where a key was expected",
                             kGmlRemedy);
      const GmlToken value = tokens.next();
      if (value.kind == GmlToken::Kind::open)
        open(key);
      else if (value.kind == GmlToken::Kind::word || value.kind == GmlToken::Kind::text)
        take(key.text, value);
      else
        throw listing_.wrong(key.place, "the key " + quoted(key.text) + " has no value", kGmlRemedy);
    }
    if (!inside_.empty())
      throw listing_.wrong(text_.size(), "the file ends inside of a list",
                           "the file is cut short or damaged: copy or write it again");
    return listing_.finish({.may_be_empty = has_graph_}, text_.size(), roles_.said(), execution);
  }

 private:
  enum class Inside : std::uint8_t { other, graph, node, edge };

  Inside inside() const { return inside_.empty() ? Inside::other : inside_.back(); }

  void open(const GmlToken& key) {
    Inside list = Inside::other;
    if (inside_.empty() && key.text == "graph") {
      if (std::exchange(has_graph_, true))
        throw listing_.wrong(key.place, "this is the second graph of the file",
                             "write a file for each graph");
      list = Inside::graph;
    } else if (inside() == Inside::graph && (key.text == "node" || key.text == "edge")) {
      list = key.text == "node" ? Inside::node : Inside::edge;
      id_ = name_ = source_ = target_ = weight_ = {};
      place_ = key.place;
    }
    inside_.push_back(list);
  }

  void take(std::string_view key, const GmlToken& value) {
    if (inside() == Inside::node) {
      if (key == "id") id_ = value.text;
      if (key == name_key_ && key != "id") name_ = value.text;
    } else if (inside() == Inside::edge && key != "id" && key != "label") {
      const std::optional<Role> role = roles_.of(key);
      if (role == Role::source) source_ = value.text;
      if (role == Role::target) target_ = value.text;
      if (role == Role::weight) weight_ = value.text;
    }
  }

  void close(const GmlToken& bracket) {
    if (inside_.empty()) throw listing_.wrong(bracket.place, "found ] without its [", kGmlRemedy);
    const Inside list = inside();
    inside_.pop_back();
    if (list == Inside::node) {
      const NodeId node = listing_.add_node(decoded(id_), place_);
      if (!name_.empty()) listing_.call(node, decoded(name_), place_);
    } else if (list == Inside::edge) {
      if (source_.empty() || target_.empty())
        throw listing_.wrong(place_, "this edge has no source or no target", kGmlRemedy);
      const NodeId u = listing_.node_of(decoded(source_), place_),
                   v = listing_.node_of(decoded(target_), place_);
      listing_.add_edge(u, v, weight_, place_);
    }
  }

  std::string_view text_;
  GraphListing listing_;
  AttributeRoles roles_;
  std::string name_key_;
  std::vector<Inside> inside_;  // the lists that are open
  bool has_graph_ = false;
  std::string_view id_, name_, source_, target_, weight_;  // of the node or edge that is open
  std::size_t place_ = 0;
};

}  // namespace

ParsedEdges read_gml(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  return GmlReader(source, options).read(execution);
}

void write_gml(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphText text(path, graph);
  const auto append_label = [&](std::string& out, NodeId node) {
    const std::string name = text.name(node);
    for (std::size_t i = 0; i < name.size();) {
      const std::uint32_t code = take_utf8(name, i);
      if (code >= 0x20 && code < 0x7F && code != '"' && code != '&')
        out += static_cast<char>(code);
      else
        out += "&#" + std::to_string(code) + ";";
    }
  };
  text.write(
      execution, "graph [\n",
      [&](std::string& out, NodeId u) {
        out += "node [ id " + std::to_string(u) + " label \"";
        append_label(out, u);
        out += "\" ]\n";
      },
      "",
      [&](std::string& out, NodeId u, NodeId v, EdgeIndex arc) {
        out += "edge [ source " + std::to_string(u) + " target " + std::to_string(v);
        if (text.has_weights()) {
          out += " weight ";
          const std::size_t begin = out.size();
          text.append_weight_of(out, arc);
          // A real of GML has a point, and reads as an integer without one.
          if (out.find_first_of(".e", begin) == std::string::npos)
            out += ".0";
          else if (const std::size_t e = out.find('e', begin);
                   e != std::string::npos && out.find('.', begin) == std::string::npos)
            out.insert(e, ".0");
        }
        out += " ]\n";
      },
      "]\n");
}

}  // namespace copse
