// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "choices.hpp"
#include "copse/learners/sequential_learner.hpp"
#include "copse/queries/query.hpp"
#include "inputs.hpp"
#include "journal.hpp"
#include "line_reader.hpp"

namespace copse::cli {
namespace {

struct OnlineOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner{.name = "wta", .values = {}};
  StrategyChoice strategy{.name = "disagreement", .values = {}};
  std::string journal;
  std::string repeats = "correct";
};

// Across a negative edge lies the other class, also while nobody has named it.
std::string class_name(const ClassNames& classes, Label label) {
  return label < classes.size() ? std::string(classes.name(label)) : "not " + std::string(classes.name(0));
}

// node, node<TAB>label, node<TAB>, or node<TAB><TAB>verb: neither ids nor labels hold a tab.
struct Line {
  std::string name, told;
  bool has_tab = false;
  std::optional<std::string> verb = {};
};

Line parsed(const std::string& line) {
  const std::size_t tab = line.find('\t');
  Line parts{line.substr(0, tab), tab == std::string::npos ? "" : line.substr(tab + 1),
             tab != std::string::npos};
  if (parts.told.starts_with('\t')) parts.verb = std::exchange(parts.told, "").substr(1);
  return parts;
}

class OnlineGame {
 public:
  OnlineGame(Session& session, const OnlineOptions& options, const NamedGraph& graph, GivenLabels& labels,
             Learner& learner, Journal& journal)
      : answers_(kColumns, session.json ? TableStyle::json_lines : TableStyle::tsv, session.digits),
        session_(session),
        options_(options),
        graph_(graph),
        labels_(labels),
        learner_(learner),
        journal_(journal) {}

  void answer(const std::string& text);
  /// Says how it went.
  int finish() const;
  static inline const std::vector<std::string> kColumns{"node",  "predicted", "confidence",
                                                        "label", "mistakes",  "status"};
  std::string& bytes() { return answers_.bytes; }

 private:
  std::string trouble_with(const Line& line) const;
  std::string trouble_with_verb(const std::string& verb) const;
  void answer_node(const Line& line, NodeId node);
  void answer_verb(const Line& line);
  AnsweredSet answered_set(NodeId node) const;
  void add_prediction(const Prediction& answer, const AnsweredSet& several);
  void add_details(const std::string& verb, NodeId node);
  void change(NodeId node, const std::string& name, const std::string& told);
  QueryStrategy& strategy();

