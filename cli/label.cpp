// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "choices.hpp"
#include "copse/evaluation/learning_curve.hpp"
#include "copse/queries/query.hpp"
#include "inputs.hpp"
#include "io/table.hpp"
#include "line_reader.hpp"
#include "support/byte_source.hpp"
#include "support/decompress.hpp"

namespace copse::cli {
namespace {

struct LabelVerbOptions {
  GraphInput graph;
  std::string labels;
  StrategyChoice strategy;
  std::string learner = "wta";
  std::int64_t hint_every = 10;
};

// Questions are no notes: --quiet does not silence them.
void tell(const std::string& text) { fmt::print(stderr, "{}\n", text); }
template <class First, class... Rest>
void tell(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  tell(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

// The file of labels: an answer is a line at its end, on the disk before the next question; taking it back
// cuts the file to where it was. What stood there before the session is never touched.
class LabelFile {
 public:
  LabelFile(const std::string& path, const NodeNames& names, const Execution& execution) : path_(path) {
    if (path == "-" || without_compression(path).size() != path.size())
      throw UsageError(path, "answers are put at the end of the file, which cannot be done here",
                       "name a file of text, as in --labels mine.tsv");
    if (std::filesystem::exists(path)) has_rows_ = look_at(names, execution);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0 || (end_ = ::lseek(descriptor_, 0, SEEK_END)) < 0) fail("opened");
    char last = '\n';
    if (end_ > 0 && ::pread(descriptor_, &last, 1, end_ - 1) == 1 && last != '\n') put("\n");
    if (end_ == 0) put("node\tlabel\n");
  }
  LabelFile(const LabelFile&) = delete;
  LabelFile& operator=(const LabelFile&) = delete;
  ~LabelFile() { ::close(descriptor_); }

  bool has_rows() const { return has_rows_; }
  void append(const std::string& node, const std::string& label) {
    answers_.push_back(end_);
    put(field(node) + delimiter_ + field(label) + "\n");
  }
  void take_back() {
    if (::ftruncate(descriptor_, answers_.back()) != 0) fail("cut");
    end_ = answers_.back();
    answers_.pop_back();
    ::fsync(descriptor_);
  }
  std::size_t num_answers() const { return answers_.size(); }

 private:
  // Whether there is any label; what separates its fields. A file of other columns could not be gone on with.
  bool look_at(const NodeNames& names, const Execution& execution) {
    ByteSource source = ByteSource::open(path_, execution);
    TableRows rows(source, "labels are lines \"node label\"");
    const TableSample sample = rows.sample();
    if (sample.lines.empty()) return false;
    delimiter_ = detect_delimiter(sample, path_);
    UnquotedText unquoted;
    const RowFields first = split_fields(sample.lines[0], delimiter_, unquoted, path_, sample.numbers[0]);
    if (first.size() != 2)
      throw InputError(at(path_, sample.numbers[0]), fmt::format("found {} columns", first.size()),
                       "answers are put into a file of two columns, node and label: name another file");
    const bool is_header = is_name_of(Role::label, first[1]) && !names.find(first[0]);
    if (is_name_of(Role::label, first[0]) && is_name_of(Role::node, first[1]))
      throw InputError(at(path_, sample.numbers[0]), "the label stands before the node",
                       "answers are put into a file of two columns, node and label: name another file");
    return sample.lines.size() > 1 || !is_header;
  }

  // In quotes where it would be read as something else.
  std::string field(const std::string& text) const {
    const bool is_plain = text.find_first_of("#%\"") != 0 && text.find(delimiter_) == std::string::npos &&
                          trimmed(text).size() == text.size();
    if (is_plain) return text;
    std::string quoted_text = "\"";
    for (const char c : text) quoted_text.append(c == '"' ? 2 : 1, c);
    return quoted_text + "\"";
  }

  void put(const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::pwrite(descriptor_, text.data() + done, text.size() - done, end_);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) fail("written");
      done += static_cast<std::size_t>(wrote);
      end_ += wrote;
    }
    ::fsync(descriptor_);
  }

