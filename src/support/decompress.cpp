// SPDX-License-Identifier: Apache-2.0
#include "support/decompress.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "copse/support/error.hpp"

#ifdef COPSE_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

namespace copse {
namespace {

bool starts_with(std::span<const char> bytes, std::string_view magic, std::size_t from = 0) {
  return bytes.size() >= from + magic.size() &&
         std::memcmp(bytes.data() + from, magic.data(), magic.size()) == 0;
}

}  // namespace

bool is_compressed(std::span<const char> first) {
  using namespace std::string_view_literals;
  if (starts_with(first, "\x1f\x8b"sv) || starts_with(first, "\x28\xb5\x2f\xfd"sv)) return true;
  if (starts_with(first, "\xfd\x37zXZ\0"sv)) return true;
  // "BZh" could begin a text; the block magic behind it (or the end magic of an empty stream) could not.
  return starts_with(first, "BZh"sv) &&
         (starts_with(first, "1AY&SY"sv, 4) || starts_with(first, "\x17\x72\x45\x38\x50\x90"sv, 4));
}

#ifdef COPSE_WITH_LIBARCHIVE
namespace {

class ArchiveDecompressor final : public Decompressor {
 public:
  ArchiveDecompressor(const std::string& name, std::span<const char> whole) : name_(name), whole_(whole) {
    start();
  }
  ArchiveDecompressor(const std::string& name, std::vector<char> first, ReadBytes more)
      : name_(name), first_(std::move(first)), more_(std::move(more)), block_(kBlock) {
    whole_ = first_;
    start();
  }
  ~ArchiveDecompressor() override { archive_read_free(archive_); }

  std::size_t read(char* out, std::size_t size) override {
    while (!is_at_end_) {
      const la_ssize_t count = archive_read_data(archive_, out, size);
      rethrow_read_error();
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0) {
        is_at_end_ = true;
      } else if (count != ARCHIVE_RETRY) {
        damaged();
      }
    }
    return 0;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;

  // Only the four filters we name: with all of them libarchive would also unpack text that happens to
  // look like uuencode, or start another program.
  void start() {
    archive_ = archive_read_new();
    if (archive_ == nullptr) throw std::bad_alloc();
    archive_read_support_filter_gzip(archive_);
    archive_read_support_filter_zstd(archive_);
    archive_read_support_filter_xz(archive_);
    archive_read_support_filter_bzip2(archive_);
    archive_read_support_format_raw(archive_);
    archive_read_support_format_empty(archive_);
    archive_entry* entry = nullptr;
    try {
      int status = archive_read_open(archive_, this, nullptr, &ArchiveDecompressor::next_block, nullptr);
      rethrow_read_error();
      if (status == ARCHIVE_OK) status = archive_read_next_header(archive_, &entry);
      rethrow_read_error();
      // Too short even for its header: libarchive would hand out the compressed bytes as they are.
      if (archive_filter_code(archive_, 0) == ARCHIVE_FILTER_NONE) damaged();
      if (status == ARCHIVE_EOF) {
        is_at_end_ = true;
      } else if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
        damaged();
      }
    } catch (...) {
      archive_read_free(archive_);
      throw;
    }
  }

  // The bytes in memory first, then whatever `more_` gives. No exception may cross the C library.
  static la_ssize_t next_block(archive*, void* self_pointer, const void** block) {
    auto& self = *static_cast<ArchiveDecompressor*>(self_pointer);
    if (!self.whole_.empty()) {
      const std::span<const char> part = self.whole_.first(std::min(self.whole_.size(), kBlock));
      self.whole_ = self.whole_.subspan(part.size());
      *block = part.data();
      return static_cast<la_ssize_t>(part.size());
    }
    *block = self.block_.data();
    if (!self.more_) return 0;
    try {
      return static_cast<la_ssize_t>(self.more_(self.block_.data(), self.block_.size()));
    } catch (...) {
      self.read_error_ = std::current_exception();
      return -1;
    }
  }

  void rethrow_read_error() {
    if (read_error_) std::rethrow_exception(read_error_);
  }

  [[noreturn]] void damaged() const {
    const char* detail = archive_error_string(archive_);
    throw InputError{name_,
                     "the compressed file is cut short or damaged" +
                         (detail == nullptr ? std::string() : " (" + std::string(detail) + ")"),
                     "copy or download it again; gzip -t, zstd -t, xz -t or bzip2 -t will tell"};
  }

  std::string name_;
  std::vector<char> first_;
  std::span<const char> whole_;
  ReadBytes more_;
  std::vector<char> block_;
  archive* archive_ = nullptr;
  std::exception_ptr read_error_;
  bool is_at_end_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> decompress_memory(const std::string& name, std::span<const char> bytes) {
  return std::make_unique<ArchiveDecompressor>(name, bytes);
}

std::unique_ptr<Decompressor> decompress_stream(const std::string& name, std::vector<char> first,
                                                ReadBytes more) {
  return std::make_unique<ArchiveDecompressor>(name, std::move(first), std::move(more));
}

#else

std::unique_ptr<Decompressor> decompress_memory(const std::string& name, std::span<const char>) {
  throw InputError{
      name, "this file is compressed, and this copse was built without decompression",
      "decompress it first (gzip -d, zstd -d, xz -d, bzip2 -d), or build with -DCOPSE_COMPRESSION=ON"};
}

std::unique_ptr<Decompressor> decompress_stream(const std::string& name, std::vector<char>, ReadBytes) {
  return decompress_memory(name, {});
}

#endif

}  // namespace copse