  RowBuffer answers_;
  Session& session_;
  const OnlineOptions& options_;
  const NamedGraph& graph_;
  GivenLabels& labels_;
  Learner& learner_;
  Journal& journal_;
  std::unique_ptr<QueryStrategy> strategy_;  // from the first `next` on
  std::uint64_t num_lines_ = 0, num_trials_ = 0, num_mistakes_ = 0, num_unknown_ = 0;
};

std::string OnlineGame::trouble_with_verb(const std::string& verb) const {
  if (verb != "scores" && verb != "explain" && verb != "next")
    return copse::quoted(verb) +
           " is not one of scores, explain, next\n  a line is node, node<TAB>label or node<TAB><TAB>verb";
  if (verb != "next" && !session_.json)
    return verb + " does not fit into a table\n  start the session with --json";
  return "";
}

// Why a line cannot be answered; empty if it can. No line ends the session: what follows may be worth more.
std::string OnlineGame::trouble_with(const Line& line) const {
  const std::string left_out = "\n  the line is left out";
  if (line.verb)
    if (const std::string trouble = trouble_with_verb(*line.verb); !trouble.empty() || *line.verb == "next")
      return trouble;
  if (line.name.empty() && !line.has_tab) return "the line is empty\n  a line is node or node<TAB>label";
  if (!graph_.names.find(line.name)) return "the graph has no node " + copse::quoted(line.name) + left_out;
  if (line.told.find('\t') != std::string::npos)
    return "more than two fields\n  a line is node or node<TAB>label";
  const bool is_new = !line.told.empty() && labels_.find(line.told) == kNoLabel;
  if (labels_.is_multi && !line.told.empty() && split(line.told, ',').empty())
    return copse::quoted(line.told) + " names no label" + left_out;
  if (is_new && labels_.num_answers() >= 2 && graph_.graph.view().is_signed())
    return copse::quoted(line.told) + " is a third class, and the graph has negative edges" + left_out;
  if (is_new && labels_.num_answers() >= kMaxClasses)
    return copse::quoted(line.told) + " is one class too many: copse knows up to " +
           with_commas(kMaxClasses) + left_out;
  return "";
}

void OnlineGame::answer(const std::string& text) {
  ++num_lines_;
  const Line line = parsed(text);
  const std::string trouble = trouble_with(line);
  if (!trouble.empty()) {
    ++num_unknown_;
    session_.complain(at("standard input", num_lines_) + ": " + trouble);
    answers_.text(line.name).missing().missing().missing().count(num_mistakes_).text("error").end_row();
  } else if (line.verb) {
    answer_verb(line);
  } else {
    answer_node(line, *graph_.names.find(line.name));
  }
}

// With --multi-label the classes above one half, or else the best; otherwise none.
AnsweredSet OnlineGame::answered_set(NodeId node) const {
  if (!labels_.is_multi) return {};
  std::vector<double> scores(learner_.num_classes());
  learner_.scores(node, scores);
  return classes_above(labels_.class_scores(scores),
                       std::vector<double>(labels_.classes().size(), kJustAboveHalf));
}

void OnlineGame::add_prediction(const Prediction& answer, const AnsweredSet& several) {
  if (answer.label == kNoLabel)
    answers_.missing();
  else if (labels_.is_multi)
    answers_.list(labels_.names(std::span(several.classes)));
  else
    answers_.text(class_name(labels_.one.classes, answer.label));
  answers_.number(labels_.is_multi ? several.confidence : answer.confidence);
}

// The node has this label from here on; none if it is empty.
void OnlineGame::change(NodeId node, const std::string& name, const std::string& told) {
  const Label label = told.empty() ? kNoLabel : labels_.intern(told);
  if (told.empty())
    learner_.retract(node);
  else
    learner_.reveal(node, label);
  if (strategy_ && told.empty()) strategy_->retract(node);
  if (strategy_ && !told.empty()) strategy_->reveal(node, label);
  labels_.of_node()[node] = label;
  journal_.add(name, told);
}

void OnlineGame::answer_node(const Line& line, NodeId node) {
  const bool tells = !line.told.empty(), is_known = labels_.of_node()[node] != kNoLabel;
  const bool comes_again = is_known && tells && options_.repeats == "count";
  const bool is_trial =
      tells && (!is_known || comes_again);  // correcting a label that was told before is no guess
  std::string_view status = is_known && !comes_again ? "given" : "";
  if (line.has_tab && !tells) {
    change(node, line.name, "");
    status = "retracted";
  }
  const Prediction answer = comes_again ? guess_again(learner_, node) : learner_.predict(node);
  if (status.empty()) status = answer.reached ? "predicted" : "unreached";
  const AnsweredSet several = answered_set(node);
  answers_.text(line.name);
  add_prediction(answer, several);
  if (tells) {
    change(node, line.name, line.told);
    if (is_trial) ++num_trials_;
    const Label label = labels_.of_node()[node];
    const bool is_right =
        labels_.is_multi ? several.classes == labels_.many.sets[label] : answer.label == label;
    if (is_trial && !is_right) ++num_mistakes_;
    labels_.write(answers_, labels_.names(label));
  } else {
    answers_.missing();
  }
  answers_.count(num_mistakes_).text(status).end_row();
}

QueryStrategy& OnlineGame::strategy() {
  if (!strategy_) {
    strategy_ = options_.strategy.row().make(graph_.graph, options_.strategy.values, session_.execution());
    strategy_->start(labels_.of_node());
  }
  return *strategy_;
}

void OnlineGame::answer_verb(const Line& line) {
  std::optional<NodeId> node = graph_.names.find(line.name);
  if (*line.verb == "next") {
    const std::vector<Query> next = strategy().next(1);
    node = next.empty() ? std::nullopt : std::optional(next[0].node);
  } else {
    return add_details(*line.verb, *node);
  }
  if (!node) {
    answers_.missing().missing().missing().missing().count(num_mistakes_).text("none").end_row();
    return;
  }
  answers_.name(graph_.names, *node);
  add_prediction(learner_.predict(*node), answered_set(*node));
  answers_.missing().count(num_mistakes_).text("next").end_row();
}

// An object with the classes' scores, or with the labelled nodes that decided and their shares.
void OnlineGame::add_details(const std::string& verb, NodeId node) {
  std::vector<std::string> names;
  std::vector<double> values;
  if (verb == "scores") {
    values.resize(learner_.num_classes());
    learner_.scores(node, values);
    if (labels_.is_multi) values = labels_.class_scores(values);
    for (Label label = 0; label < values.size(); ++label)
      names.push_back(class_name(labels_.classes(), label));
  } else {
    for (const Reason& reason : learner_.explain(node)) {
      names.push_back(graph_.names.name(reason.node));
      values.push_back(reason.share);
    }
  }
  RowBuffer row({"node", "status", verb}, TableStyle::json_lines, session_.digits);
  row.name(graph_.names, node).text(verb).numbers(names, values).end_row();
  answers_.bytes += row.bytes;
}

int OnlineGame::finish() const {
  const double share =
      static_cast<double>(num_mistakes_) / static_cast<double>(std::max<std::uint64_t>(1, num_trials_));
  session_.say(counted(num_trials_, "trial") + ", " + counted(num_mistakes_, "mistake") +
               (num_trials_ == 0 ? "" : fmt::format(" ({:.2f} %)", 100.0 * share)));
  if (num_unknown_ > 0) session_.complain(counted(num_unknown_, "line") + " could not be answered");
  return was_interrupted() ? kInterrupted : num_unknown_ > 0 ? kBadInput : kDone;
}

int online(Session& session, const OnlineOptions& options) {
  check_standard_input({"-", options.graph.path, options.labels.path, options.graph.nodes});
  const LearnerRow& row = options.learner.row();
  row.check(options.learner.values);
  options.strategy.row().check(options.strategy.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  GivenLabels labels = options.labels.read_any(session, graph.names);
  labels.refuse_commas();
  check_online_memory(row, options.learner.values, graph.graph, session.threads);
  const std::unique_ptr<Learner> learner = row.make(graph.graph, options.learner.values, session.execution());
  for (NodeId node = 0; node < labels.of_node().size(); ++node)
    if (labels.of_node()[node] != kNoLabel) learner->reveal(node, labels.of_node()[node]);
  Journal journal(options.journal);
  const std::uint64_t num_replayed = journal.replay(graph.names, labels, *learner);
  session.bar().clear();
  if (num_replayed > 0) session.say(options.journal + ": " + counted(num_replayed, "line") + " taken up");
  session.say(
      fmt::format("{} is ready, seed {}: node asks, node<TAB>label tells, node<TAB> takes a label back",
                  described_text(row, options.learner.values), session.seed));

  if (!session.json) output.write(fmt::format("{}\n", fmt::join(OnlineGame::kColumns, "\t")));
  output.publish();
  OnlineGame game(session, options, graph, labels, *learner, journal);
  const auto send = [&] {
    journal.sync();  // what is answered is on the disk
    output.write(game.bytes());
    game.bytes().clear();
  };
  LineReader reader;
  for (std::string line; reader.next(line, [&] {
         send();
         output.flush();
       });) {
    game.answer(line);
    if (game.bytes().size() > (1 << 16)) send();
  }
  send();
  output.commit();
  return game.finish();
}

}  // namespace

void add_online(Program& program) {
  CLI::App* verb = add_verb(
      program.app, "online",
      "Answer lines of standard input one by one, learning from every label told\n\n"
      "  node            asks: what is its label?\n"
      "  node<TAB>label  predicts, then learns the label; a wrong guess counts as a mistake\n"
      "                  (a node whose label is known already is corrected, not guessed, unless\n"
      "                  --repeats count)\n"
      "  node<TAB>       takes the label back, then asks\n"
      "  <TAB><TAB>next  asks which node to ask about, by --query-strategy\n"
      "  node<TAB><TAB>scores, node<TAB><TAB>explain  the classes' scores, the labelled nodes that decide\n"
      "                  (with --json)\n\n"
      "One row per line, sent before the next line is waited for; with --json an object a line. A line\n"
      "that cannot be answered gets a row without a prediction, of status error. The others are predicted,\n"
      "unreached (no label reaches the node), given (its label was known) or retracted. -o FILE can be "
      "given\n"
      "back as --labels: the last label of a node counts. What was answered is in FILE of -o even\n"
      "if the session is killed; a compressed FILE is whole only when the session ends.",
      {"copse online graph.tsv < labels.tsv",
       R"(printf 'a\nb\tred\nb\t\n' | copse online graph.tsv --labels labels.tsv --json)"});
  auto options = std::make_shared<OnlineOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels);
  add_multi_label_flag(verb, options->labels, "told and answered as node<TAB>a,b; one wrong is a mistake");
  add_learner_options(verb, options->learner, program.mentioned);
  verb->add_option("--query-strategy", options->strategy.name,
                   "how `next` chooses; `copse query --help` lists all")
      ->type_name("NAME")
      ->default_str(options->strategy.name);
  verb->add_option("--journal", options->journal,
                   "keep what is told: on the disk before it is answered, taken up again at the next start")
      ->type_name("FILE");
  verb->add_option("--repeats", options->repeats,
                   "a node that comes again with a label: correct what was told, or count it as a trial like "
                   "any other (label noise), in which learners that correct themselves guess anew")
      ->check(CLI::IsMember({"correct", "count"}))
      ->default_str(options->repeats);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, online);
}

}  // namespace copse::cli
