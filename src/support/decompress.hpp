// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace copse {

/// The endings of names that ask for compression: gzip, Zstandard, xz, bzip2.
inline constexpr std::string_view kCompressions[] = {".gz", ".zst", ".xz", ".bz2"};

/// edges.tsv for edges.tsv.gz: the ending that tells the format.
inline std::string_view without_compression(std::string_view name) {
  for (const std::string_view ending : kCompressions)
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

/// Whether the first bytes of an input are those of gzip, Zstandard, xz or bzip2.
bool is_compressed(std::span<const char> first);

/// Decompressed bytes, in order.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Up to `size` bytes; 0 only at the end. Damaged and cut-off input throw InputError.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

/// Returns 0 at the end of the input.
using ReadBytes = std::function<std::size_t(char* out, std::size_t size)>;

/// Both throw InputError with a remedy when copse was built without libarchive. `bytes` is not copied.
std::unique_ptr<Decompressor> decompress_memory(const std::string& name, std::span<const char> bytes);
/// `first` are the bytes already taken from `more`.
std::unique_ptr<Decompressor> decompress_stream(const std::string& name, std::vector<char> first,
                                                ReadBytes more);
/// The same bytes, each block of them decompressed by another thread while the block before is used. For
/// input that never keeps anyone waiting: whoever throws it away waits for the block that is being made.
std::unique_ptr<Decompressor> decompress_ahead(std::unique_ptr<Decompressor> source);

}  // namespace copse
