// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>

#include "choices.hpp"
#include "copse/evaluation/answer_metrics.hpp"
#include "copse/evaluation/learning_curve.hpp"
#include "copse/evaluation/left_out.hpp"
#include "copse/support/parallel.hpp"
#include "inputs.hpp"
#include "io/graph_text.hpp"
#include "io/text.hpp"

namespace copse::cli {
namespace {

struct ReportOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner;
  std::string node;
  std::uint64_t top = 15;
};

// Charts and pages are UTF-8, names may be anything.
std::string readable(std::string text) {
  if (!is_utf8(text))
    for (char& c : text)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return text;
}

// The classes that a picture shows, the most frequent first: these get the colours, of hundreds perhaps.
class ClassColors {
 public:
  explicit ClassColors(const std::map<Label, std::size_t>& counts) {
    for (const auto& [label, count] : counts) classes_.push_back(label);
    std::ranges::stable_sort(classes_, std::greater{}, [&](Label label) { return counts.at(label); });
    classes_.resize(std::min(classes_.size(), kColors.size()));
  }
  const std::vector<Label>& classes() const { return classes_; }
  const char* operator[](Label label) const {
    const auto found = std::ranges::find(classes_, label);
    return found == classes_.end() ? "#8a8f8c" : kColors[static_cast<std::size_t>(found - classes_.begin())];
  }

 private:
  static constexpr std::array<const char*, 8> kColors{"#4c78a8", "#f58518", "#54a24b", "#e45756",
                                                      "#72b7b2", "#b279a2", "#eeca3b", "#9d755d"};
  std::vector<Label> classes_;
};

class UserReport {
 public:
  UserReport(Session& session, const ReportOptions& options, const NamedGraph& graph, const Labels& labels,
             const LearnerRow& learner)
      : session_(session), options_(options), graph_(graph), labels_(labels), learner_(learner) {}

  Report make() {
    fit();
    report_.title = fmt::format("{}: {} of {} labelled",
                                readable(std::filesystem::path(options_.graph.path).filename().string()),
                                with_commas(labels_.num_labelled()), counted(labels_.of_node.size(), "node"));
    measures();
    curve();
    reliability();
    classes();
    confusion();
    uncertain();
    likely();
    doubted();
    setting();
    return std::move(report_);
  }

 private:
  std::string name(NodeId node) const { return readable(graph_.names.name(node)); }
  std::string class_name(Label label) const { return readable(labels_.classes.name(label)); }
  std::size_t num_classes() const { return labels_.classes.size(); }

