// SPDX-License-Identifier: Apache-2.0
#include "server/served_graph.hpp"

#include <algorithm>
#include <future>
#include <unordered_set>

namespace copse::server {

namespace {
constexpr std::size_t kMostRecent = 4096, kMostAtOnce = 500, kMostReplayed = 10'000;
constexpr const char* kChecksumKey = "graph_checksum";
}  // namespace

std::string event_stream_text(const Event& event) {
  return "id: " + std::to_string(event.seq) + "\nevent: " + kind_name(event.kind) +
         "\ndata: " + dump(event_json(event)) + "\n\n";
}

ServedGraph::ServedGraph(std::string name, const std::string& database, GraphInput input,
                         const GraphSetup& setup, bool may_rebase, std::function<void()> news)
    : name_(std::move(name)), store_(database), news_(std::move(news)) {
  state_ = open(std::move(input), setup, may_rebase);
  start(*state_);
  told_seq_ = last_seq_ = store_.last_seq();
  worker_.start([this] { write_until_stopped(); });
}

std::shared_ptr<GraphState> ServedGraph::open(GraphInput input, const GraphSetup& setup,
                                              bool may_rebase) const {
  auto state = std::make_shared<GraphState>(std::move(input), setup);
  const std::string known = store_.meta(kChecksumKey);
  if (!known.empty() && known != state->checksum() && !may_rebase)
    throw InputError(
        store_.path(),
        "these labels belong to another graph (checksum " + known + ", not " + state->checksum() + ")",
        "give the graph of before, another --data DIR, or --rebase to keep the labels of the nodes that "
        "both graphs have");
  replay(*state);
  return state;
}

void ServedGraph::replay(GraphState& state) const {
  for (std::uint64_t seq = state.read().version();;) {
    const std::vector<Event> events = store_.after(seq, kMostReplayed);
    for (const Event& event : events) state.apply(event);
    if (events.size() < kMostReplayed) return;
    seq = events.back().seq;
  }
}

void ServedGraph::start(GraphState& state) {
  if (store_.meta(kChecksumKey) != state.checksum()) store_.set_meta(kChecksumKey, state.checksum());
  state.start(news_);
}

void ServedGraph::reload(GraphInput input, const GraphSetup& setup, bool may_rebase) {
  // Trees are drawn and events replayed in the caller's thread; the writer adds what came meanwhile.
  const std::shared_ptr<GraphState> fresh = open(std::move(input), setup, may_rebase);
  // By itself, or events of its transaction would be learned by the state that it replaces.
  store_alone([this, fresh](GraphState& before, const EventStore&) {
    replay(*fresh);
    fresh->take_leases(before);
    start(*fresh);
    const std::lock_guard lock(worker_.mutex);
    state_ = fresh;
    return Change::Prepared{{}, true, false};
  });
}

void ServedGraph::store_alone(Change::Prepare prepare) {
  std::promise<void> done;
  submit({std::move(prepare),
          [&done](std::exception_ptr error, const Change::Prepared&) {
            if (error)
              done.set_exception(error);
            else
              done.set_value();
          },
          true});
  done.get_future().get();
}

void ServedGraph::submit(Change change) {
  const std::lock_guard lock(worker_.mutex);
  waiting_.push_back(std::move(change));
  worker_.changed.notify_all();
}

std::shared_ptr<GraphState> ServedGraph::state() const {
  const std::lock_guard lock(worker_.mutex);
  return state_;
}

std::size_t ServedGraph::num_waiting() const {
  const std::lock_guard lock(worker_.mutex);
  return waiting_.size();
}

void ServedGraph::write_until_stopped() {
  std::deque<Change> changes;
  for (;;) {
    {
      std::unique_lock lock(worker_.mutex);
      worker_.changed.wait(lock,
                           [&] { return worker_.stop.cancelled() || !waiting_.empty() || !changes.empty(); });
      std::ranges::move(waiting_, std::back_inserter(changes));
      waiting_.clear();
      if (changes.empty()) return;
    }
    write_batch(changes);
  }
}

namespace {

/// What the changes of one transaction touch. A change that meets another one there waits for the next
/// transaction: it was prepared from a state that does not know the other.
struct Touched {
  std::unordered_set<std::string> ids, nodes, persons;

