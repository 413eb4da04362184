// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/auto.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "copse/learners/registry.hpp"
#include "copse/support/parallel.hpp"
#include "learners/harmonic_reasons.hpp"
#include "learners/leave_one_out.hpp"
#include "learners/pool_weights.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

/// How a member's raw scores enter the exponent of a probability.
enum class Feature {
  log_share,   // scores that are shares: their logarithm, mixed with a little of the classes' own shares
  margin,      // scores that are nearly flat: the distance from their mean in units of a typical one
  regression,  // regression of 0 and 1: four times the score
};

struct Member {
  const char* name;
  Feature feature;
  double weight_few, weight_many;  // before labels have a say: with few labels per class, and with many
};

// What the weights are drawn to was measured (docs/learners/auto.md): a regression on many coordinates needs
// some labels before it says anything, a kernel with a ridge does best on the fewest.
constexpr Member kMembers[] = {
    {"label_propagation", Feature::log_share, 0.4, 0.25},
    {"kernel_ridge", Feature::margin, 0.4, 0.25},
    {"embedding", Feature::regression, 0.5, 0.25},
    {"wta", Feature::log_share, 0.1, 0.25},
};
constexpr double kManyPerClass = 10;
/// With hardly a label per class the kernel with its ridge is better alone than in any company.
constexpr double kFewPerClass = 1.5;
constexpr double kPriorShare = 0.03;
constexpr double kRegressionScale = 4;
/// With fewer labels the weights are held back more: rho = max(1, kTrusted / labels).
constexpr double kTrusted = 100;
/// Labels left out that tell how sure all members together are, and how strongly that is held back.
constexpr std::size_t kFewestToScale = 10;
constexpr double kScaleRho = 0.2;
/// Logistic regression learns nothing from more: it has one unknown per member and class.
constexpr std::size_t kMostRows = 4'000;
constexpr std::uint64_t kEmbeddedBytes = 4 * 128;  // per node, of the embedding once it is made
/// Nodes and arcs up to which a spectral embedding, or a solve, is worth its time and memory.
constexpr std::uint64_t kMostEmbeddedNodes = 4'000'000, kMostSolvedArcs = 100'000'000;

OptionValues options_of(const Member& member, const AutoOptions& options) {
  if (member.name == std::string("wta")) return {{"num_trees", std::to_string(options.num_trees)}};
  return {};
}

/// A batch fit of one member, of whatever labels.
using Fit = std::function<BatchResult(const std::vector<Label>&)>;

/// Instead of one label at a time, a third of every class: for a member that cannot say what it would answer
/// without a label. Its answers are those of two labels in three, a little worse than of all but one.
LeaveOneOut leave_folds_out(const Fit& fit, const LabelledClasses& classes,
                            const std::vector<Label>& labels) {
  constexpr NodeId kFolds = 3;
  std::vector<NodeId> num_before(classes.count()), fold_of;
  for (const NodeId node : classes.labelled())
    fold_of.push_back(num_before[classes.column(labels[node])]++ % kFolds);
  std::vector<std::vector<double>> rows(classes.labelled().size());
  for (NodeId fold = 0; fold < kFolds; ++fold) {
    std::vector<Label> others = labels;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (fold_of[i] == fold) others[classes.labelled()[i]] = kNoLabel;
    const BatchResult result = fit(others);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const NodeId node = classes.labelled()[i];
      if (fold_of[i] != fold || !result.predictor->predict(node).reached) continue;
      rows[i].resize(result.predictor->num_classes());
      result.predictor->raw_scores(node, rows[i]);
    }
  }
  LeaveOneOut left_out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].empty()) continue;
    left_out.nodes.push_back(classes.labelled()[i]);
    left_out.raw_scores.insert(left_out.raw_scores.end(), rows[i].begin(), rows[i].end());
  }
  return left_out;
}

/// One member, fitted, and how its scores are read.
class FittedMember {
 public:
  FittedMember(const Member& member, const Fit& fit, const LabelledClasses& classes,
               const std::vector<Label>& labels, const Execution& execution)
      : member_(member), result_(fit(labels)) {
    std::optional<LeaveOneOut> left_out = result_.predictor->leave_one_out(execution);
    left_out_ = left_out ? std::move(*left_out) : leave_folds_out(fit, classes, labels);
  }

