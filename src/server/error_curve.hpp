// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace copse::server {

/// Progressive validation: what was predicted of every node just before its label was told.
class ErrorCurve {
 public:
  struct Point {
    std::uint64_t seq, labels;
    double error, low, high;  // share of mistakes among the last 100, with Wilson's interval at 95 %
  };
  struct Stop {
    bool hint;
    std::string text;
  };
  static constexpr std::size_t kWindow = 100;

  void add(std::uint64_t seq, bool is_mistake) { trials_.push_back({seq, is_mistake}); }
  /// The label of that event was taken back: it is no trial any more.
  void remove(std::uint64_t seq);
  /// At most `most` points, the last one always.
  std::vector<Point> points(std::size_t most) const;
  /// Whether the error of the last 100 is no lower than that of the 100 before.
  Stop stop() const;

 private:
  /// Mistakes among the last 100 before the trial `end`.
  std::size_t mistakes_before(std::size_t end) const;
  struct Trial {
    std::uint64_t seq;
    bool is_mistake;
  };
  std::vector<Trial> trials_;  // ascending by seq
};

}  // namespace copse::server
