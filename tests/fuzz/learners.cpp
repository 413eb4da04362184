// SPDX-License-Identifier: Apache-2.0
// Every learner and every query strategy, with every option, on tiny graphs of any weights. The bytes are:
// what to run, with which options, the number of nodes, a seed, how weights are told; then a node's label
// each, then edges of two ends and a weight.

#include <bit>
#include <cmath>
#include <cstdio>

#include "fuzz.hpp"
#include "oracle/promises.hpp"
#include "oracle/solved.hpp"

namespace {

using namespace copse;

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}
  bool any() const { return next_ != end_; }
  std::uint32_t byte() { return any() ? *next_++ : 0; }
  std::uint32_t word() {
    const std::uint32_t high = byte() << 8;
    return high | byte();
  }

 private:
  const std::uint8_t *next_, *end_;
};

constexpr NodeId kMostNodes = 9;
constexpr Label kClasses = 3;

void expect(const std::string& fault, const std::string& what) {
  if (fault.empty()) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), fault.c_str());
  __builtin_trap();
}

/// One power of two changes no answer: whatever a learner stores in float or compares by a threshold.
std::string scaling_fault(const LearnerRow& row, const OptionValues& options, const GraphView& one,
                          const GraphView& other, std::span<const Label> labels, const Execution& execution) {
  const BatchResult a = row.fit(one, labels, kClasses, options, execution),
                    b = row.fit(other, labels, kClasses, options, execution);
  for (NodeId u = 0; u < labels.size(); ++u) {
    const Prediction p = a.predictor->predict(u), q = b.predictor->predict(u);
    if (p.label != q.label || std::fabs(p.confidence - q.confidence) > 1e-6)
      return "node " + std::to_string(u) + " has another answer once weights are scaled";
  }
  return "";
}

/// label_propagation against the dense twin, whose weights are those before scaling.
std::string harmonic_fault(const GraphView& one, const GraphView& other, const std::vector<Label>& labels) {
  const auto slow = oracle::harmonic(one, labels, kClasses);
  const BatchResult fast =
      learner_row("label_propagation").fit(other, labels, kClasses, {{"shift", "none"}}, {});
  std::vector<double> scores(kClasses);
  for (NodeId u = 0; u < labels.size(); ++u) {
    if (!slow.reached[u]) continue;
    fast.predictor->scores(u, scores);
    for (std::size_t c = 0; c < kClasses; ++c)
      if (!(std::fabs(scores[c] - slow.scores(u, c)) <= 1e-6)) return "node " + std::to_string(u);
  }
  return "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const std::uint32_t which = bytes.byte(), option = bytes.byte();
  const NodeId n = 2 + bytes.byte() % (kMostNodes - 1);
  const Execution execution{.seed = bytes.byte()};
  const std::uint32_t mode = bytes.byte();
  const bool is_raw = mode % 2 != 0;  // weights of any bits, or of 8 digits times one power of two
  const bool is_signed = mode / 2 % 4 == 0;
  const int shift = static_cast<int>(bytes.byte()) - 140;
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels) {
    const std::uint32_t byte = bytes.byte();
    if (byte % 2 != 0) label = static_cast<Label>(byte / 2 % (is_signed ? 2 : kClasses));
  }
  if (std::ranges::all_of(labels, [](Label label) { return label == kNoLabel; })) labels[0] = 0;
  std::vector<Edge> plain, scaled;
  while (bytes.any() && plain.size() < 24) {
    const std::uint32_t ends = bytes.byte();
    const NodeId u = ends % 16 % n, v = ends / 16 % n;
    const std::uint32_t high = bytes.word();
    const std::uint32_t bits = high << 16 | (is_raw ? bytes.word() : 0);
    const bool is_negative = is_signed && bits >> 31 != 0;
    Weight one = static_cast<Weight>(1 + high % 255), other = std::ldexp(one, std::min(shift, 110));
    if (is_raw) one = other = std::bit_cast<Weight>(std::min(bits & 0x7FFFFFFF, 0x7F7FFFFFU));
    if (u == v || !(other > 0)) continue;
    plain.push_back({u, v, is_negative ? -one : one});
    scaled.push_back({u, v, is_negative ? -other : other});
  }
  try {
    const auto build = is_signed ? graph_from_signed_edges : graph_from_edges;
    const Graph one = build(n, plain), other = build(n, scaled);
    const std::size_t num_learners = learner_rows().size(), num_rows = num_learners + query_rows().size();
    if (which % num_rows >= num_learners) {
      const QueryRow& row = query_rows()[which % num_rows - num_learners];
      const auto sets = oracle::option_sets(row.options);
      for (Label& label : labels)
        if (label == kNoLabel) label = 0;
      const OptionValues options = oracle::with_quick_trees(row.options, sets[option % sets.size()], other);
      if (!is_signed || row.signed_graphs)
        expect(oracle::query_fault(row, options, other, labels, execution), row.name);
      return 0;
    }
    const LearnerRow& row = learner_rows()[which % num_learners];
    if (is_signed && !row.signed_graphs) return 0;
    const auto sets = oracle::option_sets(row.options);
    const OptionValues options = oracle::with_quick_trees(row.options, sets[option % sets.size()], other);
    const std::string what = row.name + oracle::text_of(options);
    expect(oracle::learner_fault(row, options, other, labels, is_signed ? 2 : kClasses, execution), what);
    if (is_raw || is_signed) return 0;
    expect(scaling_fault(row, options, one, other, labels, execution), what);
    if (row.name == "label_propagation") expect(harmonic_fault(one, other, labels), "harmonic");
  } catch (const Error&) {  // weights of parallel edges whose sum is no float
  }
  return 0;
}
