// SPDX-License-Identifier: Apache-2.0
#include "server/event_store.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace copse::server {

namespace {

constexpr int kApplicationId = 0x436f7073;  // "Cops"
constexpr int kSchemaVersion = 1;
constexpr const char* kRestore =
    "stop the server and put a snapshot in its place (docs/serve.md, backup and restore)";
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS event(
  seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, who TEXT NOT NULL, kind TEXT NOT NULL,
  node BLOB NOT NULL, label BLOB, predicted BLOB, confidence REAL, model_version INTEGER NOT NULL,
  target INTEGER NOT NULL);
)";
constexpr const char* kColumns =
    "seq, id, at, who, kind, node, label, predicted, confidence, model_version, target";

}  // namespace

class EventStore::Connection {
 public:
  Connection(const std::string& path, int flags) : path_(path) {
    check(sqlite3_open_v2(path.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr));
    sqlite3_busy_timeout(db_, 10000);
  }
  ~Connection() { sqlite3_close(db_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  sqlite3* get() const { return db_; }
  void run(const char* sql) const { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
  void check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
    const std::string what = db_ == nullptr ? "out of memory" : sqlite3_errmsg(db_);
    switch (code & 0xff) {
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        throw InputError(path_, "the labels cannot be read: " + what, kRestore);
      case SQLITE_FULL:
      case SQLITE_IOERR:
        throw StoreError(path_, "the disk did not take the event: " + what,
                         "make room on the disk and send it again; nothing of it is stored");
      default:
        throw StoreError(path_, "the labels cannot be opened or written: " + what,
                         "the server needs a directory that it may write to: --data DIR");
    }
  }

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

class EventStore::Statement {
 public:
  Statement(const Connection& connection, const std::string& sql) : connection_(connection) {
    connection.check(sqlite3_prepare_v2(connection.get(), sql.c_str(), -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  bool step() {
    const int code = sqlite3_step(statement_);
    connection_.check(code);
    return code == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(statement_); }

  void bind(int place, std::int64_t value) {
    connection_.check(sqlite3_bind_int64(statement_, place, value));
  }
  void bind(int place, const std::string& text) {
    connection_.check(
        sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  // Ids and labels may be any bytes.
  void bind_bytes(int place, const std::optional<std::string>& bytes) {
    connection_.check(bytes ? sqlite3_bind_blob(statement_, place, bytes->data(),
                                                static_cast<int>(bytes->size()), SQLITE_TRANSIENT)
                            : sqlite3_bind_null(statement_, place));
  }
  void bind(int place, const std::optional<double>& number) {
    connection_.check(number ? sqlite3_bind_double(statement_, place, *number)
                             : sqlite3_bind_null(statement_, place));
  }

  std::uint64_t count(int column) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  std::string text(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
  }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::optional<std::string> text_if_any(int column) const {
    return is_null(column) ? std::nullopt : std::optional(text(column));
  }
  Event event() const {
    Event event;
    event.seq = count(0);
    event.id = text(1);
    event.at = static_cast<std::int64_t>(count(2));
    event.who = text(3);
    event.kind = kind_of(text(4));
    event.node = text(5);
    event.label = text_if_any(6);
    event.predicted = text_if_any(7);
    if (!is_null(8)) event.confidence = sqlite3_column_double(statement_, 8);
    event.model_version = count(9);
    event.target = count(10);
    return event;
  }

 private:
  const Connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

EventStore::EventStore(const std::string& path) : path_(path) {
  lock_file();
  writer_ = std::make_unique<Connection>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  Statement check(*writer_, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok")
    throw InputError(path, "the labels are damaged: " + check.text(0), kRestore);
  check.reset();
  writer_->run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;");
  Statement application(*writer_, "PRAGMA application_id"), version(*writer_, "PRAGMA user_version");
  application.step();
  version.step();
  if (application.count(0) != 0 && application.count(0) != kApplicationId)
    throw InputError(path, "is an SQLite file of another program", "give another --data DIR");
  if (version.count(0) > kSchemaVersion)
    throw InputError(path, "was written by a later copse (schema " + std::to_string(version.count(0)) + ")",
                     "use that one, or a snapshot of before");
  application.reset();
  version.reset();
  writer_->run(kSchema);
  if (version.step() && version.count(0) == 0) {
    version.reset();
    writer_->run(("PRAGMA application_id=" + std::to_string(kApplicationId) +
                  "; PRAGMA user_version=" + std::to_string(kSchemaVersion))
                     .c_str());
  }
  reader_ = std::make_unique<Connection>(path, SQLITE_OPEN_READONLY);
}

EventStore::~EventStore() {
  reader_.reset();
  writer_.reset();  // the last connection: SQLite moves its log into the file
  if (lock_ >= 0) ::close(lock_);
}

// Two servers on one file would each keep labels that the other does not know.
void EventStore::lock_file() {
  const std::string path = path_ + ".lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0)
    throw InputError(path, std::string("cannot be written: ") + std::strerror(errno),
                     "the server keeps labels there; give a directory that it may write to: --data DIR");
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    lock_ = -1;
    throw InputError(path_, "another process serves these labels",
                     "use that one, end it, or give another --data DIR");
  }
}

void EventStore::append(std::span<const Event> events) {
  writer_->run("BEGIN IMMEDIATE");
  try {
    Statement insert(*writer_,
                     std::string("INSERT INTO event(") + kColumns + ") VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (const Event& event : events) {
      insert.bind(1, static_cast<std::int64_t>(event.seq));
      insert.bind(2, event.id);
      insert.bind(3, event.at);
      insert.bind(4, event.who);
      insert.bind(5, std::string(kind_name(event.kind)));
      insert.bind_bytes(6, event.node);
      insert.bind_bytes(7, event.label);
      insert.bind_bytes(8, event.predicted);
      insert.bind(9, event.confidence);
      insert.bind(10, static_cast<std::int64_t>(event.model_version));
      insert.bind(11, static_cast<std::int64_t>(event.target));
      insert.step();
      insert.reset();
    }
    writer_->run("COMMIT");
  } catch (...) {
    sqlite3_exec(writer_->get(), "ROLLBACK", nullptr, nullptr, nullptr);  // often done already
    throw;
  }
}

std::optional<Event> EventStore::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, std::string("SELECT ") + kColumns + " FROM event WHERE id=?");
  query.bind(1, id);
  return query.step() ? std::optional(query.event()) : std::nullopt;
}

std::vector<Event> EventStore::select(const std::string& where, std::uint64_t seq, std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, std::string("SELECT ") + kColumns + " FROM event WHERE " + where + " LIMIT ?");
  query.bind(
      1, static_cast<std::int64_t>(std::min<std::uint64_t>(seq, std::numeric_limits<std::int64_t>::max())));
  query.bind(2, static_cast<std::int64_t>(limit));
  std::vector<Event> events;
  while (query.step()) events.push_back(query.event());
  return events;
}

std::vector<Event> EventStore::after(std::uint64_t seq, std::size_t limit) const {
  return select("seq > ? ORDER BY seq", seq, limit);
}

std::vector<Event> EventStore::before(std::uint64_t seq, std::size_t limit) const {
  return select("seq < ? ORDER BY seq DESC", seq, limit);
}

void EventStore::for_each(const std::function<void(const Event&)>& visit) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, std::string("SELECT ") + kColumns + " FROM event ORDER BY seq");
  while (query.step()) visit(query.event());
}

std::uint64_t EventStore::last_seq() const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, "SELECT coalesce(max(seq), 0) FROM event");
  query.step();
  return query.count(0);
}

std::string EventStore::meta(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, "SELECT value FROM meta WHERE key=?");
  query.bind(1, key);
  return query.step() ? query.text(0) : "";
}

void EventStore::set_meta(const std::string& key, const std::string& value) {
  Statement insert(*writer_, "INSERT OR REPLACE INTO meta VALUES(?,?)");
  insert.bind(1, key);
  insert.bind(2, value);
  insert.step();
}

std::uint64_t EventStore::back_up(const std::string& path) const {
  const Connection from(path_, SQLITE_OPEN_READONLY);
  const Connection to(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3_backup* backup = sqlite3_backup_init(to.get(), "main", from.get(), "main");
  if (backup == nullptr) to.check(sqlite3_errcode(to.get()));
  sqlite3_backup_step(backup, -1);
  to.check(sqlite3_backup_finish(backup));
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

std::uint64_t EventStore::wal_bytes() const {
  struct stat facts {};
  return ::stat((path_ + "-wal").c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

}  // namespace copse::server
