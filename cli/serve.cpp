// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#ifdef COPSE_WITH_SERVER

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "choices.hpp"
#include "inputs.hpp"
#include "io/table.hpp"
#include "server/http_server.hpp"
#include "server/page.hpp"
#include "server/tokens.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

struct ServeVerbOptions {
  GraphInput graph;
  LabelsInput labels;
  std::string learner = "wta";
  StrategyChoice strategy{.name = "disagreement", .values = {}};
  std::vector<std::string> more_graphs, hosts, origins;
  std::string data, names, classes, listen = "127.0.0.1:8470", adjudicator;
  Resolve resolve = Resolve::latest;
  std::uint64_t annotators = 1, lease = 600;
  double rate = 1000;
  bool rebase = false, demo = false, readonly = false;
};

// What people call nodes: id<TAB>name.
std::vector<std::string> read_names(const std::string& path, const NodeNames& ids,
                                    const Execution& execution) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  names.resize(ids.size());
  ByteSource source = ByteSource::open(path, execution);
  TableRows rows(source, "names are lines of id<TAB>name");
  while (rows.next()) {
    if (rows.fields().size() != 2)
      throw InputError(rows.where(), "is not id<TAB>name", "give two columns, divided by a tab");
    if (const std::optional<NodeId> node = ids.find(std::string(rows.fields()[0])))
      names[*node] = std::string(rows.fields()[1]);
  }
  return names;
}

void parse_listen(const std::string& text, server::ServeOptions& options) {
  const std::size_t colon = text.rfind(':');
  const std::optional<double> port =
      colon == std::string::npos ? std::nullopt : parse_number(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535)
    throw UsageError("--listen", copse::quoted(text) + " is not ADDRESS:PORT",
                     "as 127.0.0.1:8470; port 0 takes a free one");
  options.address = text.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']'))
    options.address = options.address.substr(1, options.address.size() - 2);
  options.port = static_cast<std::uint16_t>(*port);
}

// Debian's packages, in a directory that the system clears.
void prepare_demo(ServeVerbOptions& options) {
  std::string directory = (std::filesystem::temp_directory_path() / "copse-demo-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr)
    throw UsageError("--demo", directory + " cannot be made",
                     "set TMPDIR to a directory that can be written to");
  options.graph.path = directory + "/edges.tsv.zst";
  std::ofstream(options.graph.path, std::ios::binary) << server::demo_edges();
  if (options.data.empty()) options.data = directory + "/data";
}

// The sections of one package in fifty, to begin with.
Labels demo_labels(const NamedGraph& graph) {
  Labels labels{std::vector<Label>(graph.names.size(), kNoLabel), {}};
  ByteSource source = ByteSource::from_memory("sections", server::demo_labels());
  TableRows rows(source, "labels are a table");
  for (std::uint64_t i = 0; rows.next(); ++i)
    if (const std::optional<NodeId> node = graph.names.find(rows.fields()[0]); node && i % 50 == 0)
      labels.of_node[*node] = labels.classes.intern(rows.fields()[1]);
  return labels;
}

server::ServeOptions serve_options(Session& session, const ServeVerbOptions& options) {
  server::ServeOptions serve;
  parse_listen(options.listen, serve);
  const Contestant learner = parse_contestants(options.learner, {}).front();
  learner.row->check(learner.values);
  serve.setup.learner = {learner.row, learner.values, session.execution()};
  serve.setup.strategy = {&options.strategy.row(), options.strategy.values, session.execution()};
  if ((options.resolve == Resolve::adjudicated) == options.adjudicator.empty())
    throw UsageError("--resolve", "adjudicated and --adjudicator go together",
                     "as --resolve adjudicated --adjudicator ann");
  serve.setup.resolve = options.resolve;
  serve.setup.adjudicator = options.adjudicator;
  serve.setup.annotators_per_node = options.annotators;
  serve.setup.lease = std::chrono::seconds(options.lease);
  serve.setup.classes = split(options.classes, ',');
  serve.service = {options.data.empty() ? options.graph.path + ".data" : options.data, options.hosts,
                   options.rate, options.origins, options.readonly};
  serve.may_rebase = options.rebase;
  serve.on_listening = [&session](const std::string& url) {
    session.say("open " + url + " in a browser; Ctrl-C ends");
  };
  const auto add = [&](const std::string& name, const std::string& path, bool is_first) {
    GraphInput input = options.graph;
    input.path = path;
    server::ServeOptions::Source source;
    source.name = name;
    source.read = [&session, &options, input, is_first, learner] {
      NamedGraph graph = input.read(session);
      check_online_memory(*learner.row, learner.values, graph.graph, session.threads);
      std::vector<std::string> display =
          read_names(is_first ? options.names : "", graph.names, session.execution());
      return server::GraphInput{std::move(graph), std::move(display)};
    };
    if (is_first && options.demo) source.first_labels = demo_labels;
    if (is_first && !options.labels.path.empty())
      source.first_labels = [&session, &options](const NamedGraph& graph) {
        return options.labels.read(session, graph.names);
      };
    serve.sources.push_back(std::move(source));
  };
  add("graph", options.graph.path, true);
  for (const std::string& text : options.more_graphs) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty() || name == "graph" ||
        name.find_first_of("/.\\") != std::string::npos)
      throw UsageError("--graph", copse::quoted(text) + " is not NAME=PATH",
                       "as --graph papers=papers.tsv; a name has no dot or slash");
    add(name, text.substr(equals + 1), false);
  }
  return serve;
}

