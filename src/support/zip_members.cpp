// SPDX-License-Identifier: Apache-2.0
#include "support/zip_members.hpp"

#include <cstdint>
#include <memory>
#include <new>

#include "copse/support/error.hpp"

#ifdef COPSE_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace copse {

#ifdef COPSE_WITH_LIBARCHIVE

namespace {

// Deflate makes at most 1032 bytes of one. A size beyond that is a lie, told before it is allocated.
constexpr std::uint64_t kLargestRatio = 1032;
constexpr char kCopyAgain[] = "the file is cut short or damaged: copy or write it again";

struct CloseArchive {
  void operator()(struct archive* a) const { archive_read_free(a); }
};

}  // namespace

std::optional<Buffer<char>> read_zip_member(std::span<const char> archive, const std::string& name,
                                            const std::string& where) {
  const std::unique_ptr<struct archive, CloseArchive> reader(archive_read_new());
  if (reader == nullptr) throw std::bad_alloc();
  const auto damaged = [&](const std::string& what) {
    const char* text = archive_error_string(reader.get());
    return InputError{where, what + (text != nullptr ? std::string(": ") + text : ""), kCopyAgain};
  };
  // The reader that looks up the directory at the end, not the one that guesses from the front: it knows
  // every size before the bytes come.
  archive_read_support_format_zip_seekable(reader.get());
  if (archive_read_open_memory(reader.get(), archive.data(), archive.size()) != ARCHIVE_OK) {
    throw damaged("is not a readable zip archive");
  }
  for (;;) {
    struct archive_entry* entry = nullptr;
    const int result = archive_read_next_header(reader.get(), &entry);
    if (result == ARCHIVE_EOF) return std::nullopt;
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) throw damaged("is not a readable zip archive");
    const char* entry_name = archive_entry_pathname(entry);
    if (entry_name == nullptr || name != entry_name) continue;
    const std::int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<std::uint64_t>(size) > archive.size() * kLargestRatio) {
      throw InputError{where, "member " + quoted(name) + " claims more bytes than the archive can hold",
                       kCopyAgain};
    }
    Buffer<char> bytes(static_cast<std::size_t>(size));
    std::size_t have = 0;
    while (have < bytes.size()) {
      const la_ssize_t got = archive_read_data(reader.get(), bytes.data() + have, bytes.size() - have);
      if (got < 0) throw damaged("member " + quoted(name) + " cannot be read");
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    // Reading past the end makes libarchive compare the checksum.
    char past = 0;
    const la_ssize_t more = have == bytes.size() ? archive_read_data(reader.get(), &past, 1) : 0;
    if (more < 0) throw damaged("member " + quoted(name) + " cannot be read");
    if (have != bytes.size() || more != 0) {
      throw InputError{where, "member " + quoted(name) + " has not the length the archive states",
                       kCopyAgain};
    }
    return bytes;
  }
}

#else

std::optional<Buffer<char>> read_zip_member(std::span<const char>, const std::string&,
                                            const std::string& where) {
  throw UsageError{
      where, "this copse was built without zip support",
      "convert the matrix to an edge list or Matrix Market, or build with -DCOPSE_COMPRESSION=ON"};
}

#endif

}  // namespace copse
