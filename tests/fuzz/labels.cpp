// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "copse/io/read_labels.hpp"
#include "fuzz.hpp"

namespace {

// Labels are read from a path: a file in memory has one.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : fd_(memfd_create("labels", 0)) {
    if (fd_ < 0 || write(fd_, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
  }
  ~MemoryFile() { close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace copse;
  static const std::string kText = "abanna bo";
  static const std::uint64_t kEnds[] = {1, 2, 6, 9};  // a, b, anna, " bo"
  const MemoryFile file(data, size);
  const NodeNames numbers = NodeNames::numbered(20), words = NodeNames::strings(kEnds, kText, nullptr);
  for (const NodeNames* names : {&numbers, &words}) {
    try {
      const Labels labels = read_labels(file.path(), *names);
      if (labels.of_node.size() != names->size()) __builtin_trap();
      for (const Label label : labels.of_node) {
        if (label != kNoLabel && label >= labels.classes.size()) __builtin_trap();
      }
    } catch (const Error&) {
    }
    try {
      const MultiLabels labels = read_multi_labels(file.path(), *names);
      if (labels.set_of_node.size() != names->size()) __builtin_trap();
      for (const Label set : labels.set_of_node) {
        if (set != kNoLabel && set >= labels.sets.size()) __builtin_trap();
      }
    } catch (const Error&) {
    }
  }
  return 0;
}
