// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "copse/support/error.hpp"
#include "server/event.hpp"

namespace copse::server {

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
