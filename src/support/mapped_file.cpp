// SPDX-License-Identifier: Apache-2.0
#include "support/mapped_file.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "support/atomic_file.hpp"
#include "support/byte_source.hpp"

namespace copse {
namespace {

// The mapped files, where a signal handler can read them.
struct Range {
  std::atomic<bool> is_taken{false};
  std::atomic<std::uintptr_t> begin{0}, end{0};  // both 0 while it is none
  std::atomic<const char*> name{nullptr};
};
std::array<Range, 256> ranges;

std::atomic<int> exit_code{-1};
std::atomic<bool> is_told{false};
struct sigaction previous;

void say(const char* text) {
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text, std::strlen(text));
}

void tell_and_maybe_exit(const char* name) {
  const bool is_first = !is_told.exchange(true);
  if (is_first) {
    say(name);
    say(": the file was cut short, or its disk failed, while it was in use\n"
        "  run again with the whole file; to replace a file that is in use, rename another one to its name "
        "(mv)\n");
  }
  if (exit_code < 0) return;
  while (!is_first) pause();  // another thread is at it
  remove_unfinished_files();
  _exit(exit_code);
}

extern "C" void on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const bool is_fault = info->si_code > 0;  // not sent by a process
  for (const Range& range : ranges)
    if (is_fault && address >= range.begin && address < range.end) tell_and_maybe_exit(range.name);
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  // Back to the default: the access is repeated, and ends the process as it would have without us.
  sigaction(signal, &previous, nullptr);
  if (!is_fault) raise(signal);
}

void catch_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGBUS, &action, &previous);
  });
}

}  // namespace

void exit_when_a_file_in_use_is_cut(int code) { exit_code = code; }

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  for (Range& range : ranges) {
    if (range.begin != begin) continue;
    range.begin = range.end = 0;
    range.is_taken = false;
  }
  munmap(data_, size_);
}

bool MappedFile::open(int fd, std::size_t size, const std::string& name) {
  catch_bus_errors();
  for (Range& range : ranges) {
    if (range.is_taken.exchange(true)) continue;
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      range.is_taken = false;
      return false;
    }
    madvise(data, size, MADV_SEQUENTIAL);
    data_ = static_cast<char*>(data);
    size_ = size;
    range.name = name.c_str();
    range.end = reinterpret_cast<std::uintptr_t>(data) + size;
    range.begin = reinterpret_cast<std::uintptr_t>(data);
    return true;
  }
  return false;
}

}  // namespace copse
