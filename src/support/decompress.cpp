// SPDX-License-Identifier: Apache-2.0
#include "support/decompress.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <future>
#include <new>
#include <string_view>
#include <system_error>

#include "copse/support/error.hpp"

#ifdef COPSE_WITH_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>
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

constexpr std::size_t kBlock = std::size_t{1} << 18;

[[noreturn]] void damaged(const std::string& name, const char* detail) {
  throw InputError{name,
                   "the compressed file is cut short or damaged" +
                       (detail == nullptr ? std::string() : " (" + std::string(detail) + ")"),
                   "copy or download it again; gzip -t, zstd -t, xz -t or bzip2 -t will tell"};
}

constexpr char kMoreBehind[] = "something else follows the compressed data";

/// Compressed bytes: those in memory first, then whatever `more` gives.
struct CompressedBytes {
  std::vector<char> first;
  std::span<const char> whole;
  ReadBytes more;
  std::vector<char> block;

  /// The next ones, none at the end.
  std::span<const char> next() {
    if (!whole.empty()) {
      const std::span<const char> part = whole.first(std::min(whole.size(), kBlock));
      whole = whole.subspan(part.size());
      return part;
    }
    if (!more) return {};
    block.resize(kBlock);
    return std::span<const char>(block).first(more(block.data(), block.size()));
  }
};

/// Zstandard, xz and bzip2.
class ArchiveDecompressor final : public Decompressor {
 public:
  ArchiveDecompressor(const std::string& name, CompressedBytes bytes)
      : name_(name), bytes_(std::move(bytes)) {
    start();
  }
  ~ArchiveDecompressor() override { archive_read_free(archive_); }

  std::size_t read(char* out, std::size_t size) override {
    while (!is_at_end_) {
      const la_ssize_t count = archive_read_data(archive_, out, size);
      rethrow_read_error();
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0) {
        end();
      } else if (count != ARCHIVE_RETRY) {
        damaged(name_, archive_error_string(archive_));
      }
    }
    return 0;
  }

 private:
  // Only the filters we name: with all of them libarchive would also unpack text that happens to look like
  // uuencode, or start another program.
  void start() {
    archive_ = archive_read_new();
    if (archive_ == nullptr) throw std::bad_alloc();
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
      const bool is_known = archive_filter_code(archive_, 0) != ARCHIVE_FILTER_NONE;
      if (is_known && status == ARCHIVE_EOF) {
        end();
      } else if (!is_known || (status != ARCHIVE_OK && status != ARCHIVE_WARN)) {
        damaged(name_, archive_error_string(archive_));
      }
    } catch (...) {
      archive_read_free(archive_);
      throw;
    }
  }

  // Behind the last stream of bzip2 libarchive looks at nothing.
  void end() {
    is_at_end_ = true;
    if (archive_filter_bytes(archive_, -1) != num_given_) damaged(name_, kMoreBehind);
  }

  // No exception may cross the C library.
  static la_ssize_t next_block(archive*, void* self_pointer, const void** block) {
    auto& self = *static_cast<ArchiveDecompressor*>(self_pointer);
    try {
      const std::span<const char> part = self.bytes_.next();
      *block = part.data();
      self.num_given_ += static_cast<std::int64_t>(part.size());
      return static_cast<la_ssize_t>(part.size());
    } catch (...) {
      self.read_error_ = std::current_exception();
      return -1;
    }
  }

  void rethrow_read_error() {
    if (read_error_) std::rethrow_exception(read_error_);
  }

  std::string name_;
  CompressedBytes bytes_;
  std::int64_t num_given_ = 0;
  archive* archive_ = nullptr;
  std::exception_ptr read_error_;
  bool is_at_end_ = false;
};

/// gzip, by zlib: libarchive does not compare the checksum and the length that end every member.
class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor(const std::string& name, CompressedBytes bytes) : name_(name), bytes_(std::move(bytes)) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  std::size_t read(char* out, std::size_t size) override {
    const auto wanted = static_cast<uInt>(std::min<std::size_t>(size, std::size_t{1} << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = wanted;
    while (!is_at_end_ && stream_.avail_out == wanted) {
      if (!refill()) damaged(name_, "it ends in the middle");
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status != Z_OK) {
        damaged(name_, stream_.msg);
      }
    }
    return wanted - stream_.avail_out;
  }

 private:
  // Whether there are bytes to look at.
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const std::span<const char> part = bytes_.next();
    stream_.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    return !part.empty();
  }

  // Members follow one another; zeros may fill up the last block, as on a tape.
  void next_member() {
    for (; refill() && *stream_.next_in == 0; ++stream_.next_in) --stream_.avail_in;
    is_at_end_ = !refill();
    if (is_at_end_) return;
    if (*stream_.next_in != 0x1f) damaged(name_, kMoreBehind);
    inflateReset(&stream_);
  }

  std::string name_;
  CompressedBytes bytes_;
  z_stream stream_{};
  bool is_at_end_ = false;
};

std::unique_ptr<Decompressor> decompress(const std::string& name, std::span<const char> first,
                                         CompressedBytes bytes) {
  if (starts_with(first, "\x1f\x8b")) return std::make_unique<GzipDecompressor>(name, std::move(bytes));
  return std::make_unique<ArchiveDecompressor>(name, std::move(bytes));
}

}  // namespace

std::unique_ptr<Decompressor> decompress_memory(const std::string& name, std::span<const char> bytes) {
  return decompress(name, bytes, {.whole = bytes});
}

std::unique_ptr<Decompressor> decompress_stream(const std::string& name, std::vector<char> first,
                                                ReadBytes more) {
  CompressedBytes bytes{.first = std::move(first), .more = std::move(more)};
  bytes.whole = bytes.first;  // a vector keeps its place when it is moved
  const std::span<const char> start = bytes.whole;
  return decompress(name, start, std::move(bytes));
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

namespace {

class DecompressorAhead final : public Decompressor {
 public:
  explicit DecompressorAhead(std::unique_ptr<Decompressor> source) : source_(std::move(source)) {
    begin_next();
  }

  std::size_t read(char* out, std::size_t size) override {
    if (place_ == block_.size()) {
      if (!next_.valid()) return 0;
      block_ = next_.get();
      place_ = 0;
      if (!block_.empty()) begin_next();
    }
    size = std::min(size, block_.size() - place_);
    std::copy_n(block_.data() + place_, size, out);
    place_ += size;
    return size;
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 22;

  void begin_next() {
    const auto make = [this] {
      std::vector<char> block(kBlock);
      std::size_t size = 0;
      for (std::size_t count = 1; count != 0 && size < kBlock; size += count)
        count = source_->read(block.data() + size, kBlock - size);
      block.resize(size);
      return block;
    };
    try {
      next_ = std::async(std::launch::async, make);
    } catch (const std::system_error&) {  // no room for another thread
      next_ = std::async(std::launch::deferred, make);
    }
  }

  std::unique_ptr<Decompressor> source_;
  std::vector<char> block_;
  std::size_t place_ = 0;
  std::future<std::vector<char>> next_;  // gone first: its thread uses the source
};

}  // namespace

std::unique_ptr<Decompressor> decompress_ahead(std::unique_ptr<Decompressor> source) {
  return std::make_unique<DecompressorAhead>(std::move(source));
}

}  // namespace copse
