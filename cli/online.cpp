// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <queue>
#include <unordered_map>

#include "choices.hpp"
#include "copse/learners/sequential_learner.hpp"
#include "copse/learners/tree_committee.hpp"
#include "inputs.hpp"
#include "journal.hpp"
#include "line_reader.hpp"

namespace copse::cli {
namespace {

struct OnlineOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner{.name = "wta", .values = {}};
  std::string journal;
  std::string repeats = "correct";
  double half_life = 0;  // 0: labels stay
};

// Across a negative edge lies the other class, also while nobody has named it.
std::string class_name(const ClassNames& classes, Label label) {
  return label < classes.size() ? std::string(classes.name(label)) : "not " + std::string(classes.name(0));
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char byte : line)
    if (byte == '\t')
      fields.emplace_back();
    else
      fields.back() += byte;
  return fields;
}

/// +<TAB>u<TAB>v[<TAB>weight] or -<TAB>u<TAB>v. Two fields are a node of that name and its label.
bool changes_graph(const std::vector<std::string>& fields) {
  return (fields[0] == "+" && (fields.size() == 3 || fields.size() == 4)) ||
         (fields[0] == "-" && fields.size() == 3);
}

/// The graph, the labels and the learner of a session, as they change.
class Knowledge {
 public:
  Knowledge(const NamedGraph& graph, Labels&& labels, Learner& learner, double half_life)
      : graph_(graph), labels_(std::move(labels)), learner_(learner), half_life_(half_life) {
    for (NodeId node = 0; node < labels_.of_node.size(); ++node)
      if (labels_.of_node[node] != kNoLabel) tell(node, labels_.of_node[node], 0);
  }

  const ClassNames& classes() const { return labels_.classes; }
  Label label(NodeId node) const { return labels_.of_node[node]; }
  std::optional<NodeId> find(const std::string& name) const {
    if (const auto node = new_nodes_.find(name); node != new_nodes_.end()) return node->second;
    return graph_.names.find(name);
  }

  Label tell(NodeId node, const std::string& name) {
    const Label label = labels_.classes.intern(name);
    tell(node, label, 1);
    return label;
  }
  void take_back(NodeId node) {
    learner_.retract(node);
    labels_.of_node[node] = kNoLabel;
    told_.erase(node);
  }
  /// UsageError, and nothing has changed, where it cannot be.
  void change_graph(const std::vector<std::string>& fields) {
    TreeCommittee& committee = changing_committee(learner_);
    const Weight weight = fields.size() == 4 ? weight_of(fields[3]) : Weight{1};
    if (fields[0] == "-") return committee.remove_edge(old_node(fields[1]), old_node(fields[2]));
    committee.check_edge(fields[1] == fields[2], weight);
    for (const std::string& name : {fields[1], fields[2]}) {
      check_name(name, "edge");
      if (name.empty()) throw UsageError("edge", "a node has no name", "a line is +<TAB>u<TAB>v<TAB>weight");
    }
    const NodeId u = node_of(committee, fields[1]), v = node_of(committee, fields[2]);
    committee.add_edge(u, v, weight);
  }
  /// One line of a journal; false if it is of another graph.
  bool repeat(const std::string& line) {
    const std::vector<std::string> fields = fields_of(line);
    if (changes_graph(fields)) return change_graph(fields), true;
    const std::optional<NodeId> node = find(fields[0]);
    if (fields.size() != 2 || !node) return false;
    if (fields[1].empty())
      take_back(*node);
    else
      tell(*node, fields[1]);
    return true;
  }

 private:
  struct Due {
    double time;
    std::uint64_t number;  // of the label
    NodeId node;
    bool operator<(const Due& other) const { return time > other.time; }  // the queue gives the largest
  };

  /// Lifetimes are exponential, so that half of the labels outlive half_life further ones; multiples of the
  /// golden ratio are spread more evenly than random numbers.
  void tell(NodeId node, Label label, std::uint64_t steps) {
    learner_.reveal(node, label);
    labels_.of_node[node] = label;
    if (half_life_ == 0) return;
    now_ += steps;
    told_[node] = ++num_told_;
    const double share = static_cast<double>(num_told_ * 0x9E3779B97F4A7C15 >> 11) * 0x1p-53;
    due_.push({static_cast<double>(now_) - half_life_ * std::log2(1 - share), num_told_, node});
    for (; due_.top().time < static_cast<double>(now_); due_.pop())
      if (const auto told = told_.find(due_.top().node);
          told != told_.end() && told->second == due_.top().number)
        take_back(due_.top().node);
  }

  static Weight weight_of(const std::string& text) {
    Weight weight = 0;
    const char* const end = text.data() + text.size();
    if (const auto parsed = std::from_chars(text.data(), end, weight);
        parsed.ec != std::errc{} || parsed.ptr != end)
      throw UsageError("edge", "weight " + copse::quoted(text) + " is not a number",
                       "a line is +<TAB>u<TAB>v<TAB>weight");
    return weight;
  }
  NodeId old_node(const std::string& name) const {
    if (const std::optional<NodeId> node = find(name)) return *node;
    throw UsageError("edge", "the graph has no node " + copse::quoted(name),
                     "only an edge of the graph can be removed");
  }
  NodeId node_of(TreeCommittee& committee, const std::string& name) {
    if (const std::optional<NodeId> node = find(name)) return *node;
    labels_.of_node.push_back(kNoLabel);
    return new_nodes_[name] = committee.add_node();
  }

  const NamedGraph& graph_;
  Labels labels_;
  Learner& learner_;
  std::unordered_map<std::string, NodeId> new_nodes_;
  double half_life_;
  std::uint64_t now_ = 0, num_told_ = 0;
  std::unordered_map<NodeId, std::uint64_t> told_;  // number of the label that counts
  std::priority_queue<Due> due_;
};