  [[noreturn]] void fail(const char* what) const {
    throw InputError(path_, fmt::format("cannot be {}: {}", what, std::strerror(errno)),
                     "check the disk and the rights of the file; what was answered before is kept");
  }

  std::string path_;
  char delimiter_ = '\t';
  bool has_rows_ = false;
  int descriptor_ = -1;
  off_t end_ = 0;
  std::vector<off_t> answers_;  // where those of this session begin
};

class Labelling {
 public:
  Labelling(Session& session, const LabelVerbOptions& options, const NamedGraph& graph)
      : session_(session),
        options_(options),
        graph_(graph),
        file_(options.labels, graph.names, session.execution()),
        strategy_(options.strategy.row().make(graph.graph, options.strategy.values, session.execution())) {
    if (file_.has_rows())
      labels_ = read_labels(options.labels, graph.names, {}, nullptr, session.execution());
    labels_.of_node.resize(graph.names.size(), kNoLabel);
    strategy_->start(labels_.of_node);
  }

  void run() {
    tell("type a label, or its number in the list; an empty line skips, /u undoes, /q quits");
    LineReader reader;
    while (ask()) {
      std::string line;
      if (!reader.next(line, [] {})) break;
      if (line == "/q" || line == "/quit") break;
      take(line);
    }
    tell("{} added to {}", counted(file_.num_answers(), "label"), options_.labels);
  }

 private:
  struct Step {
    NodeId node;
    bool is_answer;  // or it was skipped
    bool is_new;     // the first of its class
  };

  bool ask() {
    const std::vector<Query> next = strategy_->next(1);
    session_.bar().clear();
    if (next.empty()) {
      tell("every node has a label or was skipped");
      return false;
    }
    node_ = next[0].node;
    std::string choice;
    for (std::size_t c = 0; c < labels_.classes.size(); ++c)
      choice += fmt::format("{}{} {}", c == 0 ? "" : ", ", c + 1, labels_.classes.names()[c]);
    tell("\n{}{}\n{}", emphasized(graph_.names.name(node_), STDERR_FILENO), neighbors(),
         choice.empty() ? "no class yet: type the first" : choice);
    return true;
  }

  // The heaviest of them, with their labels.
  std::string neighbors() const {
    constexpr std::size_t kShown = 6;
    const GraphView& view = graph_.graph.view();
    std::vector<EdgeIndex> arcs;
    for (EdgeIndex arc = view.offsets[node_]; arc < view.offsets[node_ + 1]; ++arc) arcs.push_back(arc);
    const std::size_t shown = std::min(kShown, arcs.size());
    std::partial_sort(arcs.begin(), arcs.begin() + static_cast<std::ptrdiff_t>(shown), arcs.end(),
                      [&](EdgeIndex a, EdgeIndex b) {
                        return view.is_weighted() && view.weights[a] != view.weights[b]
                                   ? view.weights[a] > view.weights[b]
                                   : a < b;
                      });
    std::string text = arcs.empty() ? "  no neighbours" : "  next to ";
    for (std::size_t i = 0; i < shown; ++i) {
      const NodeId neighbor = view.neighbors[arcs[i]];
      const Label label = labels_.of_node[neighbor];
      text += (i == 0 ? "" : ", ") + graph_.names.name(neighbor) +
              (label == kNoLabel ? "" : " (" + labels_.classes.name(label) + ")");
    }
    return text + (shown < arcs.size() ? fmt::format(" and {} more", arcs.size() - shown) : "");
  }

  void take(const std::string& line) {
    if (line.empty()) {
      steps_.push_back({node_, false, false});
      strategy_->exclude(node_);
    } else if (line == "/u" || line == "/undo") {
      undo();
    } else if (line[0] == '/') {
      tell(copse::quoted(line) + " is no command: an empty line skips, /u undoes, /q quits");
    } else {
      answer(line);
    }
  }

  // By number, unless a class is called by one.
  std::string class_of(const std::string& line) const {
    const auto is_number = [](const std::string& text) {
      return text.find_first_not_of("0123456789") == std::string::npos;
    };
    const auto& names = labels_.classes.names();
    if (!is_number(line) || line.size() > 5 || std::ranges::any_of(names, is_number)) return line;
    const std::size_t number = std::stoul(line);
    return number >= 1 && number <= names.size() ? names[number - 1] : line;
  }

