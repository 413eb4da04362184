// SPDX-License-Identifier: Apache-2.0
//
// Preloaded by faults_test.py: makes one call of the program fail, as a bad disk, a lack of memory, a kill or
// a power cut would. COPSE_FAULT="CALL K WHAT" means the K-th CALL that touches a file being written (the
// temporary files of AtomicFile, and their directory):
//
//   CALL   open, write, fsync, close or rename; any: each of these; read: of an input file; alloc: memory,
//          after main() began
//   WHAT   a number: the call fails with that errno
//          short: write() takes half of its bytes
//          kill: SIGKILL instead of the call
//          old, new: the power is cut instead of the call
//          all: an allocation fails, and so do all that follow
//
// COPSE_SYNCED names a directory that gets a copy of every file as it was at its last fsync() or fdatasync(),
// under its path with % for /, and of every directory a list of the names in it: what a power cut leaves of
// them (serve_faults_test.py). COPSE_CLOCK names a file with seconds to add to the wall clock.
//
// COPSE_FAULT_FIRED names a file that is made when it happens. The power cut: a file keeps the bytes it had
// at its last fsync(); a rename whose directory was not synced since is undone (old) or not (new). K = 0 cuts
// at the end of main().

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

struct Tracked {
  int fd = -1;
  char path[PATH_MAX] = "";    // now
  char before[PATH_MAX] = "";  // a second name of what a rename has replaced
  off_t synced = 0;
  bool is_renamed = false, is_in_use = false;
};

Tracked files[8];
char wanted_call[16], what[16], fired[PATH_MAX], synced_directory[PATH_MAX], clock_file[PATH_MAX];
long wanted_count = -1;
std::atomic<long> num_calls{0};
std::atomic<bool> is_running{false};

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

Tracked* tracked(int fd) {
  for (Tracked& file : files)
    if (file.is_in_use && file.fd == fd) return &file;
  return nullptr;
}

void tell() {
  const long fd = syscall(SYS_openat, AT_FDCWD, fired, O_CREAT | O_WRONLY, 0600);
  if (fd >= 0) syscall(SYS_close, fd);
}

void cut_power() {
  const bool keeps_renames = strcmp(what, "new") == 0;
  for (Tracked& file : files) {
    if (!file.is_in_use) continue;
    if (!file.is_renamed || keeps_renames) {
      if (truncate(file.path, file.synced) != 0) perror("shim");
    } else if (file.before[0] != '\0') {
      syscall(SYS_rename, file.before, file.path);
    } else {
      unlink(file.path);
    }
  }
}

// Whether this call is the one. Then `what` has happened, unless it is for the caller to do.
bool strikes(const char* call) {
  if (wanted_count < 1 || !is_running) return false;
  const bool writes = strcmp(call, "alloc") != 0 && strcmp(call, "read") != 0;
  if (strcmp(wanted_call, call) != 0 && !(writes && strcmp(wanted_call, "any") == 0)) return false;
  const long count = ++num_calls;
  if (strcmp(what, "all") == 0 ? count < wanted_count : count != wanted_count) return false;
  tell();
  if (strcmp(what, "old") == 0 || strcmp(what, "new") == 0) cut_power();
  if (strcmp(what, "kill") == 0 || strcmp(what, "old") == 0 || strcmp(what, "new") == 0) raise(SIGKILL);
  errno = strcmp(what, "all") == 0 ? ENOMEM : atoi(what);
  return true;
}

void copy_bytes(int from, int to) {
  char bytes[1 << 16];
  ssize_t size = 0;
  for (off_t at = 0; (size = syscall(SYS_pread64, from, bytes, sizeof bytes, at)) > 0; at += size)
    if (syscall(SYS_write, to, bytes, size) != size) perror("shim");
}

void copy_names(const char* path, int to) {
  DIR* directory = opendir(path);
  while (const dirent* entry = directory == nullptr ? nullptr : readdir(directory))
    dprintf(to, "%s\n", entry->d_name);
  if (directory != nullptr) closedir(directory);
}

// The copy is renamed into its place before the caller hears that its bytes are safe.
void keep_synced(int fd, bool is_directory) {
  if (synced_directory[0] == '\0') return;
  char link[64], path[PATH_MAX] = "", copy[2 * PATH_MAX], half[2 * PATH_MAX + 16];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, path, sizeof path - 1) < 0) return;
  const int begin = snprintf(copy, sizeof copy, "%s/", synced_directory);
  snprintf(copy + begin, sizeof copy - static_cast<size_t>(begin), "%s", path);
  for (char* c = copy + begin; *c != '\0'; ++c)
    if (*c == '/') *c = '%';
  snprintf(half, sizeof half, "%s.%d", copy, fd);
  const int to = static_cast<int>(syscall(SYS_openat, AT_FDCWD, half, O_CREAT | O_WRONLY | O_TRUNC, 0600));
  if (is_directory)
    copy_names(path, to);
  else
    copy_bytes(fd, to);
  syscall(SYS_close, to);
  syscall(SYS_rename, half, copy);
}