// Why a line cannot be answered; empty if it can. No line ends the session: what follows may be worth more.
std::string trouble_with(const std::vector<std::string>& fields, const NamedGraph& graph,
                         const Knowledge& known) {
  const std::string left_out = "\n  the line is left out";
  if (fields.size() == 1 && fields[0].empty()) return "the line is empty\n  a line is node or node<TAB>label";
  if (!known.find(fields[0])) return "the graph has no node " + copse::quoted(fields[0]) + left_out;
  if (fields.size() > 2) return "more than two fields\n  a line is node or node<TAB>label";
  const std::string told = fields.size() == 2 ? fields[1] : "";
  const bool is_new = !told.empty() && known.classes().find(told) == kNoLabel;
  if (is_new && known.classes().size() >= 2 && graph.graph.view().is_signed())
    return copse::quoted(told) + " is a third class, and the graph has negative edges" + left_out;
  if (is_new && known.classes().size() >= kMaxClasses)
    return copse::quoted(told) + " is one class too many: copse knows up to " + with_commas(kMaxClasses) +
           left_out;
  return "";
}

struct Game {
  std::uint64_t num_lines = 0, num_trials = 0, num_mistakes = 0, num_unknown = 0;
};

int online(Session& session, const OnlineOptions& options) {
  check_standard_input({"-", options.graph.path, options.labels.path, options.graph.nodes});
  const LearnerRow& row = options.learner.row();
  row.check(options.learner.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  Labels labels = options.labels.read_if_given(session, graph.names);
  check_online_memory(row, options.learner.values, graph.graph, session.threads);
  const std::unique_ptr<Learner> learner = row.make(graph.graph, options.learner.values, session.execution());
  Knowledge known(graph, std::move(labels), *learner, options.half_life);
  Journal journal(options.journal);
  const std::uint64_t num_replayed =
      journal.replay([&](const std::string& line) { return known.repeat(line); });
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
  const auto complain = [&](const std::string& trouble) {
    ++game.num_unknown;
    session.complain(at("standard input", game.num_lines) + ": " + trouble);
  };
  for (std::string line; reader.next(line, [&] {
         send();
         output.flush();
       });) {
    ++game.num_lines;
    const std::vector<std::string> fields = fields_of(line);
    std::string_view status = "error";
    if (changes_graph(fields)) {
      try {
        known.change_graph(fields);
        journal.add(line);
        status = fields[0] == "+" ? "added" : "removed";
      } catch (const Error& error) {
        complain(error.what());
      }
      answers.text(fields[1]).missing().missing().missing();
    } else if (const std::string trouble = trouble_with(fields, graph, known); !trouble.empty()) {
      complain(trouble);
      answers.text(fields[0]).missing().missing().missing();
    } else {
      const NodeId node = *known.find(fields[0]);
      const std::string told = fields.size() == 2 ? fields[1] : "";
      const bool is_known = known.label(node) != kNoLabel;
      const bool comes_again = is_known && !told.empty() && options.repeats == "count";
      status = is_known && !comes_again ? "given" : "";
      const bool is_trial = !told.empty() && (!is_known || comes_again);
      if (fields.size() == 2 && told.empty()) {
        known.take_back(node);
        journal.add(line);
        status = "retracted";
      }
      const Prediction answer = comes_again ? guess_again(*learner, node) : learner->predict(node);
      if (status.empty()) status = answer.reached ? "predicted" : "unreached";
      answers.text(fields[0]);
      if (answer.label == kNoLabel)
        answers.missing();
      else
        answers.text(class_name(known.classes(), answer.label));
      answers.number(answer.confidence);
      if (told.empty()) {
        answers.missing();
      } else {
        const Label label = known.tell(node, told);
        journal.add(line);
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
      "  node<TAB>       takes the label back, then asks\n"
      "  +<TAB>u<TAB>v<TAB>weight, -<TAB>u<TAB>v\n"
      "                  an edge comes, with its nodes if they are new, or goes (the weight may be left "
      "out;\n"
      "                  with --learner wta or tree_cut and --tree random_key)\n\n"
      "One row per line, sent before the next line is waited for; with --json an object a line. A line\n"
      "that cannot be answered gets a row without a prediction, of status error. The others are predicted,\n"
      "unreached (no label reaches the node), given (its label was known), retracted, added or removed.\n"
      "-o FILE can be given back as --labels: the last label of a node counts. What was answered is in FILE "
      "of -o even\n"
      "if the session is killed; a compressed FILE is whole only when the session ends.",
      {"copse online graph.tsv < labels.tsv",
       R"(printf '+\ta\tnew\nnew\n' | copse online graph.tsv --labels labels.tsv --tree random_key)",
       R"(printf 'a\nb\tred\nb\t\n' | copse online graph.tsv --labels labels.tsv --json)"});
  auto options = std::make_shared<OnlineOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels);
  add_learner_options(verb, options->learner, program.mentioned);
  verb->add_option("--journal", options->journal,
                   "keep what is told: on the disk before it is answered, taken up again at the next start")
      ->type_name("FILE");
  verb->add_option(
          "--half-life", options->half_life,
          "forget labels, each after a time of its own: half of them after so many further ones [never]")
      ->type_name("LABELS")
      ->check(CLI::PositiveNumber);
  verb->add_option("--repeats", options->repeats,
                   "a node that comes again with a label: correct what was told, or count it as a trial like "
                   "any other (label noise), in which learners that correct themselves guess anew")
      ->check(CLI::IsMember({"correct", "count"}))
      ->default_str(options->repeats);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, online);
}

}  // namespace copse::cli
