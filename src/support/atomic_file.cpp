// SPDX-License-Identifier: Apache-2.0
#include "copse/support/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "copse/support/error.hpp"

#ifdef COPSE_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace copse {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

std::string remedy_for(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space or write to another disk; nothing was left behind";
    case EACCES:
    case EPERM:
    case EROFS:
      return "write to a directory where you may create files";
    case ENOENT:
    case ENOTDIR:
      return "create the directory first, or check the path";
    case EPIPE:
      return "the program that was reading the output ended before all of it was written";
    default:
      return "check the path and the disk; nothing was left behind";
  }
}

[[noreturn]] void fail(const std::string& path, const std::string& action, int error) {
  throw InputError{path, action + ": " + std::generic_category().message(error), remedy_for(error)};
}

bool starts_with(const std::string& text, std::string_view prefix) {
  return std::string_view(text).substr(0, prefix.size()) == prefix;
}

}  // namespace

struct AtomicFile::State {
  std::string path;       // as the caller calls it: what errors say
  std::string target;     // where commit() puts the file; empty when written through
  std::string temporary;  // its name until then; empty when written through or already gone
  int fd = -1;
  int write_error = 0;  // the first one, told by check()
  bool is_abandoned = false;
  std::string buffer;
#ifdef COPSE_WITH_LIBARCHIVE
  struct archive* compressor = nullptr;
#endif

  ~State() {
#ifdef COPSE_WITH_LIBARCHIVE
    // Freeing it finishes the stream first; what that writes is for a file nobody wants any more.
    is_abandoned = true;
    if (compressor != nullptr) archive_write_free(compressor);
#endif
    if (fd >= 0) close(fd);
    if (!temporary.empty()) unlink(temporary.c_str());
  }

  void open_output();
  void write_through(std::string_view bytes);
  void put(std::string_view bytes);
  void check() const {
    if (write_error != 0) fail(path, "cannot write", write_error);
  }
  void flush() {
    put(buffer);
    buffer.clear();
  }
  void put_in_place() {
    if (temporary.empty()) return;
    if (rename(temporary.c_str(), target.c_str()) != 0)
      fail(path, "cannot put the finished file in its place", errno);
    temporary.clear();
  }
#ifdef COPSE_WITH_LIBARCHIVE
  void start_compressor(int (*add_filter)(struct archive*));
  [[noreturn]] void compressor_failed();
#endif
};

void AtomicFile::State::open_output() {
  if (path == "-" || path == "/dev/stdout") {
    fd = dup(STDOUT_FILENO);
    if (fd < 0) fail("standard output", "cannot write", errno);
    return;
  }
  target = path;
  struct stat link {};
  struct stat file {};
  const bool exists = stat(path.c_str(), &file) == 0;
  if (exists && S_ISDIR(file.st_mode)) {
    throw InputError{path, "is a directory", "give the name of a file to write"};
  }
  // A device, a pipe or a socket cannot be replaced by a file; what lies under /dev and /proc stands for
  // something that is already open. A link is kept and what it points to is replaced.
  const bool is_link = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
  bool direct =
      (exists && !S_ISREG(file.st_mode)) || starts_with(path, "/dev/") || starts_with(path, "/proc/");
  if (is_link && !direct) {
    if (char* real = exists ? realpath(path.c_str(), nullptr) : nullptr) {
      target = real;
      std::free(real);
    } else {
      direct = true;
    }
  }
  if (direct) {
    target.clear();
    fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    // A pipe that nobody reads: open() waited until a signal came whose handler ends such waiting.
    if (fd < 0 && errno == EINTR) throw Cancelled{};
    if (fd < 0) fail(path, "cannot write", errno);
    return;
  }
  // open() rather than mkstemp(): the permissions are then what the umask gives to any new file.
  static std::atomic<unsigned> counter{0};
  const std::size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "" : target.substr(0, slash + 1);
  for (;;) {
    const std::string name =
        directory + ".copse-" + std::to_string(getpid()) + "-" + std::to_string(counter++) + ".tmp";
    fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      temporary = name;
      break;
    }
    if (errno != EEXIST)
      fail(path, "cannot create a file in " + (directory.empty() ? "." : directory), errno);
  }
  // Written over, a file keeps its permissions; where the owner is another one it may not, which is harmless.
  if (exists && fchmod(fd, file.st_mode & 0777) != 0) errno = 0;
}