  bool meets(const Change::Prepared& prepared) const {
    return std::ranges::any_of(prepared.events, [&](const Event& event) {
      return ids.contains(event.id) || nodes.contains(event.node) ||
             (prepared.looks_at_person && persons.contains(event.who));
    });
  }
  void add(const Event& event) {
    ids.insert(event.id);
    nodes.insert(event.node);
    persons.insert(event.who);
  }
};

/// Whether there may be one more class is asked of the state: a new one is learned before the next change.
bool adds_class(const Change::Prepared& prepared, const GraphState& state) {
  const GraphState::Reading reading = state.read();
  return std::ranges::any_of(prepared.events, [&](const Event& event) {
    return event.kind == LabelEvent::Kind::label && reading.classes().find(*event.label) == kNoLabel;
  });
}

}  // namespace

void ServedGraph::write_batch(std::deque<Change>& changes) {
  struct Ready {
    Change change;
    Change::Prepared prepared;
    std::exception_ptr error;
  };
  const std::shared_ptr<GraphState> state = this->state();
  std::vector<Ready> batch;
  std::vector<Event> events;
  Touched touched;
  while (!changes.empty() && !(changes.front().is_alone && !batch.empty())) {
    Ready ready;
    try {
      ready.prepared = changes.front().prepare(*state, store_);
      if (!ready.prepared.is_stored && touched.meets(ready.prepared)) break;
    } catch (...) {
      if (!batch.empty() && !events.empty()) break;  // perhaps it is right once those before it are learned
      ready.error = std::current_exception();
    }
    ready.change = std::move(changes.front());
    changes.pop_front();
    if (!ready.error && !ready.prepared.is_stored) {
      for (Event& event : ready.prepared.events) {
        touched.add(event);
        event.seq = last_seq_ + events.size() + 1;
        events.push_back(event);
      }
    }
    batch.push_back(std::move(ready));
    if (batch.back().change.is_alone || adds_class(batch.back().prepared, *state)) break;
  }
  std::exception_ptr failure;
  try {
    if (!events.empty()) store_.append(events);
    last_seq_ += events.size();
    for (const Event& event : events) state->apply(event);
    publish(events);
  } catch (...) {
    failure = std::current_exception();
  }
  for (Ready& ready : batch) {
    const bool was_lost = failure && !ready.error && !ready.prepared.is_stored;
    ready.change.done(was_lost ? failure : ready.error, ready.prepared);
  }
  if (!events.empty()) news_();
}

void ServedGraph::publish(const std::vector<Event>& events) {
  const std::lock_guard lock(worker_.mutex);
  for (const Event& event : events) {
    recent_.push_back(event_stream_text(event));
    told_seq_ = event.seq;
    if (recent_.size() > kMostRecent) recent_.pop_front();
  }
}

ServedGraph::News ServedGraph::news_after(std::uint64_t seq, bool may_read_disk) const {
  {
    const std::lock_guard lock(worker_.mutex);
    const std::uint64_t first = told_seq_ - recent_.size() + 1;
    seq = std::min(seq, told_seq_);
    if (seq + 1 >= first) {
      News news{"", std::min<std::uint64_t>(told_seq_, seq + kMostAtOnce), true};
      for (std::uint64_t i = seq + 1; i <= news.seq; ++i) news.text += recent_[i - first];
      return news;
    }
  }
  if (!may_read_disk) return {"", seq, false};
  News news{"", seq, true};
  for (const Event& event : store_.after(seq, kMostAtOnce)) {
    news.text += event_stream_text(event);
    news.seq = event.seq;
  }
  return news;
}

}  // namespace copse::server