  const Member& member() const { return member_; }
  const BatchResult& result() const { return result_; }
  const LeaveOneOut& left_out() const { return left_out_; }

  /// Of every node that a label reaches, by the classes that occur.
  void measure(const ScoreTable& table, const Execution& execution) {
    if (member_.feature != Feature::margin) return;
    struct Sum {
      double margins = 0, count = 0;
    };
    const Sum sum = deterministic_reduce(
        execution, table.components.of_node.size(), Sum{},
        [&](std::size_t begin, std::size_t end) {
          Sum part;
          std::vector<double> raw(result_.predictor->num_classes());
          for (std::size_t node = begin; node < end; ++node) {
            if (!table.is_reached(static_cast<NodeId>(node))) continue;
            result_.predictor->raw_scores(static_cast<NodeId>(node), raw);
            part.margins += largest_margin(raw, table.classes);
            part.count += 1;
          }
          return part;
        },
        [](const Sum& a, const Sum& b) {
          return Sum{a.margins + b.margins, a.count + b.count};
        });
    if (sum.margins > 0) unit_ = sum.count / sum.margins;
  }

  /// `is_barred` of the classes that occur: those that cannot be here.
  void ask(NodeId node, const LabelledClasses& classes, const std::vector<char>& is_barred,
           std::span<double> scores) const {
    result_.predictor->raw_scores(node, scores);
    if (member_.feature != Feature::margin) return;
    double least = 0;
    for (const Label c : classes.classes()) least = std::min(least, scores[c]);
    for (std::size_t c = 0; c < classes.count(); ++c)
      if (is_barred[c] != 0) scores[classes.classes()[c]] = least - 1 / unit_;
  }

  /// `raw` has a score for every class, `features` a place for every class that occurs.
  void features(std::span<const double> raw, const LabelledClasses& classes, std::span<const double> shares,
                double* features) const {
    const std::size_t k = classes.count();
    double total = 0, mean = 0;
    for (const Label c : classes.classes()) {
      total += std::max(raw[c], 0.0);
      mean += raw[c] / static_cast<double>(k);
    }
    for (std::size_t i = 0; i < k; ++i) {
      const double score = raw[classes.classes()[i]];
      if (member_.feature == Feature::regression) features[i] = kRegressionScale * score;
      if (member_.feature == Feature::margin) features[i] = unit_ * (score - mean);
      if (member_.feature != Feature::log_share) continue;
      const double share = total > 0 ? std::max(score, 0.0) / total : shares[i];
      features[i] = logarithm_of((1 - kPriorShare) * share + kPriorShare * shares[i]);
    }
  }

 private:
  static double largest_margin(std::span<const double> raw, const LabelledClasses& classes) {
    double mean = 0, most = 0;
    for (const Label c : classes.classes()) mean += raw[c] / static_cast<double>(classes.count());
    for (const Label c : classes.classes()) most = std::max(most, std::fabs(raw[c] - mean));
    return most;
  }

  Member member_;
  BatchResult result_;
  LeaveOneOut left_out_;
  double unit_ = 1;
};

/// The members, and what labels say of them.
class Pool {
 public:
  Pool(const GraphView& graph, const std::vector<Label>& labels, std::size_t num_classes,
       const AutoOptions& options, const Execution& execution, ScoreTable& table)
      : labels_(labels), execution_(execution), table_(table), num_of_class_(table.classes.count()) {
    for (const NodeId node : classes().labelled()) ++num_of_class_[classes().column(labels[node])];
    for (const NodeId count : num_of_class_)
      shares_.push_back((count + 1.0) / static_cast<double>(classes().labelled().size() + classes().count()));
    unseen_ = share_unseen();
    find_complete();
    const ProblemSize size = ProblemSize::of(graph, num_classes, execution.threads);
    for (const Member& member : kMembers) {
      if (!fits_in_pool(member.name, size, classes().labelled().size())) continue;
      const auto fit = [&](const std::vector<Label>& known) {
        return learner_row(member.name)
            .fit(graph, known, num_classes, options_of(member, options), execution);
      };
      members_.emplace_back(member, fit, classes(), labels, execution);
      members_.back().measure(table, execution);
    }
    weigh_members();
  }

