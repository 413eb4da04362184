// SPDX-License-Identifier: Apache-2.0
#include "support/atomic_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include "copse/support/error.hpp"
#include "support/decompress.hpp"

#ifdef COPSE_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace copse {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

std::string remedy_for(int error, const std::string& left_behind) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "free some space or write to another disk; " + left_behind;
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
      return "check the path and the disk; " + left_behind;
  }
}

[[noreturn]] void fail(const std::string& path, const std::string& action, int error,
                       const std::string& left_behind = "nothing was left behind") {
  throw InputError{path, action + ": " + std::generic_category().message(error),
                   remedy_for(error, left_behind)};
}

constexpr std::string_view kTemporaryPrefix = ".copse-", kTemporarySuffix = ".tmp";

// The names of the temporary files of this process, where a signal handler can read them. One that finds no
// free slot is removed by the next run instead.
struct Unfinished {
  std::atomic<const char*> name{nullptr};
  std::atomic<pid_t> writer{0};  // a forked child must not remove its parent's
};
std::array<Unfinished, 64> unfinished;

void remember(const char* name) {
  for (Unfinished& slot : unfinished) {
    const char* expected = nullptr;
    if (!slot.name.compare_exchange_strong(expected, name)) continue;
    slot.writer = getpid();
    return;
  }
}

void forget(const char* name) {
  for (Unfinished& slot : unfinished) {
    const char* expected = name;
    if (slot.name.compare_exchange_strong(expected, nullptr)) return;
  }
}

// Closed at the end of its scope.
struct OpenFile {
  int fd = -1;
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
};

// Whoever writes a temporary file holds a lock on it, and whoever removes one takes that lock before. (Where
// the file system knows no locks, nobody removes.)
bool lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0; }

bool has_name(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 0;
}

// Removes what runs that were killed have left in the directory: their locks went with them.
void remove_abandoned(const std::string& directory) {
  DIR* entries = opendir(directory.empty() ? "." : directory.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) continue;
    const std::string path = directory + entry->d_name;
    const OpenFile file{open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    if (file.fd >= 0 && lock(file.fd) && has_name(file.fd)) unlink(path.c_str());
  }
  closedir(entries);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// Not every file system can: EINVAL is no reason to fail.
bool sync(int fd) {
  while (fsync(fd) != 0) {
    if (errno == EINVAL) return true;
    if (errno != EINTR) return false;
  }
  return true;
}

// A directory that may be written but not read cannot be synced.
bool sync_directory(const std::string& directory) {
  const int fd = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return true;
  const bool is_synced = sync(fd);
  const int error = errno;
  close(fd);
  errno = error;
  return is_synced;
}

// Compresses what is written to it as the suffix of a file's name asks, and hands the result on.
class Compressor {
 public:
  using Sink =
      std::function<void(std::string_view)>;  // never fails: libarchive frees less of a filter that did
  Compressor(const Compressor&) = delete;
#ifdef COPSE_WITH_LIBARCHIVE
  Compressor(std::string path, const std::string& suffix, Sink sink)
      : path_(std::move(path)), sink_(std::move(sink)), archive_(archive_write_new()) {
    if (archive_ == nullptr) throw std::bad_alloc();
    check(suffix == ".gz"    ? archive_write_add_filter_gzip(get())
          : suffix == ".zst" ? archive_write_add_filter_zstd(get())
          : suffix == ".xz"  ? archive_write_add_filter_xz(get())
                             : archive_write_add_filter_bzip2(get()));
    check(archive_write_set_format_raw(get()));
    // No time of day in the file: the same graph gives the same bytes.
    if (suffix == ".gz") archive_write_set_filter_option(get(), "gzip", "timestamp", nullptr);
    archive_write_set_bytes_in_last_block(get(), 1);  // otherwise the end is padded like a tape
    const auto hand_on = [](struct archive*, void* self, const void* data, std::size_t size) -> la_ssize_t {
      static_cast<Compressor*>(self)->sink_({static_cast<const char*>(data), size});
      return static_cast<la_ssize_t>(size);
    };
    check(archive_write_open(get(), this, nullptr, hand_on, nullptr));
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                              archive_entry_free);
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    check(archive_write_header(get(), entry.get()));
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const la_ssize_t taken = archive_write_data(get(), bytes.data(), bytes.size());
      check(taken > 0 ? ARCHIVE_OK : ARCHIVE_FATAL);
      bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
  }
  void finish() { check(archive_write_close(get())); }

 private:
  struct archive* get() {
    return archive_.get();
  }
  void check(int result) {
    if (result == ARCHIVE_OK) return;
    const char* text = archive_error_string(get());
    throw InputError{path_, std::string("cannot compress: ") + (text != nullptr ? text : "unknown error"),
                     "write to a name without a compression suffix"};
  }
  struct Free {  // finishes the stream first
    void operator()(struct archive* archive) const { archive_write_free(archive); }
  };
  std::string path_;
  Sink sink_;
  std::unique_ptr<struct archive, Free> archive_;  // which knows this object by its address
#else
  Compressor(const std::string&, const std::string&, const Sink&) {}
  void write(std::string_view) {}
  void finish() {}
#endif
};

}  // namespace

