// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>

#include "arrays.hpp"
#include "bindings.hpp"
#include "copse/evaluation/left_out.hpp"
#include "copse/io/read.hpp"
#include "copse/learners/fit_order.hpp"
#include "copse/learners/hints.hpp"
#include "copse/learners/multi_label.hpp"
#include "copse/learners/registry.hpp"
#include "copse/learners/tree_committee.hpp"
#include "copse/support/parallel.hpp"

namespace copse::python {
namespace {

constexpr std::size_t kNodesPerBlock = 4096;

/// Answers by node, or by place in a list of nodes.
struct Answers {
  std::vector<Label> label;
  std::vector<double> confidence;
  std::vector<char> reached;  // as NumPy keeps booleans

  explicit Answers(std::size_t size) : label(size), confidence(size), reached(size) {}
  void set(std::size_t i, const Prediction& answer) {
    label[i] = answer.label;
    confidence[i] = answer.confidence;
    reached[i] = answer.reached ? 1 : 0;
  }
};

nb::tuple give_answers(Answers&& answers) {
  const std::size_t size = answers.label.size();
  return nb::make_tuple(give(std::move(answers.label)), give(std::move(answers.confidence)),
                        give<bool>(std::move(answers.reached), {size}));
}

// node(i) for i in [0, count): what the predictor says of each, in parallel.
template <class Node>
Answers ask(const Predictor& predictor, std::size_t count, Node&& node, const Execution& execution) {
  Answers answers(count);
  parallel_blocks(execution.threads, count, kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    execution.throw_if_cancelled();
                    for (std::size_t i = begin; i < end; ++i) answers.set(i, predictor.predict(node(i)));
                  });
  return answers;
}

// A row of scores for each node, to rank by where `is_raw`; columns of classes that the predictor does not
// know stay 0.
std::vector<double> score_rows(const Predictor& predictor, std::span<const NodeId> nodes,
                               std::size_t num_classes, bool is_raw, const Execution& execution) {
  std::vector<double> scores(nodes.size() * num_classes);
  const std::size_t known = predictor.num_classes(), shown = std::min(num_classes, known);
  parallel_blocks(execution.threads, nodes.size(), kNodesPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    execution.throw_if_cancelled();
                    std::vector<double> row(known);  // a signed graph knows a class that nobody has named
                    for (std::size_t i = begin; i < end; ++i) {
                      is_raw ? predictor.raw_scores(nodes[i], row) : predictor.scores(nodes[i], row);
                      std::copy_n(row.begin(), shown, &scores[i * num_classes]);
                    }
                  });
  return scores;
}

/// A batch run, of one label per node or, where `labels` has sets, of several: the answers of all nodes, and
/// whom to ask for scores. The graph is kept: learners look at it.
class Fit {
 public:
  Fit(const LearnerRow& row, const NamedGraph& graph, MultiLabels labels, std::size_t num_classes,
      const Hints& hints, const OptionValues& options, const Execution& execution)
      : graph_(graph.graph),
        labels_(std::move(labels)),
        result_(labels_.sets.empty()
                    ? fit_with_hints(row, graph_, labels_.set_of_node, num_classes, hints, options, execution)
                    : fit_multi(row, graph_, labels_, num_classes, options, execution)),
        // Stopped early, the committee so far is still asked: only the reading stops for nobody.
        answers_(ask(
            *result_.predictor, graph_.num_nodes(), [](std::size_t i) { return static_cast<NodeId>(i); },
            Execution{execution.seed, execution.threads, nullptr})) {}

  nb::tuple answers() { return give_answers(std::move(answers_)); }
  const BatchResult& result() const { return result_; }
  const Graph& graph() const { return graph_; }
  const MultiLabels& labels() const { return labels_; }

 private:
  Graph graph_;
  MultiLabels labels_;
  BatchResult result_;
  Answers answers_;
};