  /// Labels chosen class by class, as many of each as there are, say nothing of how frequent the classes are.
  bool are_sampled() const {
    const auto alike = std::ranges::count(num_of_class_, std::ranges::max(num_of_class_));
    return alike < 2 || 2 * static_cast<std::size_t>(alike) < num_of_class_.size();
  }

  /// Probabilities of all nodes into the table.
  void fill() {
    const std::size_t k = classes().count();
    table_.values = Buffer<double>(table_.components.of_node.size() * k);
    parallel_blocks(execution_, table_.components.of_node.size(), std::size_t{1} << 12,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      std::vector<double> raw(num_classes()), features(members_.size() * k);
                      std::vector<char> is_barred(k);
                      for (auto node = static_cast<NodeId>(begin); node < end; ++node) {
                        if (!table_.is_reached(node)) continue;
                        for (std::size_t c = 0; c < k; ++c)
                          is_barred[c] =
                              is_complete_[c] && !classes().occurs(table_.components.of_node[node], c);
                        for (std::size_t m = 0; m < members_.size(); ++m) {
                          members_[m].ask(node, classes(), is_barred, raw);
                          members_[m].features(raw, classes(), shares_, &features[m * k]);
                        }
                        probabilities(features, {table_.row(node), k});
                      }
                    });
  }

  /// The shares of the classes at nodes that no label reaches. Those labelled nodes that no other label
  /// reaches are a sample of them, if the labels are a sample at all: isolated nodes are seldom like others.
  std::vector<double> unreached() const {
    if (!are_sampled()) return {};
    const std::size_t k = classes().count();
    std::vector<double> shares(k);
    double num_alone = 0;
    for (const NodeId node : classes().labelled()) {
      if (classes().num_labelled(table_.components.of_node[node]) > 1) continue;
      ++shares[classes().column(labels_[node])];
      ++num_alone;
    }
    if (num_alone == 0) return {};
    // As many more labels as there are classes, by the shares of all labels: a few say little.
    const auto num_classes = static_cast<double>(k);
    for (std::size_t c = 0; c < k; ++c)
      shares[c] =
          (shares[c] + num_classes * num_of_class_[c] / static_cast<double>(classes().labelled().size())) /
          (num_alone + num_classes);
    return shares;
  }

  /// The probabilities of labelled nodes without their own label.
  LeaveOneOut left_out() const {
    const std::size_t k = classes().count();
    const Rows rows = rows_of_all_members();
    LeaveOneOut result{rows.nodes, std::vector<double>(rows.nodes.size() * num_classes()), true};
    std::vector<double> p(k);
    for (std::size_t i = 0; i < rows.nodes.size(); ++i) {
      probabilities({&rows.features[i * members_.size() * k], members_.size() * k}, p);
      for (std::size_t c = 0; c < k; ++c)
        result.raw_scores[i * num_classes() + classes().classes()[c]] = p[c];
    }
    return result;
  }

 private:
  struct Rows {
    std::vector<NodeId> nodes;
    std::vector<double> features;  // members x classes each
  };

  /// A node of a class that nobody has named is of each known one as likely as of any other.
  void probabilities(std::span<const double> features, std::span<double> p) const {
    weights_.probabilities(features, p);
    for (double& one : p) one += unseen_ * (1 / static_cast<double>(p.size()) - one);
  }

  const LabelledClasses& classes() const { return table_.classes; }
  std::size_t num_classes() const { return members_.front().result().predictor->num_classes(); }

  /// Nodes that every member has a row for: one whose label is the only one of its component has none.
  Rows rows_of_all_members() const {
    Rows rows;
    const std::size_t k = classes().count();
    std::vector<std::size_t> at(members_.size());
    for (std::size_t i = 0; i < members_.front().left_out().nodes.size(); ++i) {
      const NodeId node = members_.front().left_out().nodes[i];
      bool is_in_all = true;
      for (std::size_t m = 0; m < members_.size(); ++m) {
        const std::vector<NodeId>& nodes = members_[m].left_out().nodes;
        at[m] = static_cast<std::size_t>(std::ranges::lower_bound(nodes, node) - nodes.begin());
        is_in_all &= at[m] < nodes.size() && nodes[at[m]] == node;
      }
      if (!is_in_all) continue;
      rows.nodes.push_back(node);
      rows.features.resize(rows.nodes.size() * members_.size() * k);
      for (std::size_t m = 0; m < members_.size(); ++m)
        members_[m].features(
            std::span(members_[m].left_out().raw_scores).subspan(at[m] * num_classes(), num_classes()),
            classes(), shares_, &rows.features[((rows.nodes.size() - 1) * members_.size() + m) * k]);
    }
    return rows;
  }

  /// Those that the weights are fitted to: a class with one label has none left when that one is left out.
  void keep_telling(Rows& rows) const {
    const std::size_t width = members_.size() * classes().count();
    std::vector<std::size_t> telling;
    for (std::size_t i = 0; i < rows.nodes.size(); ++i)
      if (num_of_class_[classes().column(labels_[rows.nodes[i]])] > 1) telling.push_back(i);
    const std::size_t count = std::min(telling.size(), kMostRows);
    for (std::size_t i = 0; i < count; ++i) {  // every so manieth where they are too many
      const std::size_t from = telling[i * telling.size() / count];
      rows.nodes[i] = rows.nodes[from];
      std::copy_n(&rows.features[from * width], width, &rows.features[i * width]);
    }
    rows.nodes.resize(count);
    rows.features.resize(count * width);
  }

  /// The share of nodes whose class no label has: that of the labels which are alone in theirs (Good 1953).
  double share_unseen() const {
    if (!are_sampled()) return 0;
    return static_cast<double>(std::ranges::count(num_of_class_, NodeId{1})) /
           static_cast<double>(classes().labelled().size());
  }

  /// A component that lacks labels of a class has none of its nodes where other components, which have some,
  /// can hold the class's share of all nodes, or half of it: a label on an island says nothing of the
  /// mainland.
  void find_complete() {
    const Components& components = table_.components;
    std::vector<double> room(classes().count());
    double total = 0;
    for (NodeId component = 0; component < components.sizes.size(); ++component) {
      if (!classes().is_reached(component)) continue;
      total += components.sizes[component];
      for (std::size_t c = 0; c < room.size(); ++c)
        if (classes().occurs(component, c)) room[c] += components.sizes[component];
    }
    for (std::size_t c = 0; c < room.size(); ++c) is_complete_.push_back(room[c] >= shares_[c] * total / 2);
  }

  double start_of(const Member& member, double per_class) const {
    const bool is_ridge = member.feature == Feature::margin;
    const bool has_ridge = std::ranges::any_of(
        members_, [](const FittedMember& one) { return one.member().feature == Feature::margin; });
    if (members_.size() == 1) return 1;
    // Alone, it gives the best class of a typical node odds of e : 1 against all others together.
    if (per_class <= kFewPerClass && is_ridge)
      return 1 + logarithm_of(std::max<double>(2, static_cast<double>(classes().count())) - 1);
    if (per_class <= kFewPerClass && has_ridge) return 0;
    return per_class >= kManyPerClass ? member.weight_many : member.weight_few;
  }

  void weigh_members() {
    const std::size_t k = classes().count(), num_labels = classes().labelled().size();
    PoolPrior prior;
    const double per_class = static_cast<double>(num_labels) / static_cast<double>(k);
    for (const FittedMember& member : members_) prior.start.push_back(start_of(member.member(), per_class));
    prior.rho = std::max(1.0, kTrusted / static_cast<double>(num_labels));
    prior.with_biases = are_sampled();
    weights_ = {prior.start, std::vector<double>(k)};
    Rows rows = rows_of_all_members();
    keep_telling(rows);
    std::vector<Label> columns;
    for (const NodeId node : rows.nodes)
      columns.push_back(static_cast<Label>(classes().column(labels_[node])));
    if (k > 1 && rows.nodes.size() >= 2 * k) weights_ = fit_pool(rows.features, columns, k, prior);
    if (k > 1 && rows.nodes.size() < 2 * k && rows.nodes.size() >= kFewestToScale) {
      const double scale = fitted_scale(rows.features, columns, k);
      for (double& weight : weights_.weights) weight *= scale;
    }
    describe(rows.nodes.size() >= 2 * k ? rows.nodes.size() : 0);
  }

  /// Too few rows to weigh members may still tell how sure they are all together: one number.
  double fitted_scale(std::span<const double> features, std::span<const Label> columns, std::size_t k) const {
    const std::size_t members = members_.size();
    std::vector<double> sums(columns.size() * k);
    for (std::size_t i = 0; i < sums.size(); ++i)
      for (std::size_t m = 0; m < members; ++m)
        sums[i] += weights_.weights[m] * features[(i / k * members + m) * k + i % k];
    return fit_pool(sums, columns, k, {{1}, kScaleRho, 2, false}).weights[0];
  }

  void describe(std::size_t num_rows) const {
    std::string text;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      char weight[32];
      std::snprintf(weight, sizeof weight, " %.2f", weights_.weights[m]);
      text += (m == 0 ? "weighs " : ", ") + std::string(members_[m].member().name) + weight;
    }
    text += num_rows == 0 ? ": too few labels, or too far apart, to tell which is best here"
                          : ", by " + std::to_string(num_rows) + " labels left out";
    table_.notes.push_back(text);
    for (std::size_t m = 0; m < members_.size(); ++m)  // what those say who take part
      for (const std::string& note : members_[m].result().notes)
        if (weights_.weights[m] > 0) table_.notes.push_back(members_[m].member().name + (": " + note));
  }

  const std::vector<Label>& labels_;
  const Execution& execution_;
  ScoreTable& table_;
  std::vector<NodeId> num_of_class_;  // labels, by column
  std::vector<double> shares_;        // of the labels, smoothed
  std::vector<bool> is_complete_;     // by column: its nodes are where its labels are
  double unseen_ = 0;                 // of all nodes, those of classes without a label
  std::vector<FittedMember> members_;
  PoolWeights weights_;
};

}  // namespace