  // What labelled nodes are answered without their own label, and what the others are.
  void fit() {
    result_ = learner_.fit(graph_.graph, labels_.of_node, num_classes(), options_.learner.values,
                           session_.execution());
    left_out_ = answers_left_out(learner_, *result_.predictor, "--learner", session_.execution());
    answers_.num_classes = num_classes();
    answers_.raw_scores = answers_.scores = left_out_.raw_scores;
    for (std::size_t i = 0; i < left_out_.nodes.size(); ++i) {
      const std::span<double> row(&answers_.scores[i * num_classes()], num_classes());
      normalise_scores(row);
      answers_.truth.push_back(labels_.of_node[left_out_.nodes[i]]);
      answers_.predicted.push_back(
          static_cast<Label>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    const std::size_t num_nodes = labels_.of_node.size();
    counts_.assign(num_classes(), 0);
    for (const Label label : labels_.of_node)
      if (label != kNoLabel) ++counts_[label];
    rarest_ = static_cast<Label>(std::min_element(counts_.begin(), counts_.end()) - counts_.begin());
    predictions_.resize(num_nodes);
    rare_scores_.resize(num_nodes);
    parallel_for(session_.threads, num_nodes, [&](std::size_t node) {
      thread_local std::vector<double> scores;
      scores.resize(num_classes());
      predictions_[node] = result_.predictor->predict(static_cast<NodeId>(node));
      result_.predictor->scores(static_cast<NodeId>(node), scores);
      rare_scores_[node] = scores[rarest_];
    });
    for (NodeId node = 0; node < num_nodes; ++node)
      if (labels_.of_node[node] == kNoLabel && predictions_[node].reached) open_.push_back(node);
  }

  void add(ReportTable table) {
    if (!table.rows.empty()) report_.tables.push_back(std::move(table));
  }

  void measures() {
    ReportTable table{"How good are the answers? Each known label, answered from the others",
                      {"measure", "", "meaning"},
                      {},
                      ""};
    table.note = left_out_.is_sampled ? "Some of it was estimated by random forests." : "";
    for (const MetricRow& row : metric_rows()) {
      const double value = left_out_.nodes.empty() ? std::nan("") : row.of(answers_);
      if (!std::isnan(value)) table.rows.push_back({row.name, fixed(value, 3), row.idea});
    }
    add(std::move(table));
  }

  void curve() {
    try {
      const LearningCurve found = estimate_learning_curve(
          graph_.graph, labels_, learner_, options_.learner.values, 10, session_.execution(), left_out_);
      Chart chart{
          .title = "Would more labels pay?", .x_title = "labels", .y_title = "error (%)", .log_x = true};
      ChartSeries measured{.name = "measured"}, expected{.name = "expected", .is_reference = true};
      for (const CurvePoint& point : found.points)
        (point.is_expected ? expected : measured)
            .points.push_back({static_cast<double>(point.num_labels), 100 * point.error,
                               100 * (point.error - point.deviation), 100 * (point.error + point.deviation)});
      chart.series = {std::move(measured), std::move(expected)};
      report_.charts.push_back(std::move(chart));
      report_.agreement = found.hint;
    } catch (const UsageError& error) {
      report_.agreement = "No learning curve: " + error.problem() + ".";
    }
  }

  // How often answers of about the same confidence are right.
  void reliability() {
    constexpr std::size_t kBins = 10;
    std::array<double, kBins> confidence{}, right{}, count{};
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      const double score = answers_.score(i, answers_.predicted[i]);
      const std::size_t bin = std::min(kBins - 1, static_cast<std::size_t>(score * kBins));
      confidence[bin] += score;
      right[bin] += answers_.predicted[i] == answers_.truth[i] ? 1 : 0;
      ++count[bin];
    }
    Chart chart{.title = "Can the confidence be believed?",
                .x_title = "confidence",
                .y_title = "share that is right"};
    ChartSeries found{.name = "answers"},
        ideal{.name = "as believed", .points = {{0, 0}, {1, 1}}, .is_reference = true};
    for (std::size_t bin = 0; bin < kBins; ++bin)
      if (count[bin] > 0) {
        const double share = right[bin] / count[bin], spread = std::sqrt(share * (1 - share) / count[bin]);
        found.points.push_back({confidence[bin] / count[bin], share, std::max(0.0, share - spread),
                                std::min(1.0, share + spread)});
      }
    chart.series = {std::move(found), std::move(ideal)};
    report_.charts.push_back(std::move(chart));
  }

  void classes() {
    std::vector<std::uint64_t> hits(num_classes()), answered(num_classes()), known(num_classes()),
        predicted(num_classes());
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      ++known[answers_.truth[i]];
      ++answered[answers_.predicted[i]];
      if (answers_.truth[i] == answers_.predicted[i]) ++hits[answers_.truth[i]];
    }
    for (const NodeId node : open_) ++predicted[predictions_[node].label];
    ReportTable table{"By class", {"class", "known", "precision", "recall", "predicted elsewhere"}, {}, ""};
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
      return whole == 0 ? std::string("-")
                        : percent(static_cast<double>(part) / static_cast<double>(whole)) + " %";
    };
    for (std::size_t c = 0; c < num_classes(); ++c)
      table.rows.push_back({class_name(static_cast<Label>(c)), with_commas(counts_[c]),
                            share(hits[c], answered[c]), share(hits[c], known[c]),
                            with_commas(predicted[c])});
    add(std::move(table));
  }

  void confusion() {
    constexpr std::size_t kMost = 16;
    if (num_classes() > kMost) return;
    std::vector<std::uint64_t> cells(num_classes() * num_classes());
    for (std::size_t i = 0; i < answers_.size(); ++i)
      ++cells[answers_.truth[i] * num_classes() + answers_.predicted[i]];
    ReportTable table{"Confusion: truth in rows, answers in columns", {""}, {}, ""};
    for (std::size_t c = 0; c < num_classes(); ++c) {
      table.columns.push_back(class_name(static_cast<Label>(c)));
      std::vector<std::string> row{class_name(static_cast<Label>(c))};
      for (std::size_t other = 0; other < num_classes(); ++other)
        row.push_back(with_commas(cells[c * num_classes() + other]));
      table.rows.push_back(std::move(row));
    }
    add(std::move(table));
  }

