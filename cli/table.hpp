// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/names.hpp"
#include "copse/support/parallel.hpp"
#include "session.hpp"
#include "support/atomic_file.hpp"

namespace copse::cli {

using Json = nlohmann::ordered_json;

/// The reader of standard output went away (`| head`): not an error worth a word.
class ClosedPipe : public std::exception {};

/// Where results go: standard output, which can be flushed, or a file that is there as a whole or not at all.
class Output {
 public:
  explicit Output(const std::string& path);
  void write(std::string_view bytes);
  void flush();  // of a file only once it is published
  /// For a session that may be killed: a file appears now, not with commit(), and holds what was flushed.
  void publish();
  void commit();
  bool is_terminal() const;

 private:
  std::string buffer_;
  std::optional<AtomicFile> file_;
  bool is_published_ = false;
};

enum class TableStyle {
  tsv,
  aligned,     // TSV for eyes: small tables on a terminal
  json,        // rows of one object, which `Table` opens and closes
  json_lines,  // an object a row
};

/// Formats rows of one table into memory, the same calls for every style. A thread each where rows are many.
class RowBuffer {
 public:
  RowBuffer(const std::vector<std::string>& columns, TableStyle style, int digits = kDefaultDigits);

  RowBuffer& text(std::string_view value);
  RowBuffer& name(const NodeNames& names, NodeId node);
  RowBuffer& number(double value);
  RowBuffer& count(std::uint64_t value);
  RowBuffer& list(std::span<const std::string_view> values);  // comma-separated, or a JSON array
  /// A number a name: a column each, or a JSON object in one.
  RowBuffer& numbers(std::span<const std::string> names, std::span<const double> values);
  RowBuffer& missing();  // an empty field, or null
  /// Cells by their types: text, whole numbers that count something, numbers, and what may be missing.
  template <class... Cells>
  RowBuffer& add(const Cells&... cells) {
    (add_cell(cells), ...);
    return *this;
  }
  void end_row();

  std::string bytes;

 private:
  void add_cell(std::string_view value) { text(value); }
  void add_cell(double value) { number(value); }
  template <std::unsigned_integral Count>
  void add_cell(Count value) {
    count(value);
  }
  template <class Value>
  void add_cell(const std::optional<Value>& value) {
    value ? add_cell(*value) : static_cast<void>(missing());
  }
  void begin_cell();
  void quote(std::string_view value);
  void put(double value);

  /// A number as text. The shares of votes of 31 trees are 32 numbers, and formatting takes longer than all
  /// else of a row.
  struct Formatted {
    double value = 0;
    std::string text;  // none yet
  };
  std::array<Formatted, 64> formatted_;  // by the bits of the number
  bool json_, lines_;
  int digits_;
  std::vector<std::string> keys_;  // "{"node":", ","label":", ...
  std::size_t cell_ = 0;
};

/// The result of a verb: a header and rows, or {"options": ..., "rows": [...], ...}.
class Table {
 public:
  enum class Size { any, small };  // small ones are aligned on a terminal

  Table(Output& output, const Session& session, const Json& options, std::vector<std::string> columns,
        Size size = Size::any);

  /// body(row, i) for i in [0, count), formatted on all threads, written in order. A body may write no row.
  template <class Body>
  void rows(std::size_t count, int threads, Body&& body) {
    constexpr std::size_t kBlock = 1 << 12;                                   // some hundred kilobytes
    const std::size_t wave = kBlock * 8 * static_cast<std::size_t>(threads);  // bounds the memory
    std::vector<RowBuffer> blocks((std::min(wave, count) + kBlock - 1) / kBlock,
                                  RowBuffer(columns_, style_, digits_));
    for (std::size_t begin = 0; begin < count; begin += wave) {
      const std::size_t size = std::min(wave, count - begin);
      parallel_blocks(threads, size, kBlock, [&](std::size_t from, std::size_t to, std::size_t block) {
        blocks[block].bytes.clear();
        for (std::size_t i = from; i < to; ++i) body(blocks[block], begin + i);
      });
      for (std::size_t block = 0; block * kBlock < size; ++block) write(blocks[block]);
    }
  }
  template <class Body>
  void row(Body&& body) {
    RowBuffer buffer(columns_, style_, digits_);
    body(buffer);
    buffer.end_row();
    write(buffer);
  }
  template <class... Cells>
  void add(const Cells&... cells) {
    row([&](RowBuffer& buffer) { buffer.add(cells...); });
  }
  void flush() { output_.flush(); }
  /// Ends the table; `more` are further members of the JSON object: notes, totals.
  void finish(const Json& more = Json::object());

 private:
  void write(const RowBuffer& buffer);

  Output& output_;
  std::vector<std::string> columns_;
  TableStyle style_;
  int digits_;
  bool is_first_ = true;
  std::string aligned_;  // TSV waiting to be aligned
};

/// Columns padded with blanks; `tsv` has the same number of fields on every line. Numbers go to the right.
std::string align(std::string_view tsv);

}  // namespace copse::cli