bool fits_in_pool(std::string_view name, const ProblemSize& size, std::size_t num_labels) {
  if (name == "embedding") return size.num_nodes <= kMostEmbeddedNodes && size.num_arcs <= kMostSolvedArcs;
  // Its scores are so flat that sampled leave-one-out answers tell the label they leave out.
  if (name == "kernel_ridge") return size.num_arcs <= kMostSolvedArcs && num_labels <= kMostLabelsSolved;
  return name == "wta" || size.num_arcs <= kMostSolvedArcs;
}

Auto::Auto(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution, 1e-12), options_(options) {
  refuse_signs(graph, "auto", kUseRegistry);
}

ScoreTable Auto::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  if (table.classes.count() == 0) return table;
  Pool pool(graph(), labels(), num_classes(), options_, execution(), table);
  pool.fill();
  // Labels chosen class by class hide how frequent each class is, here and there; neighbours tell.
  if (!pool.are_sampled()) mix_with_neighbors(graph(), table.classes.count(), table.values, execution());
  table.has_all_classes = true;
  table.left_out = pool.left_out();
  table.unreached = pool.unreached();
  return table;
}

std::optional<LeaveOneOut> Auto::leave_one_out(const Execution&) const { return table().left_out; }

std::vector<Reason> Auto::reasons(NodeId node) const {
  if (!table().is_reached(node)) return {};
  const LearnerRow& row = learner_row("label_propagation");
  const std::unique_ptr<Learner> member = row.make(graph(), {}, execution());
  for (const NodeId labelled : table().classes.labelled()) member->reveal(labelled, labels()[labelled]);
  return member->explain(node);
}

BatchResult Auto::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                      const Options& options, const Execution& execution) {
  return fit_by_revealing(std::make_unique<Auto>(graph, options, execution), labels, num_classes);
}

// Members are made one after the other: the dearest at work, and what the others leave, which is a table of
// scores each and the embedding.
std::uint64_t Auto::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t table = size.num_nodes * (sizeof(Label) + sizeof(NodeId) + 8 * size.num_classes);
  std::uint64_t most = 0, left = table;
  for (const Member& member : kMembers) {
    if (!fits_in_pool(member.name, size, 0)) continue;
    most = std::max(most, learner_row(member.name).bytes(size, options_of(member, options)));
    left += table;
    if (member.feature == Feature::regression) left += size.num_nodes * kEmbeddedBytes;
  }
  return left + most;
}

}  // namespace copse
