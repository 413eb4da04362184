// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "copse/graph/arc_array.hpp"

namespace copse {

/// What a section of a .copse file will hold: an array as it lies in memory, or an array of wide values,
/// which are narrowed a piece at a time as they are asked for.
class SectionBytes {
 public:
  SectionBytes() = default;
  template <class T>
  explicit SectionBytes(std::span<const T> values)
      : bytes_(reinterpret_cast<const char*>(values.data()), values.size_bytes()), size_(bytes_.size()) {}
  explicit SectionBytes(std::string_view bytes) : bytes_(bytes), size_(bytes.size()) {}
  template <class Narrow, class Wide>
  explicit SectionBytes(const ArcArray<Narrow, Wide>& values) : size_(values.size() * sizeof(Narrow)) {
    if (!values.is_wide()) {
      *this = SectionBytes(values.narrow());
      return;
    }
    narrow_ = [values](std::size_t first, std::span<char> out) {
      for (std::size_t i = 0; i < out.size() / sizeof(Narrow); ++i) {
        const Narrow value = values[first / sizeof(Narrow) + i];
        std::memcpy(&out[i * sizeof(Narrow)], &value, sizeof value);
      }
    };
  }

  std::size_t size() const { return size_; }
  /// Bytes [begin, end), whole values; in `room` if they had to be made.
  std::string_view piece(std::size_t begin, std::size_t end, std::vector<char>& room) const {
    if (!narrow_) return bytes_.substr(begin, end - begin);
    room.resize(end - begin);
    narrow_(begin, room);
    return {room.data(), room.size()};
  }

 private:
  std::string_view bytes_;
  std::size_t size_ = 0;
  std::function<void(std::size_t, std::span<char>)> narrow_;
};

}  // namespace copse