void AtomicFile::State::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      write_error = errno;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

#ifdef COPSE_WITH_LIBARCHIVE

void AtomicFile::State::compressor_failed() {
  check();
  const char* text = archive_error_string(compressor);
  throw InputError{path, std::string("cannot compress: ") + (text != nullptr ? text : "unknown error"),
                   "write to a name without a compression suffix"};
}

void AtomicFile::State::start_compressor(int (*add_filter)(struct archive*)) {
  compressor = archive_write_new();
  if (compressor == nullptr) throw std::bad_alloc();
  const auto callback = [](struct archive*, void* self, const void* data, std::size_t size) -> la_ssize_t {
    auto* state = static_cast<State*>(self);
    // Told afterwards, by check(): libarchive frees less of a filter whose output has failed.
    if (!state->is_abandoned && state->write_error == 0) {
      state->write_through({static_cast<const char*>(data), size});
    }
    return static_cast<la_ssize_t>(size);
  };
  if (add_filter(compressor) != ARCHIVE_OK || archive_write_set_format_raw(compressor) != ARCHIVE_OK) {
    compressor_failed();
  }
  // No time of day in the file: the same graph gives the same bytes.
  if (add_filter == archive_write_add_filter_gzip) {
    archive_write_set_filter_option(compressor, "gzip", "timestamp", nullptr);
  }
  archive_write_set_bytes_in_last_block(compressor, 1);  // otherwise the end is padded like a tape
  if (archive_write_open(compressor, this, nullptr, callback, nullptr) != ARCHIVE_OK) compressor_failed();
  struct archive_entry* entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  const int result = archive_write_header(compressor, entry);
  archive_entry_free(entry);
  if (result != ARCHIVE_OK) compressor_failed();
}

#endif

void AtomicFile::State::put(std::string_view bytes) {
#ifdef COPSE_WITH_LIBARCHIVE
  if (compressor != nullptr) {
    while (!bytes.empty()) {
      const la_ssize_t taken = archive_write_data(compressor, bytes.data(), bytes.size());
      if (taken <= 0) compressor_failed();
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
    check();
    return;
  }
#endif
  write_through(bytes);
  check();
}

AtomicFile::AtomicFile(const std::string& path, bool compress) : state_(std::make_unique<State>()) {
  if (path.empty())
    throw InputError{"output", "the name of the file to write is empty", "give a path, or - for standard output"};
  const std::size_t dot = path.rfind('.');
  const std::string suffix = dot == std::string::npos ? "" : path.substr(dot);
  const bool wants_compression =
      compress && (suffix == ".gz" || suffix == ".zst" || suffix == ".xz" || suffix == ".bz2");
#ifndef COPSE_WITH_LIBARCHIVE
  if (wants_compression) {
    throw UsageError{path, "this copse was built without compression",
                     "write to a name without " + suffix + ", or build with -DCOPSE_COMPRESSION=ON"};
  }
#endif
  state_->path = path;
  state_->open_output();
  if (path == "-") state_->path = "standard output";
  state_->buffer.reserve(kBufferSize);
#ifdef COPSE_WITH_LIBARCHIVE
  if (wants_compression) {
    state_->start_compressor(suffix == ".gz"    ? archive_write_add_filter_gzip
                             : suffix == ".zst" ? archive_write_add_filter_zstd
                             : suffix == ".xz"  ? archive_write_add_filter_xz
                                                : archive_write_add_filter_bzip2);
  }
#endif
}

AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  if (state_->buffer.size() + bytes.size() > kBufferSize) {
    state_->flush();
    if (bytes.size() >= kBufferSize) {
      state_->put(bytes);
      return;
    }
  }
  state_->buffer.append(bytes);
}

void AtomicFile::commit() {
  State& state = *state_;
  state.flush();
#ifdef COPSE_WITH_LIBARCHIVE
  if (state.compressor != nullptr) {
    if (archive_write_close(state.compressor) != ARCHIVE_OK) state.compressor_failed();
    state.check();
    archive_write_free(state.compressor);
    state.compressor = nullptr;
  }
#endif
  // A full disk may be told only now (network file systems).
  const int fd = state.fd;
  state.fd = -1;
  if (fd >= 0 && close(fd) != 0 && errno != EINTR) fail(state.path, "cannot write", errno);
  state.put_in_place();
}

void AtomicFile::publish() {
  state_->flush();
  state_->put_in_place();
}

}  // namespace copse
