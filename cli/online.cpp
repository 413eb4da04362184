// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include "choices.hpp"
#include "copse/learners/sequential_learner.hpp"
#include "inputs.hpp"
#include "journal.hpp"
#include "line_reader.hpp"

namespace copse::cli {
namespace {

struct OnlineOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner{.name = "online_pool", .values = {}};
  std::string journal;
  std::string repeats = "correct";
};

// Across a negative edge lies the other class, also while nobody has named it.
std::string class_name(const ClassNames& classes, Label label) {
  return label < classes.size() ? std::string(classes.name(label)) : "not " + std::string(classes.name(0));
}

// Why a line cannot be answered; empty if it can. No line ends the session: what follows may be worth more.
std::string trouble_with(const std::string& line, const std::string& name, const std::string& told,
                         const NamedGraph& graph, const ClassNames& classes) {
  const std::string left_out = "\n  the line is left out";
  if (line.empty()) return "the line is empty\n  a line is node or node<TAB>label";
  if (!graph.names.find(name)) return "the graph has no node " + copse::quoted(name) + left_out;
  if (told.find('\t') != std::string::npos) return "more than two fields\n  a line is node or node<TAB>label";
  const bool is_new = !told.empty() && classes.find(told) == kNoLabel;
  if (is_new && classes.size() >= 2 && graph.graph.view().is_signed())
    return copse::quoted(told) + " is a third class, and the graph has negative edges" + left_out;
  if (is_new && classes.size() >= kMaxClasses)
    return copse::quoted(told) + " is one class too many: copse knows up to " + with_commas(kMaxClasses) +
           left_out;
  return "";
}

// The default where its embedding takes seconds; trees alone are ready sooner and smaller.
constexpr std::uint64_t kMostPooledNodes = 200'000, kMostPooledArcs = 10'000'000;

const LearnerRow& learner_for(const GraphView& graph, const LearnerChoice& choice) {
  const bool is_large = graph.num_nodes() > kMostPooledNodes || graph.num_arcs() > kMostPooledArcs;
  return is_large && !choice.is_given ? learner_row("wta") : choice.row_for(graph);
}

struct Game {
  std::uint64_t num_lines = 0, num_trials = 0, num_mistakes = 0, num_unknown = 0;
};

int online(Session& session, const OnlineOptions& options) {
  check_standard_input({"-", options.graph.path, options.labels.path, options.graph.nodes});
  options.learner.row().check(options.learner.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const LearnerRow& row = learner_for(graph.graph, options.learner);
  Labels labels = options.labels.read_if_given(session, graph.names);
  check_online_memory(row, options.learner.values, graph.graph, session.threads);
  const std::unique_ptr<Learner> learner = row.make(graph.graph, options.learner.values, session.execution());
  for (NodeId node = 0; node < labels.of_node.size(); ++node)
    if (labels.of_node[node] != kNoLabel) learner->reveal(node, labels.of_node[node]);
  Journal journal(options.journal);
  const std::uint64_t num_replayed = journal.replay(graph.names, labels, *learner);
  session.bar().clear();
  if (num_replayed > 0) session.say(options.journal + ": " + counted(num_replayed, "line") + " taken up");
  session.say(
      fmt::format("{} is ready, seed {}: node asks, node<TAB>label tells, node<TAB> takes a label back",
                  described_text(row, options.learner.values), session.seed));

  const std::vector<std::string> columns{"node", "predicted", "confidence", "label", "mistakes", "status"};
  RowBuffer answers(columns, session.json ? TableStyle::json_lines : TableStyle::tsv, session.digits);
  if (!session.json) output.write(fmt::format("{}\n", fmt::join(columns, "\t")));
  output.publish();
  const auto send = [&] {
    journal.sync();  // what is answered is on the disk
    output.write(answers.bytes);
    answers.bytes.clear();
  };
  Game game;
  LineReader reader;
  for (std::string line; reader.next(line, [&] {
         send();
         output.flush();
       });) {
    ++game.num_lines;
    const std::size_t tab = line.find('\t');
    const std::string name = line.substr(0, tab);
    const std::string told = tab == std::string::npos ? "" : line.substr(tab + 1);
    const std::optional<NodeId> node = graph.names.find(name);
    const std::string trouble = trouble_with(line, name, told, graph, labels.classes);
    answers.text(name);
    std::string_view status = "error";
    if (!trouble.empty()) {
      ++game.num_unknown;
      session.complain(at("standard input", game.num_lines) + ": " + trouble);
      answers.missing().missing().missing();
    } else {
      const bool is_known = labels.of_node[*node] != kNoLabel;
      const bool comes_again = is_known && !told.empty() && options.repeats == "count";
      status = is_known && !comes_again ? "given" : "";
      const bool is_trial = !told.empty() && (!is_known || comes_again);
      if (tab != std::string::npos && told.empty()) {
        learner->retract(*node);
        labels.of_node[*node] = kNoLabel;
        journal.add(name, "");
        status = "retracted";
      }
      const Prediction answer = comes_again ? guess_again(*learner, *node) : learner->predict(*node);
      if (status.empty()) status = answer.reached ? "predicted" : "unreached";
      if (answer.label == kNoLabel)
        answers.missing();
      else
        answers.text(class_name(labels.classes, answer.label));
      answers.number(answer.confidence);
      if (told.empty()) {
        answers.missing();
      } else {
        const Label label = labels.classes.intern(told);
        learner->reveal(*node, label);
        labels.of_node[*node] = label;
        journal.add(name, told);
        if (is_trial) ++game.num_trials;  // correcting a label that was told before is no guess
        if (is_trial && answer.label != label) ++game.num_mistakes;
        answers.text(told);
      }
    }
    answers.count(game.num_mistakes).text(status).end_row();
    if (answers.bytes.size() > (1 << 16)) send();
  }
  send();
  output.commit();
  session.say(fmt::format(
      "{}, {}{}", counted(game.num_trials, "trial"), counted(game.num_mistakes, "mistake"),
      game.num_trials == 0 ? ""
                           : fmt::format(" ({:.2f} %)", 100.0 * static_cast<double>(game.num_mistakes) /
                                                            static_cast<double>(game.num_trials))));
  if (game.num_unknown > 0) session.complain(counted(game.num_unknown, "line") + " could not be answered");
  return was_interrupted() ? kInterrupted : game.num_unknown > 0 ? kBadInput : kDone;
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
      "  node<TAB>       takes the label back, then asks\n\n"
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
  add_learner_options(verb, options->learner, program.mentioned);
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