int run_serve(Session& session, const ServeVerbOptions& given) {
  ServeVerbOptions options = given;
  if (options.demo) prepare_demo(options);
  if (options.graph.path.empty())
    throw UsageError("GRAPH", "there is none", "give the graph to serve, or --demo");
  options.strategy.row().check(options.strategy.values);
  server::serve(serve_options(session, options));
  return kDone;
}

struct TokenOptions {
  std::string data, name, role;
};

int add_token(Session&, const TokenOptions& options) {
  server::Tokens tokens(options.data);
  fmt::print("{}\n", tokens.add(options.name, options.role));
  return kDone;
}

int list_tokens(Session&, const TokenOptions& options) {
  const server::Tokens tokens(options.data);
  for (const server::Tokens::Entry& entry : tokens.entries())
    fmt::print("{}\t{}\n", entry.name, server::role_name(entry.role));
  return kDone;
}

int remove_token(Session&, const TokenOptions& options) {
  server::Tokens(options.data).remove(options.name);
  return kDone;
}

void add_token_verbs(Program& program, CLI::App& serve) {
  CLI::App* token = add_verb(serve, "token", "Make, list and remove the tokens of a data directory", {});
  token->require_subcommand(1);
  token->set_help_flag("-h,--help", "this text");
  const auto add = [&](const char* name, const char* description, int (*run)(Session&, const TokenOptions&),
                       const char* example) {
    CLI::App* verb = add_verb(*token, name, description, {example});
    auto options = std::make_shared<TokenOptions>();
    if (run != list_tokens)
      verb->add_option("NAME", options->name, "whose it is: labels carry this name")->required();
    if (run == add_token)
      verb->add_option("ROLE", options->role, "read, label (and read) or admin (everything)")->required();
    add_option(verb, "--data DIR", options->data, "the server's directory")->required();
    add_common(verb, program.session, 0);
    on_run(verb, program.session, options, run);
  };
  add("add", "Make a token and print it: it is shown this once", add_token,
      "copse serve token add ann label --data labels");
  add("list", "Names and roles", list_tokens, "copse serve token list --data labels");
  add("remove", "Take a token back; SIGHUP tells a running server", remove_token,
      "copse serve token remove ann --data labels");
}

}  // namespace

void add_serve(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "serve",
               "Serve a graph over HTTP, with a page for people who label\n\n"
               "Predictions, labels as people tell them, the next question to ask.\n"
               "Labels are kept in DIR and are on the disk before they are answered. Without a token only "
               "this machine\n"
               "can connect. docs/serve.md describes the interface.",
               {"copse serve graph.tsv --classes spam,ham", "copse serve --demo",
                "copse serve token add ann label --data labels",
                "copse serve graph.tsv --data labels --listen 0.0.0.0:8470 --host labels.example.org"});
  auto options = std::make_shared<ServeVerbOptions>();
  add_token_verbs(program, *verb);
  add_graph_options(verb, options->graph);
  add_labels_options(verb, options->labels)
      ->description("labels to begin with: told once, when DIR has none");
  add_option(verb, "--learner NAME", options->learner,
             "who predicts, as name:key=value; `copse learners` lists all");
  add_strategy_options(verb, "--strategy", options->strategy, program.mentioned);
  add_option(verb, "--data DIR", options->data, "directory of the labels (default: GRAPH.data)");
  add_option(verb, "--listen ADDRESS:PORT", options->listen, "where to listen");
  add_option(verb, "--host NAME", options->hosts,
             "a name by which browsers call the server, beside localhost");
  add_option(verb, "--origin URL", options->origins, "an address whose pages may call the server (CORS)");
  add_option(verb, "--names FILE", options->names, "what people call nodes: lines of id<TAB>name");
  add_option(verb, "--classes A,B,...", options->classes, "classes to choose from before the first label");
  add_option(verb, "--graph NAME=PATH", options->more_graphs, "a further graph, at /v1/graphs/NAME/");
  add_option(verb, "--annotators-per-node N", options->annotators, "persons who are asked about each node")
      ->check(in_range(1, 100));
  add_choice(
      verb, "--resolve",
      {{"latest", Resolve::latest}, {"majority", Resolve::majority}, {"adjudicated", Resolve::adjudicated}},
      options->resolve, "which of several persons' labels counts");
  add_option(verb, "--adjudicator NAME", options->adjudicator,
             "whose word counts where others disagree, under --resolve adjudicated");
  add_option(verb, "--lease N", options->lease, "seconds for which a question is one person's")
      ->check(in_range(1, 86400));
  add_option(verb, "--rate N", options->rate, "requests per second and token, 0 for no limit");
  verb->add_flag("--rebase", options->rebase,
                 "the graph may have changed: keep the labels of nodes that it still has");
  verb->add_flag("--readonly", options->readonly, "labels can be seen, not told");
  verb->add_flag("--demo", options->demo, "serve the packages of Debian 12, from inside the program");
  add_common(verb, program.session, kThreads | kSeed);
  // `serve token ...` has said by then what to do.
  verb->final_callback([verb, options, &session = program.session] {
    if (verb->get_subcommands().empty())
      session.run = [options, &session] { return run_serve(session, *options); };
  });
}

}  // namespace copse::cli

#else

namespace copse::cli {
void add_serve(Program&) {}  // built with -DCOPSE_SERVER=OFF
}  // namespace copse::cli

#endif
