// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "copse/support/execution.hpp"

namespace copse {

/// The bytes of a file, a pipe or a compressed file, in order, read (and decompressed, known by its first
/// bytes) as it goes, so that a large text never lies in memory as a whole; rest() maps a plain file.
/// Errors are InputErrors that name the file, one that is cut short while it is read included.
class ByteSource {
 public:
  /// "-" is standard input. Waiting for a pipe, here or later, ends with Cancelled once `execution` is
  /// cancelled.
  static ByteSource open(const std::string& path, const Execution& execution = {});
  /// `bytes` (compressed or not), called `name` in errors. Not copied.
  static ByteSource from_memory(const std::string& name, std::span<const char> bytes);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  const std::string& name() const;
  /// Bytes in all where that is known (a plain file), else 0: for progress.
  std::uint64_t known_size() const;
  /// The first bytes (512, or all there are), not consumed. Only before the first other call.
  std::span<const char> peek();
  /// About `size` bytes (at least one whole line), ending at a line end or at the end of the input; empty
  /// when all is read. Valid until the next call.
  std::span<const char> next_lines(std::size_t size);
  /// Whether rewind() can be called: not for a pipe.
  bool can_rewind() const;
  /// Back to the first byte.
  void rewind();
  /// All that is left, in one piece: mapped if it is a plain file (see exit_when_a_file_in_use_is_cut).
  std::span<const char> rest();
  /// Keeps what rest() returned alive: for readers that use the bytes in place.
  std::shared_ptr<const void> share();

 private:
  struct State;
  explicit ByteSource(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// When bytes of a mapped file are gone (it was cut short, its disk failed), a message that names it is
/// written to standard error. Then the process goes the way of an unhandled SIGBUS, or of the handler that
/// was set before; a program that calls this removes its unfinished output and exits with `code`.
void exit_when_a_file_in_use_is_cut(int code);

}  // namespace copse
