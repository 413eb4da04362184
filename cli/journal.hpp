// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace copse::cli {

/// What `copse online` was told, in the language it is told in: node<TAB>label tells, node<TAB> takes back,
/// and edges come and go. A line is on the disk before its answer is sent, so that a session that was killed
/// goes on where it was. Without a path it keeps nothing.
class Journal {
 public:
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// apply(line) for all that stands there, which is false for a line that is not of this graph; returns the
  /// number of lines. The end of a line that was being written when the machine stopped is cut off: nobody
  /// was answered.
  std::uint64_t replay(const std::function<bool(const std::string&)>& apply);
  void add(const std::string& line);
  void sync();

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string path_;
  int fd_ = -1;
  std::string waiting_;
};

}  // namespace copse::cli
