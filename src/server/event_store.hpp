// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "copse/graph/label_fold.hpp"
#include "copse/support/error.hpp"

namespace copse::server {

using Json = nlohmann::ordered_json;

/// A row of the event table: names, not indices, so that a graph whose nodes are reordered still fits.
struct Event {
  std::uint64_t seq = 0;
  std::string id;       // of the request (idempotency key): unique
  std::int64_t at = 0;  // milliseconds since 1970, by the wall clock; the order is that of seq
  std::string who;
  LabelEvent::Kind kind = LabelEvent::Kind::label;
  std::string node;
  std::optional<std::string> label;      // told; of a retract: what stands afterwards; of a skip: its reason
  std::optional<std::string> predicted;  // before it was told
  std::optional<double> confidence;
  std::uint64_t model_version = 0;  // the labels that the prediction knew
  std::uint64_t target = 0;         // of a retract: the event that is taken back, 0 for all of the node
};

inline constexpr const char* kReasonNobody = "nobody";
inline constexpr const char* kReasonLater = "later";

const char* kind_name(LabelEvent::Kind kind);
LabelEvent::Kind kind_of(const std::string& name);
/// 2026-01-31T12:00:00.123Z
std::string time_text(std::int64_t milliseconds);
std::int64_t now_milliseconds();
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// As history and the stream of events show it.
Json event_json(const Event& event);
/// Text that is not UTF-8 (ids may be any bytes) becomes U+FFFD there.
std::string dump(const Json& json);
/// A line of JSON on standard error: when, how grave ("info", "error"), what, and facts. Never tokens, bodies
/// or labels.
void log_line(const char* level, const std::string& what, Json facts = Json::object());

/// The disk did not take an event: nothing of the transaction is stored.
class StoreError : public Error {
  using Error::Error;
};

/// The event table of one graph, an SQLite file in WAL mode: what append() returned from is on the disk.
/// Opening refuses, with a remedy, a file that is damaged, of a later version, or served by another process.
/// One thread appends; any may read. No read transaction outlives a call, so the log of SQLite stays short.
class EventStore {
 public:
  explicit EventStore(const std::string& path);
  ~EventStore();
  EventStore(const EventStore&) = delete;
  EventStore& operator=(const EventStore&) = delete;

  /// One transaction, synced before it returns. StoreError if the disk is full or fails.
  void append(std::span<const Event> events);
  std::optional<Event> find(const std::string& id) const;
  std::vector<Event> after(std::uint64_t seq, std::size_t limit) const;   // ascending
  std::vector<Event> before(std::uint64_t seq, std::size_t limit) const;  // descending
  std::uint64_t last_seq() const;

  std::string meta(const std::string& key) const;  // "" if there is none
  void set_meta(const std::string& key, const std::string& value);

  /// A copy that can be served in its place, by SQLite's backup; returns its size in bytes.
  std::uint64_t back_up(const std::string& path) const;
  std::uint64_t wal_bytes() const;
  const std::string& path() const { return path_; }

 private:
  class Connection;
  class Statement;
  void lock_file();
  template <class... Values>
  std::vector<Event> select(const std::string& condition, const Values&... values) const;

  std::string path_;
  int lock_ = -1;
  std::unique_ptr<Connection> writer_;
  mutable std::mutex mutex_;  // of reader_
  std::unique_ptr<Connection> reader_;
};

/// With the directories above it, and there after a power cut; InputError where that cannot be.
void make_directory(const std::string& path);

}  // namespace copse::server