nb::ndarray<nb::numpy, double> fit_scores(const Fit& fit, const VectorIn<NodeId>& nodes,
                                          std::size_t num_classes, bool is_raw, const Settings& settings) {
  check_nodes(span_of(nodes), fit.graph().num_nodes());
  auto scores = run(
      settings,
      [&](const Execution& execution) {
        return score_rows(*fit.result().predictor, span_of(nodes), num_classes, is_raw, execution);
      },
      nodes.size());
  return give<double>(std::move(scores), {nodes.size(), num_classes});
}

/// Above which score each class of several per node is the answer.
nb::ndarray<nb::numpy, double> fit_thresholds(const Fit& fit, const Settings& settings) {
  return give(run(
      settings,
      [&](const Execution& execution) {
        return class_thresholds(*fit.result().predictor, fit.labels(), Thresholds::f1, execution);
      },
      fit.graph().num_nodes()));
}

/// A learner that is told labels one at a time. Python's threads may share it: those that ask go together,
/// one that tells goes alone.
class Online {
 public:
  Online(const LearnerRow& row, const NamedGraph& graph, const OptionValues& options,
         const Settings& settings)
      : graph_(graph.graph),
        num_nodes_(graph_.num_nodes()),
        is_small_(size_of(graph_) < kSmall),
        threads_(is_small_ ? 1 : usable_threads(settings.threads)) {
    const auto make = [&] { learner_ = row.make(graph_, options, {settings.seed, threads_, &watch_}); };
    if (is_small_ && settings.progress.is_none())
      run_here(make);
    else
      watch_.run(settings.progress, make);
  }

  nb::tuple predict(NodeId node) const {
    const Prediction answer = ask_about(node, [&] { return learner_->predict(node); });
    return nb::make_tuple(answer.label, answer.confidence, answer.reached);
  }

  std::vector<double> scores(NodeId node, std::size_t num_classes) const {
    return ask_about(node, [&] {
      std::vector<double> scores(std::max(num_classes, learner_->num_classes()));
      learner_->scores(node, std::span(scores).first(learner_->num_classes()));
      scores.resize(num_classes);
      return scores;
    });
  }

  nb::list explain(NodeId node) const {
    nb::list out;
    for (const Reason& r : ask_about(node, [&] { return learner_->explain(node); }))
      out.append(nb::make_tuple(r.node, r.label, r.share, r.resistance));
    return out;
  }

  void reveal(NodeId node, Label label) {
    check(node);
    tell([&] { learner_->reveal(node, label); });
  }
  void retract(NodeId node) {
    check(node);
    tell([&] { learner_->retract(node); });
  }

  /// Changes of the graph: UsageError where the learner cannot follow.
  NodeId add_node() {
    tell([&] { num_nodes_ = changing_committee(*learner_).add_node() + 1; });
    return num_nodes_ - 1;
  }
  void add_edge(NodeId u, NodeId v, Weight weight) {
    tell([&] { changing_committee(*learner_).add_edge(u, v, weight); });
  }
  void remove_edge(NodeId u, NodeId v) {
    tell([&] { changing_committee(*learner_).remove_edge(u, v); });
  }

  nb::tuple predict_many(const VectorIn<NodeId>& nodes) {
    check_nodes(span_of(nodes), num_nodes_);
    std::optional<Answers> answers;
    work<std::shared_lock>(nodes.size(), [&] {
      answers = ask(*learner_, nodes.size(), [&](std::size_t i) { return nodes.data()[i]; },
                    {Execution{}.seed, threads_, &watch_});
    });
    return give_answers(std::move(*answers));
  }

  nb::ndarray<nb::numpy, double> scores_many(const VectorIn<NodeId>& nodes, std::size_t num_classes,
                                             bool is_raw) {
    check_nodes(span_of(nodes), num_nodes_);
    std::vector<double> scores;
    work<std::shared_lock>(nodes.size(), [&] {
      scores =
          score_rows(*learner_, span_of(nodes), num_classes, is_raw, {Execution{}.seed, threads_, &watch_});
    });
    return give<double>(std::move(scores), {nodes.size(), num_classes});
  }

