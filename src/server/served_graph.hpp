// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/event_store.hpp"
#include "server/graph_state.hpp"

namespace copse::server {

/// What a request wants to store. The writer calls `prepare` when its turn comes, perhaps twice, and answers
/// by `done` when the events are on the disk and learned, or with what went wrong.
struct Change {
  struct Prepared {
    std::vector<Event> events;
    bool is_stored = false;        // an earlier request with the same key: nothing to store
    bool looks_at_person = false;  // depends on all events of its person (undo)
  };
  using Prepare = std::function<Prepared(GraphState&, const EventStore&)>;
  Prepare prepare;
  std::function<void(std::exception_ptr, const Prepared&)> done;
  bool is_alone = false;  // needs all before it stored and learned, and no other beside it
};

/// One graph that is served: its event table, the state that follows from it, and the one thread that writes.
/// Changes that wait are stored by one transaction. Nothing is learned before it is on the disk, and nothing
/// is answered before it is learned. What waits when it goes is stored first.
class ServedGraph {
 public:
  /// Replays the events. `news` is called, from any thread, when there are events or answers to tell.
  ServedGraph(std::string name, const std::string& database, GraphInput input, const GraphSetup& setup,
              bool may_rebase, std::function<void()> news);

  void submit(Change change);
  /// Returns when it is done, or throws what went wrong; by itself in its transaction.
  void store_alone(Change::Prepare prepare);
  /// Replaces the graph by another version of it, onto which the events are replayed. Changes wait only for
  /// those of the last moment.
  void reload(GraphInput input, const GraphSetup& setup, bool may_rebase);

  std::shared_ptr<GraphState> state() const;
  const EventStore& store() const { return store_; }
  const std::string& name() const { return name_; }
  std::size_t num_waiting() const;

  /// Server-sent events after `seq`, as text, and where they end: from memory if they are recent.
  struct News {
    std::string text;
    std::uint64_t seq;
    bool is_complete;  // false: ask again, and not in a thread that must not wait for the disk
  };
  News news_after(std::uint64_t seq, bool may_read_disk) const;

 private:
  std::shared_ptr<GraphState> open(GraphInput input, const GraphSetup& setup, bool may_rebase) const;
  void replay(GraphState& state) const;
  void start(GraphState& state);
  void write_until_stopped();
  void write_batch(std::deque<Change>& changes);
  void publish(const std::vector<Event>& events);

  std::string name_;
  EventStore store_;
  std::function<void()> news_;
  std::uint64_t last_seq_ = 0;  // the writer's

  // Of worker_.mutex:
  std::deque<Change> waiting_;
  std::shared_ptr<GraphState> state_;
  std::deque<std::string> recent_;  // events as text, the last one is told_seq_
  std::uint64_t told_seq_ = 0;
  mutable Worker worker_;
};

std::string event_stream_text(const Event& event);

}  // namespace copse::server
