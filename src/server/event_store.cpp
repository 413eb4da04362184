// SPDX-License-Identifier: Apache-2.0
#include "server/event_store.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>

namespace copse::server {

namespace {

constexpr std::array kKinds{"label", "retract", "skip", "note"};
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
const std::string kColumns =
    "seq, id, at, who, kind, node, label, predicted, confidence, model_version, target";

std::uint64_t bytes_of(const std::string& path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

}  // namespace

const char* kind_name(LabelEvent::Kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

LabelEvent::Kind kind_of(const std::string& name) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (name == kKinds[i]) return static_cast<LabelEvent::Kind>(i);
  throw InputError("event table", "kind " + copse::quoted(name) + " is not known",
                   "this copse is older than the one that wrote the labels: use that one");
}

std::string time_text(std::int64_t milliseconds) {
  const std::int64_t part = ((milliseconds % 1000) + 1000) % 1000;  // a clock may stand before 1970
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime((milliseconds - part) / 1000), part);
}

std::int64_t now_milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Json event_json(const Event& event) {
  return {{"seq", event.seq},
          {"id", event.id},
          {"at", time_text(event.at)},
          {"who", event.who},
          {"kind", kind_name(event.kind)},
          {"node", event.node},
          {"label", or_null(event.label)},
          {"predicted", or_null(event.predicted)},
          {"confidence", or_null(event.confidence)}};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void log_line(const char* level, const std::string& what, Json facts) {
  Json line = {{"at", time_text(now_milliseconds())}, {"level", level}, {"what", what}};
  line.update(facts);
  const std::string text = dump(line) + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());  // whole lines
}

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
  void run(const std::string& sql) const { check(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr)); }
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
  template <class... Values>
  Statement(const Connection& connection, const std::string& sql, const Values&... values)
      : connection_(connection) {
    connection.check(sqlite3_prepare_v2(connection.get(), sql.c_str(), -1, &statement_, nullptr));
    bind(values...);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Values for the question marks, from the first on.
  template <class... Values>
  void bind(const Values&... values) {
    sqlite3_reset(statement_);
    int place = 0;
    (connection_.check(bind_one(++place, values)), ...);
  }
  bool step() {
    const int code = sqlite3_step(statement_);
    connection_.check(code);
    return code == SQLITE_ROW;
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
  int bind_one(int place, std::int64_t number) { return sqlite3_bind_int64(statement_, place, number); }
  int bind_one(int place, std::uint64_t number) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    return bind_one(place, static_cast<std::int64_t>(std::min(number, kMost)));
  }
  int bind_one(int place, const std::optional<double>& number) {
    return number ? sqlite3_bind_double(statement_, place, *number) : sqlite3_bind_null(statement_, place);
  }
  int bind_one(int place, const std::string& text) {
    return sqlite3_bind_text(statement_, place, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  int bind_one(int place, const std::optional<std::string>& bytes) {  // ids and labels may be any
    return bytes ? sqlite3_bind_blob(statement_, place, bytes->data(), static_cast<int>(bytes->size()),
                                     SQLITE_TRANSIENT)
                 : sqlite3_bind_null(statement_, place);
  }

  const Connection& connection_;
  sqlite3_stmt* statement_ = nullptr;
};

EventStore::EventStore(const std::string& path) : path_(path) {
  lock_file();
  writer_ = std::make_unique<Connection>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  const auto fact = [&](const std::string& pragma) {
    Statement query(*writer_, "PRAGMA " + pragma);
    return query.step() ? query.text(0) : "";
  };
  if (const std::string found = fact("quick_check(1)"); found != "ok")
    throw InputError(path, "the labels are damaged: " + found, kRestore);
  const std::string application = fact("application_id"), version = fact("user_version");
  if (application != "0" && application != std::to_string(kApplicationId))
    throw InputError(path, "is an SQLite file of another program", "give another --data DIR");
  if (std::stoi(version) > kSchemaVersion)
    throw InputError(path, "was written by a later copse (schema " + version + ")",
                     "use that one, or a snapshot of before");
  writer_->run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=16777216;");
  writer_->run(kSchema);
  if (version == "0")
    writer_->run("PRAGMA application_id=" + std::to_string(kApplicationId) +
                 "; PRAGMA user_version=" + std::to_string(kSchemaVersion));
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
    Statement insert(*writer_, "INSERT INTO event(" + kColumns + ") VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (const Event& event : events) {
      insert.bind(event.seq, event.id, event.at, event.who, std::string(kind_name(event.kind)),
                  std::optional(event.node), event.label, event.predicted, event.confidence,
                  event.model_version, event.target);
      insert.step();
    }
    writer_->run("COMMIT");
  } catch (...) {
    sqlite3_exec(writer_->get(), "ROLLBACK", nullptr, nullptr, nullptr);  // often done already
    throw;
  }
}

template <class... Values>
std::vector<Event> EventStore::select(const std::string& condition, const Values&... values) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, "SELECT " + kColumns + " FROM event WHERE " + condition, values...);
  std::vector<Event> events;
  while (query.step()) events.push_back(query.event());
  return events;
}

std::optional<Event> EventStore::find(const std::string& id) const {
  std::vector<Event> found = select("id=?", id);
  return found.empty() ? std::nullopt : std::optional(std::move(found[0]));
}

std::vector<Event> EventStore::after(std::uint64_t seq, std::size_t limit) const {
  return select("seq > ? ORDER BY seq LIMIT ?", seq, limit);
}

std::vector<Event> EventStore::before(std::uint64_t seq, std::size_t limit) const {
  return select("seq < ? ORDER BY seq DESC LIMIT ?", seq, limit);
}

std::uint64_t EventStore::last_seq() const {
  const std::vector<Event> last = before(~std::uint64_t{0}, 1);
  return last.empty() ? 0 : last[0].seq;
}

std::string EventStore::meta(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  Statement query(*reader_, "SELECT value FROM meta WHERE key=?", key);
  return query.step() ? query.text(0) : "";
}

void EventStore::set_meta(const std::string& key, const std::string& value) {
  Statement(*writer_, "INSERT OR REPLACE INTO meta VALUES(?,?)", key, value).step();
}

std::uint64_t EventStore::back_up(const std::string& path) const {
  const Connection from(path_, SQLITE_OPEN_READONLY);
  const Connection to(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3_backup* backup = sqlite3_backup_init(to.get(), "main", from.get(), "main");
  if (backup == nullptr) to.check(sqlite3_errcode(to.get()));
  sqlite3_backup_step(backup, -1);
  to.check(sqlite3_backup_finish(backup));
  return bytes_of(path);
}

std::uint64_t EventStore::wal_bytes() const { return bytes_of(path_ + "-wal"); }

void make_directory(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_directory(path, error)) return;
  const fs::path above = fs::absolute(path, error).lexically_normal().parent_path();
  if (!error && above != above.root_path()) make_directory(above.string());
  fs::create_directory(path, error);
  if (error)
    throw InputError(path, "cannot be made: " + error.message(),
                     "the server keeps labels there; give a directory that it may write to: --data DIR");
  // Its name must outlast a power cut as well as the labels in it.
  const int directory = ::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace copse::server