  void reveal_many(const VectorIn<NodeId>& nodes, const VectorIn<Label>& labels) {
    check_pairs(nodes, labels);
    work<std::unique_lock>(nodes.size(), [&] {
      for (std::size_t i = 0; i < nodes.size() && !watch_.cancelled(); ++i)
        learner_->reveal(nodes.data()[i], labels.data()[i]);
    });
  }

  /// Labels by node, as `fit` tells them.
  void reveal_all(const VectorIn<Label>& of_node) {
    if (of_node.size() > num_nodes_) check_count(of_node.size(), num_nodes_);
    work<std::unique_lock>(of_node.size(), [&] { learner_->reveal_all(span_of(of_node)); });
  }

  /// The online game of the papers: predict, then be told, node by node. kNoLabel tells nothing. With
  /// `repeats`, a node that comes again is guessed again.
  nb::ndarray<nb::numpy, Label> play(const VectorIn<NodeId>& nodes, const VectorIn<Label>& labels,
                                     bool repeats) {
    check_pairs(nodes, labels);
    std::vector<Label> predicted(nodes.size(), kNoLabel);
    work<std::unique_lock>(nodes.size(), [&] {
      for (std::size_t i = 0; i < nodes.size() && !watch_.cancelled(); ++i) {
        const NodeId node = nodes.data()[i];
        predicted[i] = (repeats ? learner_->guess(node) : learner_->predict(node)).label;
        if (labels.data()[i] != kNoLabel) learner_->reveal(nodes.data()[i], labels.data()[i]);
      }
    });
    return give(std::move(predicted));
  }

 private:
  template <class Question>
  std::invoke_result_t<Question&> ask_about(NodeId node, Question&& question) const {
    check(node);
    return run_here([&] {
      const std::shared_lock lock(mutex_);
      return question();
    });
  }
  template <class Body>
  void tell(Body&& body) {
    run_here([&] {
      const std::unique_lock lock(mutex_);
      body();
    });
  }
  /// `count` nodes at a time. A thread costs as much as ten rounds of a committee, which is why few nodes do
  /// without, as single ones do.
  template <template <class> class Lock, class Body>
  void work(std::size_t count, Body&& body) {
    const auto locked = [&] {
      const Lock<std::shared_mutex> lock(mutex_);
      body();
    };
    if (is_small_ || count <= kNodesPerBlock)
      run_here(locked);
    else
      watch_.run(nb::none(), locked);
  }
  void check(NodeId node) const { check_nodes({&node, 1}, num_nodes_); }
  void check_pairs(const VectorIn<NodeId>& nodes, const VectorIn<Label>& labels) const {
    check_nodes(span_of(nodes), num_nodes_);
    check_count(labels.size(), nodes.size());
  }

  Graph graph_;
  std::atomic<NodeId> num_nodes_;  // as the graph is now
  bool is_small_;
  int threads_;
  Watch watch_;  // the learner keeps a pointer to it
  std::unique_ptr<Learner> learner_;
  mutable std::shared_mutex mutex_;
};

/// `soft` is (nodes, labels, weights), all empty where there are none.
Hints hints_of(const VectorIn<NodeId>& nodes, const VectorIn<Label>& labels, const VectorIn<double>& weights,
               const VectorIn<double>& prior, double prior_weight, const VectorIn<double>& class_sizes) {
  Hints hints;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    hints.labels.push_back({nodes.data()[i], labels.data()[i], weights.data()[i]});
  hints.prior.assign(prior.data(), prior.data() + prior.size());
  hints.prior_weight = prior_weight;
  hints.class_sizes.assign(class_sizes.data(), class_sizes.data() + class_sizes.size());
  return hints;
}

