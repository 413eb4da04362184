// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace copse {

/// Output that is there as a whole or not at all, also after a power cut: written aside in the same
/// directory, synced and renamed by commit(); removed if that is never reached, and by the next AtomicFile in
/// that directory where the process was killed. A link is kept and the file it points to replaced; a pipe or
/// a device is written as it goes, and so is "-", standard output. A path that ends in .gz, .zst, .xz or .bz2
/// is compressed unless `compress` is false. Every failure (no such directory, no permission, disk full; a
/// closed pipe where the program ignores SIGPIPE) is an InputError that names the path.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path, bool compress = true);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  void write(std::string_view bytes);  // buffered
  void write(const void* data, std::size_t size) { write({static_cast<const char*>(data), size}); }
  /// What was written so far is in its place now, whatever happens later; for output that grows as somebody
  /// waits. Of a compressed file only what the compressor has let go of.
  void publish();
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Removes the temporary files of this process, for a signal handler that ends it: async-signal-safe.
void remove_unfinished_files() noexcept;

}  // namespace copse
