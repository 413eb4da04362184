// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace copse {

/// A whole file as memory, read-only. When bytes of it are missing later (it was cut short, its disk failed)
/// the processor says so where they are read, with SIGBUS, and nothing that relies on the bytes can go on: a
/// message is written that names the file, and then comes what exit_when_a_file_in_use_is_cut() asked for, or
/// else what SIGBUS did before, a handler of the program's own included.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  ~MappedFile();

  /// `name`, for the message, must outlive the mapping. False where the file cannot be mapped: it can still
  /// be read.
  bool open(int fd, std::size_t size, const std::string& name);
  std::span<const char> bytes() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace copse
