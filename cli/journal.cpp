// SPDX-License-Identifier: Apache-2.0
#include "journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "copse/support/error.hpp"

namespace copse::cli {

Journal::Journal(const std::string& path) : path_(path) {
  if (path.empty()) return;
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot be opened");
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) fail("another session writes to it");
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

void Journal::fail(const std::string& what) const {
  throw InputError(path_, what + ": " + std::strerror(errno),
                   "give --journal a file that this session may write to");
}

std::uint64_t Journal::replay(const std::function<bool(const std::string&)>& apply) {
  if (fd_ < 0) return 0;
  std::ifstream file(path_, std::ios::binary);
  std::uint64_t num_lines = 0, num_bytes = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); ++num_lines, num_bytes += line.size() + 1)
    if (!apply(line))
      throw InputError(at(path_, num_lines + 1), "is not node<TAB>label of a node of this graph",
                       "a journal goes with the graph it was begun with; give another file");
  if (::ftruncate(fd_, static_cast<off_t>(num_bytes)) != 0) fail("cannot be cut to its whole lines");
  return num_lines;
}

void Journal::add(const std::string& line) {
  if (fd_ >= 0) waiting_ += line + "\n";
}

void Journal::sync() {
  if (waiting_.empty()) return;
  for (std::string_view rest = waiting_; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(fd_) != 0) fail("cannot be written");
  waiting_.clear();
}

}  // namespace copse::cli
