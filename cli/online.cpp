// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "copse/learners/sequential_learner.hpp"
#include "knowledge.hpp"
#include "line_reader.hpp"

namespace copse::cli {
namespace {

struct OnlineOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner{.name = "online_pool", .values = {}};
  StrategyChoice strategy{.name = "disagreement", .values = {}};
  std::string journal;
  bool counts_repeats = false;
  double half_life = 0;  // 0: labels stay
};

// Across a negative edge lies the other class, also while nobody has named it.
std::string class_name(const ClassNames& classes, Label label) {
  return label < classes.size() ? std::string(classes.name(label)) : "not " + std::string(classes.name(0));
}

class OnlineGame {
 public:
  OnlineGame(Session& session, const OnlineOptions& options, const GraphView& graph, Knowledge& known,
             Learner& learner, Journal& journal)
      : answers_(kColumns, session.json ? TableStyle::json_lines : TableStyle::tsv, session.digits),
        session_(session),
        options_(options),
        is_signed_(graph.is_signed()),
        known_(known),
        learner_(learner),
        journal_(journal) {}

  void answer(const std::string& text);
  /// Says how it went.
  int finish() const;
  static inline const std::vector<std::string> kColumns{"node",  "predicted", "confidence",
                                                        "label", "mistakes",  "status"};
  std::string& bytes() { return answers_.bytes; }

 private:
  using Fields = std::vector<std::string>;

  std::string trouble_with(const Fields& fields) const;
  std::string trouble_with_verb(const std::string& verb) const;
  void complain(const std::string& trouble, const std::string& name);
  void change_graph(const Fields& fields, const std::string& text);
  void answer_node(const Fields& fields, const std::string& text);
  void answer_next();
  void answer_verb(const Fields& fields);
  AnsweredSet answered_set(NodeId node) const;
  void add_prediction(const Prediction& answer, const AnsweredSet& several);

