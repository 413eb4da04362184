// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>

namespace copse::cli {

namespace {

constexpr std::size_t kBufferSize = 1 << 20;

std::string json_text(std::string_view value) {
  // Names are whatever bytes the user's file has; JSON is UTF-8.
  return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Of ids and labels: two that differ must not become one.
std::string exact_json_text(std::string_view value) try {
  return Json(value).dump();
} catch (const Json::type_error&) {
  throw UsageError("--json", copse::quoted(value) + " is not UTF-8, as all text in JSON is",
                   "leave --json out: a table keeps any bytes");
}

void write_stdout(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ClosedPipe{};
    } else if (errno != EINTR) {
      throw InputError("standard output", std::string("cannot be written: ") + std::strerror(errno),
                       "free some space, or name another place with -o FILE");
    }
  }
}

}  // namespace

Output::Output(const std::string& path) {
  if (path != "-")
    file_.emplace(path);
  else if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)  // told before the work, not after
    throw InputError("standard output", "is closed", "leave it open, or write to a file with -o FILE");
}

void Output::write(std::string_view bytes) {
  if (file_) return file_->write(bytes);
  buffer_.append(bytes);
  if (buffer_.size() >= kBufferSize) flush();
}

void Output::flush() {
  if (file_) {
    if (is_published_) file_->publish();
    return;
  }
  write_stdout(buffer_);
  buffer_.clear();
}

void Output::publish() {
  is_published_ = true;
  flush();
}

void Output::commit() {
  flush();
  if (file_) file_->commit();
}

bool Output::is_terminal() const { return !file_ && isatty(STDOUT_FILENO) != 0; }

RowBuffer::RowBuffer(const std::vector<std::string>& columns, TableStyle style, int digits)
    : json_(style == TableStyle::json || style == TableStyle::json_lines),
      lines_(style == TableStyle::json_lines),
      digits_(digits) {
  if (!json_) return;
  for (const std::string& column : columns)
    keys_.push_back((keys_.empty() ? "{" : ",") + json_text(column) + ":");
}

void RowBuffer::begin_cell() {
  if (json_) {
    if (cell_ == 0 && !lines_) bytes += ",\n";  // the table drops the one before the first row
    bytes += keys_[cell_];
  } else if (cell_ > 0) {
    bytes += '\t';
  }
  ++cell_;
}

void RowBuffer::quote(std::string_view value) {
  const bool plain = std::all_of(value.begin(), value.end(),
                                 [](char c) { return c >= ' ' && c != '"' && c != '\\' && c != 0x7f; });
  if (plain) {  // signed char: bytes of UTF-8 are negative and take the careful way
    bytes += '"';
    bytes += value;
    bytes += '"';
  } else {
    bytes += exact_json_text(value);
  }
}

RowBuffer& RowBuffer::text(std::string_view value) {
  begin_cell();
  if (json_) {
    quote(value);
  } else if (value.starts_with('"')) {  // as tables are read (RFC 4180)
    bytes += '"';
    for (const char c : value) bytes.append(c == '"' ? 2 : 1, c);
    bytes += '"';
  } else {
    bytes += value;
  }
  return *this;
}

// A string in JSON whatever the ids: the type of a column must not depend on the file.
RowBuffer& RowBuffer::name(const NodeNames& names, NodeId node) {
  NodeNames::Digits digits;
  return text(names.view(node, digits));
}

void RowBuffer::put(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  Formatted& known = formatted_[bits * 0x9E3779B97F4A7C15 >> 58];
  if (known.text.empty() || std::bit_cast<std::uint64_t>(known.value) != bits)
    known = {value, json_ && !std::isfinite(value) ? "null"
                    : digits_ == kExactDigits      ? fmt::format("{}", value)
                                                   : fmt::format("{:.{}g}", value, digits_)};
  bytes += known.text;
}

RowBuffer& RowBuffer::number(double value) {
  begin_cell();
  put(value);
  return *this;
}

RowBuffer& RowBuffer::count(std::uint64_t value) {
  begin_cell();
  fmt::format_to(std::back_inserter(bytes), "{}", value);
  return *this;
}

