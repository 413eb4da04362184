// SPDX-License-Identifier: Apache-2.0
#include "support/byte_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "copse/support/buffer.hpp"
#include "copse/support/error.hpp"
#include "support/decompress.hpp"
#include "support/mapped_file.hpp"

namespace copse {
namespace {

constexpr std::size_t kPeek = 512;
constexpr int kNapMilliseconds = 50;  // between two looks at whether to go on waiting

struct Descriptor {
  int fd = -1;
  bool is_owned = false;
  ~Descriptor() {
    if (is_owned && fd >= 0) ::close(fd);
  }
};

std::string reason(int code) { return std::strerror(code); }

[[noreturn]] void cannot_open(const std::string& name, int code) {
  if (code == ENOENT || code == ENOTDIR)
    throw InputError{name, "there is no such file", "check the name; \"-\" reads standard input"};
  if (code == EACCES)
    throw InputError{name, "this file may not be read (permission denied)",
                     "ask for read permission, or name a copy"};
  throw InputError{name, "this file cannot be opened: " + reason(code),
                   "check the name and the disk it lies on"};
}

[[noreturn]] void cannot_read(const std::string& name, int code) {
  throw InputError{name, "reading failed: " + reason(code),
                   "check the disk or the program that writes the pipe"};
}

}  // namespace

struct ByteSource::State {
  std::string name;
  Descriptor descriptor;
  Execution execution;  // asked while a pipe is waited for

  // Either all bytes lie in memory (a test's array, a file that rest() has mapped) ...
  bool is_whole = false;
  std::span<const char> whole;
  std::size_t position = 0;
  MappedFile mapping;

  // ... or they come in order from `descriptor` or `decompressor` through a window [begin, end).
  std::unique_ptr<Decompressor> decompressor;
  Buffer<char> window;
  std::size_t begin = 0, end = 0;
  bool is_at_end = false;

  // A plain file is read from `start` to `length`, its size when it was opened; the next byte to read is at
  // `offset`.
  bool is_file = false;
  off_t start = 0, offset = 0, length = 0;

  // Until there are bytes, or the other side of the pipe is closed. In naps: a signal may come just before
  // one begins, or to another thread, and would not end it.
  void wait_for_bytes() const {
    pollfd input{descriptor.fd, POLLIN, 0};
    do execution.throw_if_cancelled();
    while (poll(&input, 1, execution.progress == nullptr ? -1 : kNapMilliseconds) <= 0);
  }

  std::size_t read_descriptor(char* out, std::size_t count) {
    if (is_file) count = std::min(count, static_cast<std::size_t>(length - offset));
    for (;;) {
      if (!is_file) wait_for_bytes();
      const ssize_t got =
          is_file ? ::pread(descriptor.fd, out, count, offset) : ::read(descriptor.fd, out, count);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) cannot_read(name, errno);
      if (is_file && got == 0 && count > 0) check_length();
      offset += got;
      return static_cast<std::size_t>(got);
    }
  }

  // The file ended before `length`. That is no error where the file system only guesses lengths.
  void check_length() const {
    struct stat facts {};
    if (fstat(descriptor.fd, &facts) == 0 && facts.st_size >= length) return;
    throw InputError{name, "the file was cut short while it was being read",
                     "run again when whatever writes it has finished"};
  }

  // open() would wait for a pipe's writer and hear nothing meanwhile; wait_for_bytes() does so instead.
  void open_file(const std::string& path) {
    descriptor.is_owned = true;
    descriptor.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor.fd < 0) cannot_open(name, errno);
  }

  // Bytes in the window grow to at least `size`, unless the input ends before. Keeps what is there.
  void fill(std::size_t size) {
    if (end - begin >= size || is_at_end) return;
    if (begin + size > window.size()) {
      const std::size_t kept = end - begin;
      if (size <= window.size()) {
        std::memmove(window.data(), window.data() + begin, kept);
      } else {
        Buffer<char> larger(std::max(size, 2 * window.size()));
        if (kept != 0) std::memcpy(larger.data(), window.data() + begin, kept);
        window = std::move(larger);
      }
      begin = 0;
      end = kept;
    }
    while (end - begin < size) {
      const std::size_t room = window.size() - end;
      const std::size_t count = decompressor ? decompressor->read(window.data() + end, room)
                                             : read_descriptor(window.data() + end, room);
      if (count == 0) {
        is_at_end = true;
        return;
      }
      end += count;
    }
  }

  // Looks at the first bytes and puts a decompressor in between where they ask for one.
  void choose_decompressor() {
    if (is_whole) {
      const std::span<const char> bytes = whole.subspan(position);
      if (!is_compressed(bytes)) return;
      decompressor = decompress_memory(name, bytes);
      is_whole = false;
      return;
    }
    fill(kPeek);
    const std::span<const char> first{window.data() + begin, end - begin};
    if (!is_compressed(first)) return;
    decompressor = decompress_stream(name, {first.begin(), first.end()}, [this](char* out, std::size_t size) {
      return read_descriptor(out, size);
    });
    if (is_file && execution.threads > 1) decompressor = decompress_ahead(std::move(decompressor));
    begin = end = 0;
    is_at_end = false;
  }
};

