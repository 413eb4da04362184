// SPDX-License-Identifier: Apache-2.0
//
// JSON: node-link as networkx and d3 write it, {"nodes": [{"id": ...}], "links" or "edges": [{"source": ...,
// "target": ..., "weight": ...}]}; an array of edges as objects, as pandas writes it; and JSON lines, an edge
// per line. Parsed as it is read, by events: no tree in memory. Ids are text or numbers; what else nodes and
// edges hold is skipped, at any depth.

#include <algorithm>

#include "copse/io/read.hpp"
#include "io/graph_text.hpp"
#include "io/listing.hpp"
#include "io/text.hpp"
#ifdef COPSE_WITH_PARSERS
#include <nlohmann/json.hpp>
#endif

namespace copse {
#ifdef COPSE_WITH_PARSERS
namespace {

constexpr char kJsonRemedy[] =
    "{\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}], \"links\": [{\"source\": \"a\", \"target\": \"b\", "
    "\"weight\": 2}]}; a file with an object per line is --format json_lines";

// Where the objects of edges lie: in an array of an object, in the outermost array, or on a line each.
enum class JsonShape { document, lines };

class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonEvents(const std::string& name, const ReadOptions& options, JsonShape shape)
      : shape_(shape),
        file_(name),
        listing_(options, name, [this](std::size_t place) { return where(place); }),
        roles_(options.table, {Role::source, Role::target, Role::weight}, name),
        name_key_(options.table.column("node").value_or("id")) {}