/// Where `sets` are given, labels are places in it.
std::unique_ptr<Fit> fit(const std::string& learner, const NamedGraph& graph, const VectorIn<Label>& labels,
                         const std::vector<std::vector<Label>>& sets, std::size_t num_classes,
                         const Hints& hints, const OptionValues& options, const Settings& settings) {
  const LearnerRow& row = learner_row(learner);
  check_count(labels.size(), graph.graph.num_nodes());
  return run(
      settings,
      [&](const Execution& execution) {
        const std::span<const Label> of_node = span_of(labels);
        return std::make_unique<Fit>(row, graph, MultiLabels{{of_node.begin(), of_node.end()}, sets, {}},
                                     num_classes, hints, options, execution);
      },
      size_of(graph.graph));
}

nb::list learners() {
  nb::list rows;
  for (const LearnerRow& row : learner_rows()) {
    nb::dict out = row_dict(row.name, row.idea, row.cost, row.paper, row.options);
    out["depends_on_order"] = row.depends_on_order;
    rows.append(out);
  }
  return rows;
}

}  // namespace

nb::dict row_dict(const std::string& name, const std::string& idea, const std::string& cost,
                  const std::string& paper, const std::vector<OptionInfo>& options) {
  nb::list described;
  for (const OptionInfo& info : options) {
    nb::dict option;
    option["name"] = info.name;
    option["type"] = info.type;
    option["default"] = info.default_value;
    option["help"] = info.help;
    option["range"] = info.range;
    described.append(option);
  }
  nb::dict out;
  out["name"] = name;
  out["idea"] = idea;
  out["cost"] = cost;
  out["paper"] = paper;
  out["options"] = described;
  return out;
}

void bind_registry(nb::module_& m) {
  m.def("learners", learners);
  m.def("learner_bytes",
        [](const std::string& learner, std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
           std::size_t num_classes, const OptionValues& options, int threads) {
          return learner_row(learner).bytes({num_nodes, num_arcs, weighted, num_classes, threads}, options);
        });
  m.def("learner_online_bytes",
        [](const std::string& learner, std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
           const OptionValues& options, int threads) {
          return learner_row(learner).online_bytes({num_nodes, num_arcs, weighted, 2, threads}, options);
        });
}

void bind_learners(nb::module_& m) {
  m.attr("no_label") = kNoLabel;
  m.attr("max_classes") = kMaxClasses;
  nb::class_<Fit>(m, "Fit")
      .def("take_answers", &Fit::answers)
      .def("scores", fit_scores)
      .def("thresholds", fit_thresholds)
      .def_prop_ro("units_done", [](const Fit& f) { return f.result().units_done; })
      .def_prop_ro("units_asked", [](const Fit& f) { return f.result().units_asked; })
      .def_prop_ro("interrupted", [](const Fit& f) { return f.result().interrupted; })
      .def_prop_ro("notes", [](const Fit& f) { return f.result().notes; });
  nb::class_<Hints>(m, "Hints").def(nb::init<>());
  m.def("hints", hints_of);
  m.def("fit", fit);
  // In which order fit() tells labels to a learner that minds it.
  m.def("fit_order", [](const VectorIn<Label>& labels, std::uint64_t seed) {
    return give(fit_order(span_of(labels), seed));
  });
  nb::class_<Online>(m, "Online")
      .def("predict", &Online::predict)
      .def("scores", &Online::scores)
      .def("reveal", &Online::reveal)
      .def("retract", &Online::retract)
      .def("add_node", &Online::add_node)
      .def("add_edge", &Online::add_edge)
      .def("remove_edge", &Online::remove_edge)
      .def("explain", &Online::explain)
      .def("predict_many", &Online::predict_many)
      .def("scores_many", &Online::scores_many)
      .def("reveal_many", &Online::reveal_many)
      .def("reveal_all", &Online::reveal_all)
      .def("play", &Online::play, nb::arg("nodes"), nb::arg("labels"), nb::arg("repeats") = false);
  m.def("online", [](const std::string& learner, const NamedGraph& graph, const OptionValues& options,
                     const Settings& settings) {
    return std::make_unique<Online>(learner_row(learner), graph, options, settings);
  });
}

}  // namespace copse::python
