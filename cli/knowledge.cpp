// SPDX-License-Identifier: Apache-2.0
#include "knowledge.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

namespace copse::cli {
namespace {

Weight weight_of(const std::string& text) {
  Weight weight = 0;
  const char* const end = text.data() + text.size();
  if (const auto parsed = std::from_chars(text.data(), end, weight);
      parsed.ec != std::errc{} || parsed.ptr != end)
    throw UsageError("edge", "weight " + copse::quoted(text) + " is not a number",
                     "a line is +<TAB>u<TAB>v<TAB>weight");
  return weight;
}

}  // namespace

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char byte : line)
    if (byte == '\t')
      fields.emplace_back();
    else
      fields.back() += byte;
  return fields;
}

bool changes_graph(const std::vector<std::string>& fields) {
  return (fields[0] == "+" && (fields.size() == 3 || fields.size() == 4)) ||
         (fields[0] == "-" && fields.size() == 3);
}

Knowledge::Knowledge(const NamedGraph& graph, GivenLabels&& labels, Learner& learner, double half_life)
    : graph_(graph), labels_(std::move(labels)), learner_(learner), half_life_(half_life) {
  for (NodeId node = 0; node < labels_.of_node().size(); ++node)
    if (label(node) != kNoLabel) tell(node, label(node), 0);
}

std::optional<NodeId> Knowledge::find(const std::string& name) const {
  if (const auto node = new_nodes_.find(name); node != new_nodes_.end()) return node->second;
  return graph_.names.find(name);
}

std::string Knowledge::name(NodeId node) const {
  const std::size_t num_old = graph_.names.size();
  return node < num_old ? graph_.names.name(node) : new_names_[node - num_old];
}

Label Knowledge::tell(NodeId node, const std::string& text) {
  const Label label = labels_.intern(text);
  tell(node, label, 1);
  return label;
}

/// Lifetimes are exponential, so that half of the labels outlive half_life further ones; multiples of the
/// golden ratio are spread more evenly than random numbers.
void Knowledge::tell(NodeId node, Label label, std::uint64_t steps) {
  set(node, label);
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

void Knowledge::take_back(NodeId node) {
  set(node, kNoLabel);
  told_.erase(node);
}

void Knowledge::set(NodeId node, Label label) {
  const bool is_asked = strategy_ && node < graph_.names.size();  // of new nodes strategies know nothing
  if (label == kNoLabel) {
    learner_.retract(node);
    if (is_asked) strategy_->retract(node);
  } else {
    learner_.reveal(node, label);
    if (is_asked) strategy_->reveal(node, label);
  }
  labels_.of_node()[node] = label;
}

void Knowledge::change_graph(const std::vector<std::string>& fields) {
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

bool Knowledge::repeat(const std::string& line) {
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

std::optional<NodeId> Knowledge::next(const StrategyChoice& choice, const Execution& execution) {
  if (!strategy_) {
    strategy_ = choice.row().make(graph_.graph, choice.values, execution);
    strategy_->start(std::span(labels_.of_node()).first(graph_.names.size()));
  }
  const std::vector<Query> next = strategy_->next(1);
  return next.empty() ? std::nullopt : std::optional(next[0].node);
}

NodeId Knowledge::old_node(const std::string& name) const {
  if (const std::optional<NodeId> node = find(name)) return *node;
  throw UsageError("edge", "the graph has no node " + copse::quoted(name),
                   "only an edge of the graph can be removed");
}

NodeId Knowledge::node_of(TreeCommittee& committee, const std::string& name) {
  if (const std::optional<NodeId> node = find(name)) return *node;
  labels_.of_node().push_back(kNoLabel);
  new_names_.push_back(name);
  return new_nodes_[name] = committee.add_node();
}

Journal::Journal(const std::string& path) : path_(path) {
  if (path.empty()) return;
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("cannot be opened");
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) fail("another session writes to it");
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

void Journal::fail(const std::string& what) const {
  throw InputError(path_, what + ": " + std::strerror(errno),
                   "give --journal a file that this session may write to");
}

std::uint64_t Journal::replay(const std::function<bool(const std::string&)>& apply) {
  if (fd_ < 0) return 0;
  std::ifstream file(path_, std::ios::binary);
  std::uint64_t num_lines = 0, num_bytes = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); ++num_lines, num_bytes += line.size() + 1)
    if (!apply(line))
      throw InputError(at(path_, num_lines + 1), "is not node<TAB>label of a node of this graph",
                       "a journal goes with the graph it was begun with; give another file");
  if (::ftruncate(fd_, static_cast<off_t>(num_bytes)) != 0) fail("cannot be cut to its whole lines");
  return num_lines;
}

void Journal::add(const std::string& line) {
  if (fd_ >= 0) waiting_ += line + "\n";
}

void Journal::sync() {
  if (waiting_.empty()) return;
  for (std::string_view rest = waiting_; !rest.empty();) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fdatasync(fd_) != 0) fail("cannot be written");
  waiting_.clear();
}

}  // namespace copse::cli