  void answer(const std::string& line) {
    const std::string name = class_of(line);
    try {
      check_name(name, "standard input");
    } catch (const InputError& error) {
      return tell(error.problem());
    }
    const bool is_new = labels_.classes.find(name) == kNoLabel;
    if (is_new && labels_.classes.size() >= (graph_.graph.view().is_signed() ? 2 : kMaxClasses))
      return tell(copse::quoted(name) + " is one class too many");
    file_.append(graph_.names.name(node_), name);
    if (is_new && labels_.classes.size() != 0) tell("new class " + copse::quoted(name) + " (/u undoes)");
    labels_.of_node[node_] = labels_.classes.intern(name);
    steps_.push_back({node_, true, is_new});
    strategy_->reveal(node_, labels_.of_node[node_]);
    hint();
  }

  void undo() {
    if (steps_.empty()) return tell("there is nothing to undo");
    const Step step = steps_.back();
    steps_.pop_back();
    if (step.is_answer) {
      file_.take_back();
      labels_.of_node[step.node] = kNoLabel;
      strategy_->retract(step.node);
    } else {
      strategy_->readmit(step.node);
    }
    if (step.is_new) forget_last_class();
    tell("taken back: " + graph_.names.name(step.node));
  }

  // A word mistyped is offered no more.
  void forget_last_class() {
    const std::vector<std::string> names = labels_.classes.names();
    labels_.classes = {};
    for (std::size_t c = 0; c + 1 < names.size(); ++c) labels_.classes.intern(names[c]);
  }

  // Whether further labels pay, by those that are there.
  void hint() {
    constexpr std::uint64_t kFewest = 16;  // of the curve
    if (options_.hint_every < 1 || labels_.num_labelled() < kFewest ||
        file_.num_answers() % static_cast<std::uint64_t>(options_.hint_every) != 0)
      return;
    const Contestant learner = parse_contestants(options_.learner, {}).front();
    const LearningCurve curve = estimate_learning_curve(graph_.graph, labels_, *learner.row, learner.values,
                                                        10, session_.execution());
    session_.bar().clear();
    tell("{}: {}", counted(labels_.num_labelled(), "label"), curve.hint);
  }

  Session& session_;
  const LabelVerbOptions& options_;
  const NamedGraph& graph_;
  LabelFile file_;
  Labels labels_;
  std::unique_ptr<QueryStrategy> strategy_;
  std::vector<Step> steps_;
  NodeId node_ = kNoNode;
};

int label(Session& session, const LabelVerbOptions& options) {
  check_standard_input(options.graph, {"-", options.labels});
  options.strategy.row().check(options.strategy.values);
  for (const Contestant& one : parse_contestants(options.learner, {})) one.row->check(one.values);
  const NamedGraph graph = options.graph.read(session);
  check_memory(options.strategy, graph.graph, 2, session.threads);
  Labelling(session, options, graph).run();
  return kDone;
}

}  // namespace

void add_label(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "label",
               "Label nodes one by one in the terminal, the most useful first\n\n"
               "Each answer is saved before the next question; the file may be new, and a session may go on\n"
               "where the last one ended.\n\nStrategies:" +
                   strategies_text(),
               {"copse label graph.tsv --labels mine.tsv",
                "copse label graph.tsv --labels mine.tsv --strategy cover"});
  auto options = std::make_shared<LabelVerbOptions>();
  add_graph_options(verb, options->graph)->required();
  add_option(verb, "--labels FILE", options->labels, "the file of labels that answers are added to")
      ->required();
  add_strategy_options(verb, "--strategy", options->strategy, program.mentioned);
  add_option(verb, "--hint-every N", options->hint_every,
             "after so many answers say what more would gain, from 16 labels on; 0: never");
  add_option(verb, "--learner NAME", options->learner, "whose error the hint estimates, as name:key=value");
  add_common(verb, program.session, kSeed | kThreads);
  on_run(verb, program.session, options, label);
}

}  // namespace copse::cli