  RowBuffer answers_;
  Session& session_;
  const OnlineOptions& options_;
  bool is_signed_;
  Knowledge& known_;
  Learner& learner_;
  Journal& journal_;
  std::uint64_t num_lines_ = 0, num_trials_ = 0, num_mistakes_ = 0, num_unknown_ = 0;
};

// node<TAB><TAB>verb: neither ids nor labels hold a tab.
bool is_verb(const std::vector<std::string>& fields) { return fields.size() == 3 && fields[1].empty(); }

std::string OnlineGame::trouble_with_verb(const std::string& verb) const {
  if (verb != "scores" && verb != "explain" && verb != "next")
    return copse::quoted(verb) +
           " is not one of scores, explain, next\n  a line is node, node<TAB>label or node<TAB><TAB>verb";
  if (verb != "next" && !session_.json)
    return verb + " does not fit into a table\n  start the session with --json";
  return "";
}

// Why a line cannot be answered; empty if it can. No line ends the session: what follows may be worth more.
std::string OnlineGame::trouble_with(const Fields& fields) const {
  const std::string left_out = "\n  the line is left out";
  if (is_verb(fields))
    if (const std::string trouble = trouble_with_verb(fields[2]); !trouble.empty() || fields[2] == "next")
      return trouble;
  if (fields.size() == 1 && fields[0].empty()) return "the line is empty\n  a line is node or node<TAB>label";
  if (!known_.find(fields[0])) return "the graph has no node " + copse::quoted(fields[0]) + left_out;
  if (is_verb(fields)) return "";
  if (fields.size() > 2) return "more than two fields\n  a line is node or node<TAB>label";
  const std::string told = fields.size() == 2 ? fields[1] : "";
  const GivenLabels& labels = known_.labels();
  const bool is_new = !told.empty() && labels.find(told) == kNoLabel;
  if (labels.is_multi && !told.empty() && split(told, ',').empty())
    return copse::quoted(told) + " names no label" + left_out;
  if (is_new && labels.num_answers() >= 2 && is_signed_)
    return copse::quoted(told) + " is a third class, and the graph has negative edges" + left_out;
  if (is_new && labels.num_answers() >= kMaxClasses)
    return copse::quoted(told) + " is one class too many: copse knows up to " + with_commas(kMaxClasses) +
           left_out;
  return "";
}

void OnlineGame::complain(const std::string& trouble, const std::string& name) {
  ++num_unknown_;
  session_.complain(at("standard input", num_lines_) + ": " + trouble);
  answers_.text(name).missing().missing().missing().count(num_mistakes_).text("error").end_row();
}

void OnlineGame::answer(const std::string& text) {
  ++num_lines_;
  const Fields fields = fields_of(text);
  if (changes_graph(fields)) return change_graph(fields, text);
  if (const std::string trouble = trouble_with(fields); !trouble.empty()) return complain(trouble, fields[0]);
  if (!is_verb(fields)) return answer_node(fields, text);
  if (fields[2] == "next") return answer_next();
  answer_verb(fields);
}

void OnlineGame::change_graph(const Fields& fields, const std::string& text) try {
  known_.change_graph(fields);
  journal_.add(text);
  answers_.text(fields[1]).missing().missing().missing().count(num_mistakes_);
  answers_.text(fields[0] == "+" ? "added" : "removed").end_row();
} catch (const Error& error) {
  complain(error.what(), fields[1]);
}

// With --multi-label the classes above one half, or else the best; otherwise none.
AnsweredSet OnlineGame::answered_set(NodeId node) const {
  if (!known_.labels().is_multi) return {};
  std::vector<double> scores(learner_.num_classes());
  learner_.scores(node, scores);
  return classes_above(known_.labels().class_scores(scores),
                       std::vector<double>(known_.labels().classes().size(), kJustAboveHalf));
}

void OnlineGame::add_prediction(const Prediction& answer, const AnsweredSet& several) {
  if (answer.label == kNoLabel)
    answers_.missing();
  else if (known_.labels().is_multi)
    answers_.list(known_.labels().names(std::span(several.classes)));
  else
    answers_.text(class_name(known_.labels().one.classes, answer.label));
  answers_.number(known_.labels().is_multi ? several.confidence : answer.confidence);
}

void OnlineGame::answer_node(const Fields& fields, const std::string& text) {
  const NodeId node = *known_.find(fields[0]);
  const bool tells = fields.size() == 2 && !fields[1].empty(), is_known = known_.label(node) != kNoLabel;
  const bool comes_again = is_known && tells && options_.counts_repeats;
  std::string_view status = is_known && !comes_again ? "given" : "";
  if (fields.size() == 2 && !tells) {
    known_.take_back(node);
    journal_.add(text);
    status = "retracted";
  }
  const Prediction answer = comes_again ? learner_.guess(node) : learner_.predict(node);
  if (status.empty()) status = answer.reached ? "predicted" : "unreached";
  const AnsweredSet several = answered_set(node);
  answers_.text(fields[0]);
  add_prediction(answer, several);
  if (tells) {
    const GivenLabels& labels = known_.labels();
    const Label label = known_.tell(node, fields[1]);
    journal_.add(text);
    const bool is_trial = !is_known || comes_again;  // correcting a label that was told before is no guess
    const bool is_right =
        labels.is_multi ? several.classes == labels.many.sets[label] : answer.label == label;
    if (is_trial) ++num_trials_;
    if (is_trial && !is_right) ++num_mistakes_;
    labels.write(answers_, labels.names(label));
  } else {
    answers_.missing();
  }
  answers_.count(num_mistakes_).text(status).end_row();
}

void OnlineGame::answer_next() {
  const std::optional<NodeId> node = known_.next(options_.strategy, session_.execution());
  if (!node) {
    answers_.missing().missing().missing().missing().count(num_mistakes_).text("none").end_row();
    return;
  }
  answers_.text(known_.name(*node));
  add_prediction(learner_.predict(*node), answered_set(*node));
  answers_.missing().count(num_mistakes_).text("next").end_row();
}

// An object with the classes' scores, or with the labelled nodes that decided and their shares.
void OnlineGame::answer_verb(const Fields& fields) {
  const NodeId node = *known_.find(fields[0]);
  const GivenLabels& labels = known_.labels();
  std::vector<std::string> names;
  std::vector<double> values;
  if (fields[2] == "scores") {
    values.resize(learner_.num_classes());
    learner_.scores(node, values);
    if (labels.is_multi) values = labels.class_scores(values);
    for (Label label = 0; label < values.size(); ++label)
      names.push_back(class_name(labels.classes(), label));
  } else {
    for (const Reason& reason : learner_.explain(node)) {
      names.push_back(known_.name(reason.node));
      values.push_back(reason.share);
    }
  }
  RowBuffer row({"node", "status", fields[2]}, TableStyle::json_lines, session_.digits);
  row.text(fields[0]).text(fields[2]).numbers(names, values).end_row();
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

// The default where its embedding takes seconds; trees alone are ready sooner and smaller.
constexpr std::uint64_t kMostPooledNodes = 200'000, kMostPooledArcs = 10'000'000;

const LearnerRow& learner_for(const GraphView& graph, const LearnerChoice& choice) {
  bool is_for_trees = graph.num_nodes() > kMostPooledNodes || graph.num_arcs() > kMostPooledArcs;
  for (const auto& given : choice.values)
    is_for_trees |= option_text(choice.row(), choice.values, given.first).empty();
  return is_for_trees && !choice.is_given ? learner_row("wta") : choice.row_for(graph);
}

int online(Session& session, const OnlineOptions& options) {
  check_standard_input(options.graph, {"-", options.labels.path});
  if (options.learner.is_given) options.learner.row().check(options.learner.values);
  options.strategy.row().check(options.strategy.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const LearnerRow& row = learner_for(graph.graph, options.learner);
  row.check(options.learner.values);
  GivenLabels labels = options.labels.read_any(session, graph.names);
  labels.refuse_commas();
  check_online_memory(row, options.learner.values, graph.graph, session.threads);
  const std::unique_ptr<Learner> learner = row.make(graph.graph, options.learner.values, session.execution());
  Knowledge known(graph, std::move(labels), *learner, options.half_life);
  Journal journal(options.journal);
  const std::uint64_t num_replayed =
      journal.replay([&](const std::string& line) { return known.repeat(line); });
  if (num_replayed > 0) session.say(options.journal + ": " + counted(num_replayed, "line") + " taken up");
  session.say("{} is ready, seed {}: node asks, node<TAB>label tells, node<TAB> takes a label back",
              described_text(row, options.learner.values), session.seed);

  if (!session.json) output.write(fmt::format("{}\n", fmt::join(OnlineGame::kColumns, "\t")));
  output.publish();
  OnlineGame game(session, options, graph.graph, known, *learner, journal);
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
      "                  (with --json)\n"
      "  +<TAB>u<TAB>v<TAB>weight, -<TAB>u<TAB>v\n"
      "                  an edge comes, with its nodes if they are new, or goes (the weight may be left "
      "out;\n"
      "                  with --learner wta or tree_cut and --tree random_key)\n\n"
      "One row per line, sent before the next line is waited for; with --json an object a line. A line\n"
      "that cannot be answered gets a row without a prediction, of status error. The others are predicted,\n"
      "unreached (no label reaches the node), given (its label was known), retracted, next, added or\n"
      "removed. -o FILE can be given back as --labels: the last label of a node counts. What was answered\n"
      "is in FILE of -o even "
      "if the session is killed; a compressed FILE is whole only when the session ends.",
      {"copse online graph.tsv < labels.tsv",
       R"(printf '+\ta\tnew\nnew\n' | copse online graph.tsv --labels labels.tsv --tree random_key)",
       R"(printf 'a\nb\tred\nb\t\n' | copse online graph.tsv --labels labels.tsv --json)"});
  auto options = std::make_shared<OnlineOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels);
  add_multi_label_flag(verb, options->labels, "told and answered as node<TAB>a,b; one wrong is a mistake");
  add_learner_options(verb, options->learner, program.mentioned);
  if (program.mentioned.learners.empty())
    add_option_flags(verb, {&learner_row("wta")}, options->learner.values);
  add_option(verb, "--query-strategy NAME", options->strategy.name,
             "how `next` chooses; `copse query --help` lists all");
  add_option(verb, "--journal FILE", options->journal,
             "keep what is told: on the disk before it is answered, taken up again at the next start");
  add_option(verb, "--half-life LABELS", options->half_life,
             "forget labels, each after a time of its own: half of them after so many further ones [never]")
      ->check(positive());
  add_choice(verb, "--repeats", {{"correct", false}, {"count", true}}, options->counts_repeats,
             "a node that comes again with a label: correct what was told, or count it as a trial like "
             "any other (label noise), in which learners that correct themselves guess anew");
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, online);
}

}  // namespace copse::cli