  // Nodes without label, the first `top` by `less`.
  template <class Less>
  std::vector<NodeId> first_of_open(const Less& less) const {
    std::vector<NodeId> nodes = open_;
    const std::size_t count = std::min<std::size_t>(options_.top, nodes.size());
    std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count), nodes.end(),
                      [&](NodeId a, NodeId b) { return less(a, b) || (!less(b, a) && a < b); });
    nodes.resize(count);
    return nodes;
  }

  void uncertain() {
    ReportTable table{"Most uncertain: worth a label", {"node", "answer", "confidence", "degree"}, {}, ""};
    for (const NodeId node : first_of_open(
             [&](NodeId a, NodeId b) { return predictions_[a].confidence < predictions_[b].confidence; }))
      table.rows.push_back({name(node), class_name(predictions_[node].label),
                            fixed(predictions_[node].confidence, 3),
                            with_commas(graph_.graph.view().degree(node))});
    add(std::move(table));
  }

  // The one asked for, else the most uncertain one of those with some neighbours to see, else the most
  // doubtful label, else any.
  NodeId node_to_draw(const std::vector<DoubtedLabel>& doubted) const {
    if (!options_.node.empty()) return find_node(graph_.names, options_.node, "--node");
    if (!open_.empty())
      return *std::ranges::min_element(open_, {}, [&](NodeId node) {
        return std::pair(graph_.graph.view().degree(node) < 3, predictions_[node].confidence);
      });
    return doubted.empty() ? 0 : doubted[0].node;
  }

  void likely() {
    ReportTable table{
        "Most likely of the rarest class, " + class_name(rarest_), {"node", "score", "answer"}, {}, ""};
    for (const NodeId node :
         first_of_open([&](NodeId a, NodeId b) { return rare_scores_[a] > rare_scores_[b]; }))
      table.rows.push_back({name(node), fixed(rare_scores_[node], 3), class_name(predictions_[node].label)});
    add(std::move(table));
  }

  void doubted() {
    const std::vector<DoubtedLabel> all = doubted_labels(left_out_, labels_.of_node, num_classes());
    const NodeId drawn = node_to_draw(all);
    report_.pictures.emplace_back("Around " + name(drawn), picture(drawn));
    ReportTable table{"Suspicious labels: contradicted by what is around them",
                      {"node", "label", "suggested", "scores"},
                      {},
                      ""};
    for (std::size_t i = 0; i < std::min<std::size_t>(options_.top, all.size()); ++i)
      table.rows.push_back({name(all[i].node), class_name(all[i].given), class_name(all[i].suggested),
                            fixed(all[i].given_score, 2) + " against " + fixed(all[i].suggested_score, 2)});
    table.note = fmt::format("{} of {}; copse audit lists them with the nodes that speak against them.",
                             with_commas(all.size()), counted(left_out_.nodes.size(), "label"));
    add(std::move(table));
  }

  Label label_of(NodeId node) const {
    return labels_.of_node[node] == kNoLabel ? predictions_[node].label : labels_.of_node[node];
  }

  // The node in the middle, its heaviest neighbours around it. Known labels are filled, answers are outlined.
  std::string picture(NodeId center) const {
    constexpr std::size_t kMost = 16;
    constexpr double kRadius = 170, kWidth = 640, kHeight = 460;
    const GraphView& view = graph_.graph.view();
    std::vector<EdgeIndex> arcs(view.degree(center));
    std::iota(arcs.begin(), arcs.end(), view.offsets[center]);
    std::stable_sort(arcs.begin(), arcs.end(), [&](EdgeIndex a, EdgeIndex b) {
      return view.is_weighted() && view.weights[a] > view.weights[b];
    });
    const std::size_t hidden = arcs.size() - std::min(kMost, arcs.size());
    arcs.resize(std::min(kMost, arcs.size()));
    struct Dot {
      NodeId node;
      double x, y;
    };
    std::vector<Dot> dots;
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(arcs.size());
      dots.push_back({view.neighbors[arcs[i]], kWidth / 2 + 1.3 * kRadius * std::cos(angle),
                      kHeight / 2 + kRadius * std::sin(angle)});
    }
    dots.push_back({center, kWidth / 2, kHeight / 2});
    std::string svg = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" width=\"{}\" role=\"img\" font-size=\"13\" font-family=\"system-ui, "
        "sans-serif\">",
        kWidth, kHeight, kWidth);
    for (std::size_t i = 0; i < dots.size(); ++i)
      for (std::size_t j = i + 1; j < dots.size(); ++j)
        if (std::ranges::binary_search(view.neighbors_of(dots[i].node), dots[j].node))
          svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>",
                             dots[i].x, dots[i].y, dots[j].x, dots[j].y,
                             j + 1 == dots.size() ? "#9aa39e" : "#dde2df");
    std::map<Label, std::size_t> counts;
    for (const Dot& dot : dots) ++counts[label_of(dot.node)];
    const ClassColors colors(counts);
    for (const Dot& dot : dots) {
      const Label label = label_of(dot.node);
      const char* color = colors[label];
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" "
          "stroke-width=\"3\"><title>{}: {}</title></circle>",
          dot.x, dot.y, dot.node == center ? 13 : 9,
          labels_.of_node[dot.node] == kNoLabel ? "#ffffff" : color, color, xml_text(name(dot.node)),
          xml_text(class_name(label)));
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", dot.x,
                         dot.y + 26, xml_text(shortened(name(dot.node))));
    }
    return svg + "</svg>\n<p class=\"note\">" + legend(colors) +
           (hidden == 0 ? "" : fmt::format(" {} more are not shown.", counted(hidden, "neighbour"))) + "</p>";
  }

  std::string legend(const ClassColors& colors) const {
    std::string text = "Filled: the label is known; outlined: the answer.";
    for (const Label label : colors.classes())
      text += fmt::format(" <span style=\"color: {}\">&#9679;</span> {}", colors[label],
                          xml_text(class_name(label)));
    return text;
  }

  // At a character, not inside of one.
  static std::string shortened(const std::string& text) {
    constexpr std::size_t kMost = 18;
    std::size_t at = 0;
    for (std::size_t count = 0; at < text.size() && count < kMost; ++count) take_utf8(text, at);
    return at < text.size() ? text.substr(0, at) + "…" : text;
  }

  void setting() {
    const GraphView& view = graph_.graph.view();
    const auto unreached =
        std::ranges::count_if(predictions_, [](const Prediction& one) { return !one.reached; });
    report_.setting = {
        {"graph", fmt::format("{}: {}, {}{}", options_.graph.path, counted(view.num_nodes(), "node"),
                              counted(view.num_edges(), "edge"), view.is_weighted() ? ", weighted" : "")},
        {"labels", fmt::format("{}: {} of {}", options_.labels.path, with_commas(labels_.num_labelled()),
                               counted(num_classes(), "class", "classes"))},
        {"learner", described_text(learner_, options_.learner.values)},
        {"no label reaches", counted(static_cast<std::uint64_t>(unreached), "node")},
        {"seed", std::to_string(session_.seed)}};
    for (const std::string& note : result_.notes) report_.setting.emplace_back("note", note);
  }

  Session& session_;
  const ReportOptions& options_;
  const NamedGraph& graph_;
  const Labels& labels_;
  const LearnerRow& learner_;
  BatchResult result_;
  LeaveOneOut left_out_;
  Answers answers_;
  std::vector<std::uint64_t> counts_;  // known labels by class
  Label rarest_ = 0;
  std::vector<Prediction> predictions_;
  std::vector<double> rare_scores_;  // of the rarest class
  std::vector<NodeId> open_;         // without a label, and reached by one
  Report report_;
};