bool is_temporary(const char* path) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash == nullptr ? path : slash + 1, ".copse-", 7) == 0;
}

int (*real_main)(int, char**, char**);

int main_between(int argc, char** argv, char** environment) {
  const char* text = getenv("COPSE_FAULT");
  if (text != nullptr) sscanf(text, "%15s %ld %15s", wanted_call, &wanted_count, what);
  if (const char* name = getenv("COPSE_FAULT_FIRED")) snprintf(fired, sizeof fired, "%s", name);
  if (const char* name = getenv("COPSE_SYNCED"))
    snprintf(synced_directory, sizeof synced_directory, "%s", name);
  if (const char* name = getenv("COPSE_CLOCK")) snprintf(clock_file, sizeof clock_file, "%s", name);
  is_running = true;
  const int code = real_main(argc, argv, environment);
  is_running = false;
  if (wanted_count == 0) cut_power();
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv, void (*init)(),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  real_main = program;
  return real<decltype(&__libc_start_main)>("__libc_start_main")(main_between, argc, argv, init, fini,
                                                                 rtld_fini, stack_end);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  const bool is_ours = is_temporary(path) && (flags & O_CREAT) != 0;
  if (is_ours && strikes("open")) return -1;
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (!is_ours || fd < 0) return fd;
  for (Tracked& file : files) {
    if (file.is_in_use) continue;
    file = {};
    file.is_in_use = true;
    file.fd = fd;
    snprintf(file.path, sizeof file.path, "%s", path);
    break;
  }
  return fd;
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (tracked(fd) != nullptr && strikes("write")) {
    if (strcmp(what, "short") != 0) return -1;
    size = (size + 1) / 2;
  }
  return syscall(SYS_write, fd, bytes, size);
}

// Files are read by nothing else, pipes by read().
ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  return strikes("read") ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}

int fsync(int fd) {
  struct stat facts {};
  fstat(fd, &facts);
  keep_synced(fd, S_ISDIR(facts.st_mode));
  Tracked* file = tracked(fd);
  if ((file != nullptr || S_ISDIR(facts.st_mode)) && strikes("fsync")) return -1;
  if (file != nullptr) file->synced = facts.st_size;
  for (Tracked& other : files) {
    if (!S_ISDIR(facts.st_mode) || !other.is_renamed) continue;
    if (other.before[0] != '\0') unlink(other.before);
    other.before[0] = '\0';
    other.is_renamed = false;
    other.is_in_use = other.fd >= 0;  // `online` goes on writing to it
  }
  return 0;  // nothing here outlasts the test: no need to wait for the disk
}

int fdatasync(int fd) {
  struct stat facts {};
  fstat(fd, &facts);
  keep_synced(fd, S_ISDIR(facts.st_mode));  // SQLite syncs directories so
  return 0;
}

int clock_gettime(clockid_t clock, timespec* now) {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (clock != CLOCK_REALTIME || clock_file[0] == '\0') return static_cast<int>(result);
  char text[32] = "";
  const int fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, clock_file, O_RDONLY));
  if (syscall(SYS_pread64, fd, text, sizeof text - 1, 0) > 0) now->tv_sec += atol(text);
  syscall(SYS_close, fd);
  return static_cast<int>(result);
}

int close(int fd) {
  Tracked* file = tracked(fd);
  const bool fails = file != nullptr && strikes("close");
  const int error = errno;
  if (file != nullptr) file->fd = -1;
  const long result = syscall(SYS_close, fd);
  if (!fails) return static_cast<int>(result);
  errno = error;
  return -1;
}

int rename(const char* from, const char* to) {
  if (!is_temporary(from)) return static_cast<int>(syscall(SYS_rename, from, to));
  if (strikes("rename")) return -1;
  for (Tracked& file : files) {
    if (!file.is_in_use || strcmp(file.path, from) != 0) continue;
    snprintf(file.path, sizeof file.path, "%s", to);
    if (strcmp(what, "old") == 0) snprintf(file.before, sizeof file.before, "%s.before", from);
    if (file.before[0] != '\0' && link(to, file.before) != 0) file.before[0] = '\0';
    file.is_renamed = true;
  }
  return static_cast<int>(syscall(SYS_rename, from, to));
}

int unlink(const char* path) {
  for (Tracked& file : files)
    if (file.is_in_use && !file.is_renamed && strcmp(file.path, path) == 0) file = {};
  return static_cast<int>(syscall(SYS_unlink, path));
}

// operator new ends here as well; copse's large arrays come from mmap().
void* malloc(size_t size) { return strikes("alloc") ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return strikes("alloc") ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return strikes("alloc") ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return strikes("alloc") ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (strikes("alloc")) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void* mmap(void* where, size_t size, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && strikes("alloc")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, where, size, protection, flags, fd, offset));
}

}  // extern "C"