  bool null() override { return true; }
  bool boolean(bool value) override { return take(value ? "true" : "false", false); }
  bool number_integer(number_integer_t value) override { return take(std::to_string(value), true); }
  bool number_unsigned(number_unsigned_t value) override { return take(std::to_string(value), true); }
  bool number_float(number_float_t, const string_t& text) override { return take(text, false); }
  bool string(string_t& value) override { return take(value, true); }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override {
    ++depth_;
    if (depth_ == object_depth() && section_ != Section::other)
      begin_item();
    else
      refuse_nested();
    return true;
  }
  bool end_object() override {
    if (depth_ == object_depth() && section_ != Section::other) end_item();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    if (++depth_ == 1) {
      is_array_ = true;
      section_ = Section::edges;
    } else {
      refuse_nested();
    }
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& key) override {
    key_ = Key::other;
    if (shape_ == JsonShape::document && !is_array_ && depth_ == 1) {
      section_ = key == "nodes"                     ? Section::nodes
                 : key == "links" || key == "edges" ? Section::edges
                                                    : Section::other;
      has_nodes_ = has_nodes_ || section_ == Section::nodes;
      has_edges_ = has_edges_ || section_ == Section::edges;
      index_ = 0;
    } else if (depth_ == object_depth() && section_ == Section::nodes) {
      key_ = key == "id" ? Key::id : Key::other;
      is_name_ = key == name_key_ && key != "id";
    } else if (depth_ == object_depth() && section_ == Section::edges && key != "id" && key != "key") {
      const std::optional<Role> role = roles_.of(key);
      key_ = !role                   ? Key::other
             : *role == Role::source ? Key::source
             : *role == Role::target ? Key::target
                                     : Key::weight;
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    error_position_ = position;
    return false;
  }

  /// One text, all of the file or a line; `line` is its number, for JSON lines.
  void parse(std::string_view text, std::uint64_t line) {
    line_ = line;
    depth_ = 0;
    if (shape_ == JsonShape::lines) section_ = Section::edges;
    if (nlohmann::json::sax_parse(text.begin(), text.end(), this)) return;
    const std::string place =
        shape_ == JsonShape::lines ? at(file_, line) : line_of_offset(file_, text)(error_position_ - 1);
    throw InputError{place, "this is no JSON",
                     shape_ == JsonShape::lines
                         ? "every line is an object: {\"source\": \"a\", \"target\": \"b\"}"
                         : kJsonRemedy};
  }

  ParsedEdges finish(std::uint64_t num_bytes, const Execution& execution) {
    if (shape_ == JsonShape::document && !is_array_ && !has_edges_)
      throw InputError{file_, "there is neither \"links\" nor \"edges\"", kJsonRemedy};
    return listing_.finish({.lists_nodes = has_nodes_, .may_be_empty = has_nodes_}, num_bytes, roles_.said(),
                           execution);
  }

 private:
  enum class Section { other, nodes, edges };
  enum class Key { other, id, source, target, weight };

  // Of the objects that are nodes and edges.
  int object_depth() const { return shape_ == JsonShape::lines ? 1 : is_array_ ? 2 : 3; }

  std::string where(std::size_t place) const {
    if (shape_ == JsonShape::lines) return at(file_, place);
    const char* array = section_ == Section::nodes ? "nodes" : is_array_ ? "" : "edges";
    return file_ + "(" + array + "[" + std::to_string(place) + "])";
  }
  std::size_t place() const { return shape_ == JsonShape::lines ? line_ : index_; }

  void begin_item() {
    id_.reset();
    name_.reset();
    source_.reset();
    target_.reset();
    weight_.clear();
    key_ = Key::other;
  }

  // A value of the node or edge that is being read.
  bool take(const std::string& value, bool is_id) {
    if (depth_ != object_depth() || section_ == Section::other) return true;
    if (is_name_ && section_ == Section::nodes) name_ = value;
    if (key_ == Key::other) return true;
    if (key_ == Key::weight) {
      weight_ = value;
      return true;
    }
    if (!is_id) refuse_id();
    (key_ == Key::id ? id_ : key_ == Key::source ? source_ : target_) = value;
    return true;
  }

  [[noreturn]] void refuse_id() const {
    throw listing_.wrong(place(), "an id is neither text nor a whole number",
                         "relabel the nodes: ids are text or whole numbers");
  }
  // A list or an object where an id should be.
  void refuse_nested() const {
    if (depth_ == object_depth() + 1 && section_ != Section::other &&
        (key_ == Key::id || key_ == Key::source || key_ == Key::target))
      refuse_id();
  }

  void end_item() {
    if (section_ == Section::nodes) {
      if (!id_) throw listing_.wrong(place(), "this node has no \"id\"", kJsonRemedy);
      const NodeId node = listing_.add_node(*id_, place());
      if (name_ && !name_->empty()) listing_.call(node, *name_, place());
    } else {
      if (!source_ || !target_)
        throw listing_.wrong(
            place(), std::string("this edge has no ") + (source_ ? "target" : "source"),
            "an edge has a source and a target; --columns source=NAME,target=NAME names them");
      const NodeId u = listing_.node_of(*source_, place()), v = listing_.node_of(*target_, place());
      listing_.add_edge(u, v, weight_, place());
    }
    ++index_;
  }

  JsonShape shape_;
  std::string file_;
  GraphListing listing_;
  AttributeRoles roles_;
  std::string name_key_;
  Section section_ = Section::other;
  Key key_ = Key::other;
  bool is_array_ = false, is_name_ = false, has_nodes_ = false, has_edges_ = false;
  int depth_ = 0;  // fits: each level takes a byte of the file
  std::size_t index_ = 0, error_position_ = 1;
  std::uint64_t line_ = 0;
  std::optional<std::string> id_, name_, source_, target_;
  std::string weight_;
};

}  // namespace

ParsedEdges read_json(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  const std::string_view text = whole_text(source, kJsonRemedy);
  JsonEvents events(source.name(), options, JsonShape::document);
  events.parse(text, 1);
  return events.finish(text.size(), execution);
}

ParsedEdges read_json_lines(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  TextLines lines(source,
                  "JSON lines are text: an object like {\"source\": \"a\", \"target\": \"b\"} in each");
  JsonEvents events(source.name(), options, JsonShape::lines);
  for (std::string_view line; lines.next(line);)
    if (!trimmed(line).empty()) events.parse(line, lines.line_number());
  return events.finish(lines.num_bytes(), execution);
}
#endif

void write_json(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphText text(path, graph);
  // Whole numbers are written as such where all ids are some.
  NodeNames::Digits digits;
  bool are_numbers = true;
  for (NodeId u = 0; are_numbers && u < graph.graph.num_nodes(); ++u)
    are_numbers = canonical_integer(graph.names.view(u, digits)).has_value();
  const auto id = [&](NodeId node) {
    const std::string name = text.name(node);
    if (are_numbers) return name;
    std::string out = "\"";
    for (const char c : name) {
      constexpr char kHex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20)
        out += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15];
      else
        out += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return out + "\"";
  };
  text.write(
      execution, "{\"directed\": false, \"multigraph\": false, \"graph\": {}, \"nodes\": [\n",
      [&](std::string& out, NodeId u) { out += (u == 0 ? "{\"id\": " : ",\n{\"id\": ") + id(u) + "}"; },
      "\n], \"links\": [\n",
      [&](std::string& out, NodeId u, NodeId v, EdgeIndex arc) {
        out += (arc == 0 ? "{\"source\": " : ",\n{\"source\": ") + id(u) + ", \"target\": " + id(v);
        if (text.has_weights()) {
          out += ", \"weight\": ";
          text.append_weight_of(out, arc);
        }
        out += "}";
      },
      "\n]}\n");
}

}  // namespace copse