int report(Session& session, const ReportOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  options.learner.row().check(options.learner.values);
  const NamedGraph graph = options.graph.read(session);
  const LearnerRow& learner = options.learner.row_for(graph.graph);
  const Labels labels = options.labels.read(session, graph.names);
  check_memory(learner, options.learner.values, graph.graph, labels.classes.size(), session.threads);
  if (!options.node.empty()) find_node(graph.names, options.node, "--node");
  const Stopwatch watch;
  const Report made = UserReport(session, options, graph, labels, learner).make();
  session.bar().clear();
  Output output(session.output);
  output.write(
      report_html(made, {"", "", "What the labels of this graph allow to say, and where it is doubtful.",
                         fmt::format("copse report {} --labels {} --seed {}", readable(options.graph.path),
                                     readable(options.labels.path), session.seed),
                         "in " + duration_text(watch.seconds())}));
  output.commit();
  session.say(made.agreement);
  if (session.output != "-") session.say(session.output + " is the report: open it in a browser");
  return kDone;
}

}  // namespace

void add_report(Program& program) {
  CLI::App* verb = add_verb(program.app, "report",
                            "Write a page (HTML) about a graph and its labels\n\n"
                            "Accuracy, reliability, classes, doubtful labels and nodes.",
                            {"copse report graph.tsv --labels labels.tsv -o report.html",
                             "copse report graph.tsv --labels labels.tsv --node c -o report.html"});
  auto options = std::make_shared<ReportOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels)->required();
  add_option(verb, "--node NODE", options->node, "whose neighbourhood is drawn [the most uncertain one]");
  add_option(verb, "--top N", options->top, "rows of the lists of nodes")->check(positive());
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kOutput | kThreads | kSeed);
  on_run(verb, program.session, options, report);
}

}  // namespace copse::cli
