// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "copse/support/error.hpp"
#include "session.hpp"

namespace copse::cli {

/// Lines of standard input. `before_waiting` runs whenever the next line has yet to be typed or sent, so
/// that every answer is out before we wait for the next question.
class LineReader {
 public:
  template <class Flush>
  bool next(std::string& line, Flush&& before_waiting) {
    for (;;) {
      const std::size_t end = buffer_.find('\n', begin_ + searched_);
      if (end != std::string::npos || (at_end_ && begin_ < buffer_.size())) {
        line = buffer_.substr(begin_, end - begin_);
        begin_ = end == std::string::npos ? buffer_.size() : end + 1;
        searched_ = 0;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return true;
      }
      if (at_end_ || was_interrupted()) return false;
      before_waiting();
      buffer_.erase(0, begin_);
      begin_ = 0;
      searched_ = buffer_.size();
      read_more();
    }
  }

 private:
  static constexpr int kNapMilliseconds = 200;

  void read_more() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    // Awake now and then: Ctrl-C may have come just before we went to sleep, or to another thread.
    if (poll(&input, 1, kNapMilliseconds) <= 0) return;
    std::array<char, 1 << 16> block;
    const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
    if (got < 0 && errno != EINTR)
      throw InputError("standard input", std::string("cannot be read: ") + std::strerror(errno),
                       "pipe or type lines into it");
    if (got == 0) at_end_ = true;
    if (got > 0) buffer_.append(block.data(), static_cast<std::size_t>(got));
  }

  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t searched_ =
      0;  // no line ends in so many bytes from begin_ on: a long line comes in many blocks
  bool at_end_ = false;
};

}  // namespace copse::cli
