#include "analysis/store/database.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::chrono::milliseconds kLockPatience = std::chrono::minutes(1);

// SQLite's result code in the user's words.
Error describe(const std::string& file, int code, const char* message) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return error_in(file, "is not a Sluice store (not an SQLite file)",
                      "name a file written by `./sluice sim --store`");
    case SQLITE_CORRUPT:
      return error_in(file, fmt::format("is damaged: {}", message),
                      "use a copy, or run the scenario again into a new file");
    case SQLITE_CANTOPEN:
      return error_in(file, "cannot be opened as a store",
                      "check that the folder exists and is writable");
    case SQLITE_READONLY:
      return error_in(file, "cannot be written",
                      "check the permissions of the file and its folder");
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return error_in(file, "access denied", "check the permissions of the file and its folder");
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return error_in(file, fmt::format("reading or writing failed: {}", message),
                      "check the free space and the disk");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error_in(file, "stayed locked by another process for a minute",
                      "wait for that process or end it");
    default:
      return error_in(file, fmt::format("the store refused: {}", message),
                      "run `./sluice store check` on the file");
  }
}

}  // namespace

Statement::Statement(sqlite3* database, std::string file, std::string_view sql)
    : file_(std::move(file)) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) failure_ = describe(file_, code, sqlite3_errmsg(database));
}

void Statement::keep(int code) {
  if (code != SQLITE_OK && !failure_) failure_ = failure();
}

Error Statement::failure() const {
  sqlite3* database = sqlite3_db_handle(statement_.get());
  return describe(file_, sqlite3_errcode(database), sqlite3_errmsg(database));
}

Result<bool> Statement::step() {
  if (failure_) return *failure_;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) failure_ = failure();
  sqlite3_reset(statement_.get());
  if (failure_) return *std::exchange(failure_, std::nullopt);
  return false;
}

void Statement::reset() {
  if (!statement_) return;  // it was never prepared; step() says why
  sqlite3_reset(statement_.get());
  failure_.reset();
}

int Statement::bind_one(int index, std::int64_t value) {
  return sqlite3_bind_int64(statement_.get(), index, value);
}

int Statement::bind_one(int index, double value) {
  return sqlite3_bind_double(statement_.get(), index, value);
}

int Statement::bind_one(int index, std::string_view value) {
  const char* bytes = value.empty() ? "" : value.data();  // a null pointer would bind NULL
  return sqlite3_bind_text64(statement_.get(), index, bytes, value.size(), SQLITE_TRANSIENT,
                             SQLITE_UTF8);
}

int Statement::bind_one(int index, KeptText value) {
  return sqlite3_bind_text64(statement_.get(), index, value.text.data(), value.text.size(),
                             SQLITE_STATIC, SQLITE_UTF8);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  return std::string(text_view(column));
}

std::string_view Statement::text_view(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::optional<Instant> Statement::optional_instant(int column) const {
  if (is_null(column)) return std::nullopt;
  return instant(column);
}

int Statement::num_columns() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::column_name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

Result<Database> Database::open(const std::filesystem::path& file, OpenMode mode) {
  std::error_code code;
  if (mode != OpenMode::kCreate && !std::filesystem::exists(file, code)) {
    return error_in(file.string(), "no such file",
                    "check the path, or make it with `./sluice sim --store`");
  }
  if (std::filesystem::is_directory(file, code)) {
    return error_in(file.string(), "is a folder", "name a file");
  }
  int flags = SQLITE_OPEN_READONLY;
  if (mode != OpenMode::kReadOnly) flags = SQLITE_OPEN_READWRITE;
  if (mode == OpenMode::kCreate) flags |= SQLITE_OPEN_CREATE;
  Database database(file.string());
  sqlite3* connection = nullptr;
  const int opened =
      sqlite3_open_v2(file.c_str(), &connection, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  database.connection_.reset(connection);  // SQLite makes one even when opening fails
  if (opened != SQLITE_OK) {
    return describe(file.string(), opened,
                    connection != nullptr ? sqlite3_errmsg(connection) : "out of memory");
  }
  sqlite3_busy_timeout(connection, static_cast<int>(kLockPatience.count()));
  return database;
}

Statement Database::prepare(std::string_view sql) const {
  return {connection_.get(), file_, sql};
}

Status Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return describe(file_, code, sqlite3_errmsg(connection_.get()));
  return {};
}

std::int64_t Database::last_insert_id() const {
  return sqlite3_last_insert_rowid(connection_.get());
}

Result<Transaction> Transaction::begin(const Database& database) {
  if (Status begun = database.execute("BEGIN IMMEDIATE"); !begun) return begun.error();
  return Transaction(database);
}

Result<Transaction> Transaction::begin_reading(const Database& database) {
  if (Status begun = database.execute("BEGIN"); !begun) return begun.error();
  return Transaction(database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // A failed COMMIT may have rolled back already; then there is nothing to undo and the answer does
  // not matter.
  if (database_ != nullptr) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  SLUICE_ASSERT(database_ != nullptr, "a transaction is committed once");
  if (Status done = database_->execute("COMMIT"); !done) return done;
  database_ = nullptr;
  return {};
}

}  // namespace sluice
