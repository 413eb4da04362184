// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "choices.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/support/buffer.hpp"
#include "inputs.hpp"
#include "streamed.hpp"

namespace copse::cli {
namespace {

struct EstimateOptions {
  GraphInput graph;
  double num_nodes = 0, num_edges = 0;  // double: people write 1e8
  bool weighted = false;
  std::size_t num_classes = 2;
  LearnerChoice learner;
  MemoryChoice memory;
};

// Time of this thread, not of the clock on the wall: others may be using the machine just now.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Nanoseconds of a read whose address is known only when the one before has arrived, over as many bytes as
// the run will wander through: what a random walk pays a step. A full-period generator modulo a power of
// two (Hull & Dobell 1962) makes one cycle through all places without a shuffle.
double measure_random_read(std::uint64_t bytes) {
  std::uint64_t places = std::uint64_t{1} << 16;
  while (places * sizeof(std::uint32_t) < bytes && places < (std::uint64_t{1} << 26)) places *= 2;
  Buffer<std::uint32_t> next(places);
  for (std::uint64_t i = 0; i < places; ++i)
    next[i] = static_cast<std::uint32_t>((i * 0x9E3779B5 + 0x7F4A7C15) & (places - 1));
  constexpr std::uint64_t kReads = 1 << 20;
  std::uint32_t place = 0;
  const double start = thread_seconds();
  for (std::uint64_t i = 0; i < kReads; ++i) place = next[place];
  const double seconds = thread_seconds() - start;
  next[0] = place;  // keeps the chain from being optimized away
  return seconds / kReads * 1e9;
}

// A tree costs about two cache misses per node, and linearizing and voting hide behind
// them: 1.0 to 2.5 reads measured on random graphs with power-law and with even degrees, 10^6 nodes.
constexpr double kReadsPerNodeAndTree = 2;
constexpr double kTextSecondsPerEdge = 1e-7;  // of one thread, parsing and building

constexpr std::uint64_t kProgramBytes = std::uint64_t{12} << 20;  // code, libraries, stacks

}  // namespace

// What reading a text takes beside the graph it becomes. Edges wait in buckets, 8 bytes each (12 weighted):
// all of them when the text has been read, beside the block of text and its columns; (1 - x^2) of them, if
// their ends are at random, beside fraction x of the graph. A list of both directions loses half its edges on
// the way.
std::uint64_t reading_bytes(const RunSize& size) {
  constexpr std::uint64_t kTextAndColumns = std::uint64_t{4} << 20;  // of two threads; little beside the rest
  const std::uint64_t an_edge = size.weighted ? 12 : 8, a_row_pair = size.weighted ? 16 : 8;
  const std::uint64_t list = size.edges * an_edge * (size.listed_both_ways ? 2 : 1);
  const std::uint64_t text_at_most = size.edges * (size.listed_both_ways ? 2 : 1) * 32;
  const std::uint64_t parsing = list + std::min(kTextAndColumns, text_at_most);
  const double x =
      0.5 * static_cast<double>(a_row_pair) / static_cast<double>(an_edge);  // where it is largest
  const double building = static_cast<double>(size.edges) *
                          (static_cast<double>(an_edge) * (1 - x * x) + static_cast<double>(a_row_pair) * x);
  const std::uint64_t most = std::max(
      {parsing, static_cast<std::uint64_t>(building), size.listed_both_ways ? list + 8 * size.nodes : 0});
  const std::uint64_t rows = size.edges * a_row_pair;
  return most > rows ? most - rows : 0;
}

std::uint64_t peak_bytes(const RunSize& size, bool is_text, std::uint64_t learner_bytes) {
  const std::uint64_t reading = is_text ? reading_bytes(size) : 0;  // a .copse file is mapped
  return kProgramBytes + size.graph_bytes() + size.name_bytes +
         std::max(reading, sizeof(Label) * size.nodes + learner_bytes);
}

namespace {

int estimate(Session& session, const EstimateOptions& options) {
  const LearnerRow& learner = options.learner.row();
  const OptionValues& values = options.learner.values;
  learner.check(values);
  Output output(session.output);
  RunSize size;
  bool is_text = true;
  if (!options.graph.path.empty()) {
    ReadReport report;
    const NamedGraph graph = options.graph.read(session, &report);
    is_text = report.format != GraphFormat::copse;
    const GraphView view = graph.graph;
    size = {view.num_nodes(), view.num_edges(), 0, view.is_weighted(), report.build.listed_both_ways};
    size.name_bytes = graph.names.bytes();
  } else {
    if (options.num_nodes < 1 || options.num_nodes > static_cast<double>(kMaxNodes) ||
        options.num_edges < 0 || options.num_edges > 1e18)
      throw UsageError("estimate", "needs GRAPH, or --num-nodes and --num-edges in range",
                       "for example --num-nodes 1e7 --num-edges 1e8");
    size = {static_cast<std::uint64_t>(options.num_nodes), static_cast<std::uint64_t>(options.num_edges), 0,
            options.weighted, false};
  }
  const std::uint64_t graph_bytes = size.graph_bytes();
  const std::uint64_t bytes_to_read = is_text ? reading_bytes(size) : 0;  // a .copse file is mapped
  const std::uint64_t learner_bytes =
      learner.bytes({size.nodes, size.arcs(), size.weighted, options.num_classes, session.threads}, values);
  const std::uint64_t label_bytes = 2 * size.nodes;
  const std::uint64_t peak = peak_bytes(size, is_text, learner_bytes);
  const std::uint64_t available = options.memory.bytes != 0 ? options.memory.bytes : available_memory();

  const std::string trees_text = option_text(learner, values, "num_trees");
  const double trees = trees_text.empty() ? 0 : std::stod(trees_text);
  const double threads = std::max(1, session.threads);
  const double read_ns = measure_random_read(graph_bytes);
  const double nodes = static_cast<double>(size.nodes), edges = static_cast<double>(size.edges);
  const double reading_seconds = is_text ? edges * kTextSecondsPerEdge / threads : 0;
  const double tree_seconds = std::max(1.0, trees) * nodes * kReadsPerNodeAndTree * read_ns * 1e-9 /
                              std::min(threads, std::max(1.0, trees));

  const bool fits = available == 0 || peak <= available;
  StreamPlan plan;  // of wta or tree_cut, whatever the learner is
  if (!fits && options.memory.bytes != 0)
    plan = plan_stream(size, options.num_classes,
                       static_cast<std::uint32_t>(trees > 0 ? trees : double{kDefaultTrees}), session.threads,
                       options.memory.bytes);

  Json about{{"verb", "estimate"},         {"graph", options.graph.path},
             {"num_nodes", size.nodes},    {"num_edges", size.edges},
             {"weighted", size.weighted},  {"num_classes", options.num_classes},
             {"threads", session.threads}, {"learner", learner.name}};
  about.update(effective_options(learner, values));
  Table table(output, session, about, {"key", "value"}, Table::Size::small);
  table.add("program_bytes", kProgramBytes);
  table.add("graph_bytes", graph_bytes);
  table.add("name_bytes", size.name_bytes);
  table.add("reading_bytes", bytes_to_read);
  table.add("label_bytes", label_bytes);
  table.add("learner_bytes", learner_bytes);
  table.add("peak_bytes", peak);
  table.add("available_bytes", available);
  if (plan.trees_at_once != 0) {
    table.add("streamed_trees_at_once", plan.trees_at_once);
    table.add("streamed_peak_bytes", plan.bytes);
  }
  table.add("reading_seconds", reading_seconds);
  table.add("learner_seconds", tree_seconds);
  table.add("random_read_nanoseconds", read_ns);
  table.finish(
      {{"fits", fits}, {"notes", {"seconds are a rough figure, from a random read timed on this machine"}}});
  session.say("{} on {} and {}, {}: {} at the peak, about {} to read text and {} to learn",
              described_text(learner, values), counted(size.nodes, "node"), counted(size.edges, "edge"),
              counted(static_cast<std::uint64_t>(session.threads), "thread"), bytes_text(peak),
              duration_text(reading_seconds), duration_text(tree_seconds));
  session.say(
      "  seconds are a rough figure, from a random read timed on this machine; a .copse file needs no "
      "reading");
  const char* said = options.memory.bytes != 0 ? "allowed" : "free";
  session.say(fits ? fmt::format("  it fits: {} are {}", bytes_text(available), said)
                   : fmt::format("  it does not fit: {} are {}", bytes_text(available), said));
  if (plan.trees_at_once != 0)
    session.say("  streamed it does, by wta or tree_cut on random_key trees: {} at once in {}, 2 scans each",
                counted(plan.trees_at_once, "tree"), bytes_text(plan.bytes));
  return fits || plan.trees_at_once != 0 ? kDone : kAnswerIsNo;
}

}  // namespace

void add_estimate(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "estimate",
               "Bytes and (roughly) seconds that a run would take, without running it\n\n"
               "Exit code 1 if it would not fit.",
               {"copse estimate graph.tsv --num-trees 101",
                "copse estimate --num-nodes 1e6 --num-edges 1e7 --with-weights --num-classes 10"});
  auto options = std::make_shared<EstimateOptions>();
  CLI::Option* graph = add_graph_options(verb, options->graph);
  add_option(verb, "--num-nodes N", options->num_nodes, "instead of GRAPH: nodes")->excludes(graph);
  add_option(verb, "--num-edges M", options->num_edges, "instead of GRAPH: edges")->excludes(graph);
  verb->add_flag("--with-weights", options->weighted, "instead of GRAPH: edges have weights")
      ->excludes(graph);
  add_option(verb, "--num-classes K", options->num_classes, "classes");
  add_memory_options(verb, options->memory, false);
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kTable | kThreads);
  on_run(verb, program.session, options, estimate);
}

}  // namespace copse::cli