ByteSource::ByteSource(std::shared_ptr<State> state) : state_(std::move(state)) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

ByteSource ByteSource::open(const std::string& path, const Execution& execution) {
  auto state = std::make_shared<State>();
  const bool is_stdin = path == "-";
  state->name = is_stdin ? "standard input" : path.empty() ? quoted(path) : path;
  state->execution = execution;
  if (is_stdin)
    state->descriptor.fd = STDIN_FILENO;
  else
    state->open_file(path);

  struct stat facts {};
  if (fstat(state->descriptor.fd, &facts) != 0) cannot_open(state->name, errno);
  if (S_ISDIR(facts.st_mode))
    throw InputError{state->name, "this is a directory, not a file", "name a file in it"};
  // Files of size 0 include those the kernel makes up as they are read: these are streamed.
  state->is_file = S_ISREG(facts.st_mode) && facts.st_size > 0;
  if (state->is_file) {
    state->length = facts.st_size;
    if (is_stdin) state->start = std::clamp<off_t>(lseek(STDIN_FILENO, 0, SEEK_CUR), 0, state->length);
    state->offset = state->start;
  }
  state->choose_decompressor();
  return ByteSource{std::move(state)};
}

ByteSource ByteSource::from_memory(const std::string& name, std::span<const char> bytes) {
  auto state = std::make_shared<State>();
  state->name = name;
  state->whole = bytes;
  state->is_whole = true;
  state->choose_decompressor();
  return ByteSource{std::move(state)};
}

const std::string& ByteSource::name() const { return state_->name; }

std::uint64_t ByteSource::known_size() const {
  if (state_->is_whole) return state_->whole.size();
  return state_->is_file && !state_->decompressor ? static_cast<std::uint64_t>(state_->length) : 0;
}

std::span<const char> ByteSource::peek() {
  State& s = *state_;
  if (s.is_whole) return s.whole.subspan(s.position, std::min(kPeek, s.whole.size() - s.position));
  s.fill(kPeek);
  return {s.window.data() + s.begin, std::min(kPeek, s.end - s.begin)};
}

std::span<const char> ByteSource::next_lines(std::size_t size) {
  State& s = *state_;
  size = std::max<std::size_t>(size, 1);
  if (s.is_whole) {
    const std::span<const char> left = s.whole.subspan(s.position);
    std::size_t length = left.size();
    if (size < length) {
      if (const void* last = memrchr(left.data(), '\n', size)) {
        length = static_cast<std::size_t>(static_cast<const char*>(last) - left.data()) + 1;
      } else if (const void* next = std::memchr(left.data() + size, '\n', length - size)) {
        length = static_cast<std::size_t>(static_cast<const char*>(next) - left.data()) + 1;
      }
    }
    s.position += length;
    return left.first(length);
  }
  for (std::size_t searched = 0;; size = 2 * size) {
    s.fill(size);
    const std::size_t length = s.end - s.begin;
    const char* data = s.window.data() + s.begin;
    std::size_t cut = length;
    if (!s.is_at_end) {
      const void* last = memrchr(data + searched, '\n', length - searched);
      searched = length;
      if (last == nullptr) continue;  // a line longer than the block still comes whole
      cut = static_cast<std::size_t>(static_cast<const char*>(last) - data) + 1;
    }
    s.begin += cut;
    if (cut == 0) {  // all is read: what comes next may need the memory
      s.window = {};
      s.begin = s.end = 0;
      return {};
    }
    return {data, cut};
  }
}

bool ByteSource::can_rewind() const { return state_->is_file || state_->whole.data() != nullptr; }

void ByteSource::rewind() {
  State& s = *state_;
  assert(can_rewind());
  s.decompressor.reset();  // first: it may be reading
  s.is_whole = !s.is_file;
  s.position = 0;
  s.offset = s.start;
  s.begin = s.end = 0;
  s.is_at_end = false;
  s.choose_decompressor();
}

std::span<const char> ByteSource::rest() {
  State& s = *state_;
  if (s.is_file && !s.decompressor && s.mapping.bytes().empty() &&
      s.mapping.open(s.descriptor.fd, static_cast<std::size_t>(s.length), s.name)) {
    s.whole = s.mapping.bytes();
    s.position = static_cast<std::size_t>(s.offset) - (s.end - s.begin);
    s.is_whole = true;
  }
  if (s.is_whole) {
    const std::span<const char> left = s.whole.subspan(s.position);
    s.position = s.whole.size();
    return left;
  }
  while (!s.is_at_end) s.fill(std::max<std::size_t>(std::size_t{1} << 16, 2 * (s.end - s.begin)));
  const std::span<const char> left{s.window.data() + s.begin, s.end - s.begin};
  s.begin = s.end;
  return left;
}

std::shared_ptr<const void> ByteSource::share() { return state_; }

}  // namespace copse