RowBuffer& RowBuffer::list(std::span<const std::string_view> values) {
  begin_cell();
  if (json_) bytes += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) bytes += ',';
    if (json_) {
      quote(values[i]);
    } else if (values[i].find(',') != std::string_view::npos) {
      throw UsageError("--multi-label",
                       "the label " + copse::quoted(values[i]) + " holds a comma, which lists separate by",
                       "ask for --json, or replace the comma");
    } else {
      bytes += values[i];
    }
  }
  if (json_) bytes += ']';
  return *this;
}

RowBuffer& RowBuffer::numbers(std::span<const std::string> names, std::span<const double> values) {
  if (!json_) {
    for (const double value : values) number(value);
    return *this;
  }
  begin_cell();
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes += i == 0 ? '{' : ',';
    quote(names[i]);
    bytes += ':';
    put(values[i]);
  }
  bytes += '}';
  return *this;
}

RowBuffer& RowBuffer::missing() {
  begin_cell();
  if (json_) bytes += "null";
  return *this;
}

void RowBuffer::end_row() {
  if (json_) bytes += '}';
  if (!json_ || lines_) bytes += '\n';
  cell_ = 0;
}

Table::Table(Output& output, const Session& session, const Json& options, std::vector<std::string> columns,
             Size size)
    : output_(output),
      columns_(std::move(columns)),
      style_(session.json                                  ? TableStyle::json
             : size == Size::small && output.is_terminal() ? TableStyle::aligned
                                                           : TableStyle::tsv),
      digits_(session.digits) {
  if (style_ == TableStyle::json) {
    output_.write("{\"options\":" + options.dump(-1, ' ', false, Json::error_handler_t::replace) +
                  ",\n\"rows\":[");
    return;
  }
  std::string header;
  for (const std::string& column : columns_) header += (header.empty() ? "" : "\t") + column;
  if (style_ == TableStyle::aligned)
    aligned_ = header + "\n";
  else
    output_.write(header + "\n");
}

void Table::write(const RowBuffer& buffer) {
  std::string_view bytes = buffer.bytes;
  if (bytes.empty()) return;
  if (style_ == TableStyle::json && is_first_) bytes.remove_prefix(1);
  is_first_ = false;
  if (style_ == TableStyle::aligned)
    aligned_ += bytes;
  else
    output_.write(bytes);
}

void Table::finish(const Json& more) {
  if (style_ == TableStyle::json) {
    output_.write("\n]");
    for (const auto& [key, value] : more.items())
      output_.write(",\n" + json_text(key) + ":" +
                    value.dump(-1, ' ', false, Json::error_handler_t::replace));
    output_.write("}\n");
  } else if (style_ == TableStyle::aligned) {
    output_.write(align(aligned_));
  }
  output_.commit();
}

std::string align(std::string_view tsv) {
  struct Column {
    std::size_t width = 0;
    bool numeric = true;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string_view>> lines;
  while (!tsv.empty()) {
    const std::size_t end = std::min(tsv.find('\n'), tsv.size());
    std::string_view line = tsv.substr(0, end);
    tsv.remove_prefix(std::min(end + 1, tsv.size()));
    auto& cells = lines.emplace_back();
    for (bool more = true; more;) {
      const std::size_t tab = line.find('\t');
      more = tab != std::string_view::npos;
      cells.push_back(line.substr(0, tab));
      if (more) line.remove_prefix(tab + 1);
    }
    columns.resize(std::max(columns.size(), cells.size()));
    for (std::size_t c = 0; c < cells.size(); ++c) {
      // Characters, not bytes: continuation bytes of UTF-8 take no place.
      const auto width = static_cast<std::size_t>(
          std::count_if(cells[c].begin(), cells[c].end(), [](char b) { return (b & 0xC0) != 0x80; }));
      columns[c].width = std::max(columns[c].width, width);
      if (lines.size() > 1 && cells[c].find_first_not_of("0123456789.,-+e±% ") != std::string_view::npos)
        columns[c].numeric = false;
    }
  }
  std::string text;
  for (const auto& cells : lines) {
    std::string line;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto width = static_cast<std::size_t>(
          std::count_if(cells[c].begin(), cells[c].end(), [](char b) { return (b & 0xC0) != 0x80; }));
      const std::string blanks(columns[c].width - width, ' ');
      if (c > 0) line += "  ";
      line += columns[c].numeric ? blanks + std::string(cells[c]) : std::string(cells[c]) + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace copse::cli