void remove_unfinished_files() noexcept {
  for (const Unfinished& slot : unfinished) {
    const char* name = slot.name;
    if (name != nullptr && slot.writer == getpid()) unlink(name);
  }
}

struct AtomicFile::State {
  std::string path;       // as the caller calls it: what errors say
  std::string target;     // where commit() puts the file; empty when written through
  std::string temporary;  // its name until then; empty when written through or already gone
  int fd = -1;
  int write_error = 0;  // the first one, told by check()
  bool is_abandoned = false;
  std::string buffer;
  std::optional<Compressor> compressor;

  ~State() {
    is_abandoned = true;  // a compressor that goes finishes its stream, for a file nobody wants any more
    compressor.reset();
    if (fd >= 0) close(fd);
    if (!temporary.empty()) {
      unlink(temporary.c_str());
      forget(temporary.c_str());
    }
  }

  void open_output();
  void open_temporary();
  void write_through(std::string_view bytes);
  void put(std::string_view bytes);
  bool is_published() const { return !target.empty() && temporary.empty(); }
  void check() const {
    if (write_error != 0) cannot_write(write_error);
  }
  [[noreturn]] void cannot_write(int error) const {
    fail(path, "cannot write", error,
         is_published() ? "what was written before is there" : "nothing was left behind");
  }
  void flush() {
    put(buffer);
    buffer.clear();
  }
  void put_in_place();
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
  bool direct = (exists && !S_ISREG(file.st_mode)) || path.starts_with("/dev/") || path.starts_with("/proc/");
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
  open_temporary();
  // Written over, a file keeps its permissions; where the owner is another one it may not, which is harmless.
  if (exists && fchmod(fd, file.st_mode & 0777) != 0) errno = 0;
}

void AtomicFile::State::open_temporary() {
  // open() rather than mkstemp(): the permissions are then what the umask gives to any new file.
  static std::atomic<unsigned> counter{0};
  const std::string directory = directory_of(target);
  remove_abandoned(directory);
  for (;;) {
    temporary = directory + std::string(kTemporaryPrefix) + std::to_string(getpid()) + "-" +
                std::to_string(counter++) + std::string(kTemporarySuffix);
    fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
      const int error = errno;
      temporary.clear();
      if (error == EEXIST) continue;
      fail(path, "cannot create a file in " + (directory.empty() ? "." : directory), error);
    }
    // Another run may have come before the lock, and be about to remove the file: take another.
    const bool is_being_removed = !lock(fd) && errno == EWOULDBLOCK;
    if (!is_being_removed && has_name(fd)) break;
    close(fd);
  }
  remember(temporary.c_str());
}

void AtomicFile::State::put_in_place() {
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    fail(path, "cannot put the finished file in its place", errno);
  }
  forget(temporary.c_str());
  temporary.clear();
  if (!sync_directory(directory_of(target))) {
    throw InputError{
        path, "is written, but might not outlast a power cut: " + std::generic_category().message(errno),
        "check the disk"};
  }
}

void AtomicFile::State::write_through(std::string_view bytes) {
  if (write_error != 0 || is_abandoned) return;
  const off_t begin = is_published() ? lseek(fd, 0, SEEK_CUR) : -1;
  while (!bytes.empty() && write_error == 0) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      write_error = errno;
  }
  // No half row where others may read already; a disk that cannot even do that has said enough.
  if (write_error != 0 && begin >= 0 && ftruncate(fd, begin) != 0) errno = write_error;
}

void AtomicFile::State::put(std::string_view bytes) {
  if (compressor)
    compressor->write(bytes);
  else
    write_through(bytes);
  check();
}

AtomicFile::AtomicFile(const std::string& path, bool compress) : state_(std::make_unique<State>()) {
  if (path.empty())
    throw InputError{"output", "the name of the file to write is empty",
                     "give a path, or - for standard output"};
  const std::size_t dot = path.rfind('.');
  const std::string suffix = dot == std::string::npos ? "" : path.substr(dot);
  const bool wants_compression = compress && without_compression(suffix).empty() && !suffix.empty();
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
  if (wants_compression)
    state_->compressor.emplace(
        path, suffix, [state = state_.get()](std::string_view bytes) { state->write_through(bytes); });
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
  if (state.compressor) {
    state.compressor->finish();
    state.check();
    state.compressor.reset();
  }
  // First the bytes on the disk, then the name: a power cut leaves the old file or the new one, never an
  // empty one. A pipe or a device has no such moment.
  const bool is_temporary = !state.temporary.empty();
  if (!state.target.empty() && !sync(state.fd)) state.cannot_write(errno);
  // Kept until the file has its name.
  const OpenFile locked{is_temporary ? fcntl(state.fd, F_DUPFD_CLOEXEC, 0) : -1};
  if (is_temporary && locked.fd < 0) fail(state.path, "cannot write", errno);
  // A full disk may be told only now (network file systems).
  const int fd = state.fd;
  state.fd = -1;
  if (fd >= 0 && close(fd) != 0 && errno != EINTR) state.cannot_write(errno);
  if (is_temporary) state.put_in_place();
}

void AtomicFile::publish() {
  State& state = *state_;
  state.flush();
  if (state.temporary.empty()) return;
  if (!sync(state.fd)) fail(state.path, "cannot write", errno);
  state.put_in_place();
}

}  // namespace copse
