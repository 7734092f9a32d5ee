// SQLite's C API as three small owners: Database opens and closes, Statement prepares and
// finalizes, Transaction rolls back unless committed.
// Where in the flow: under the store (7) only.
// Surprise: a Statement keeps its first failure (a bad prepare included) and reports it from step()
// or run().
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// Text that the caller keeps until the statement has run: bound without a copy.
struct KeptText {
  std::string_view text;
};

// Thread-safety: use a Statement only on the thread that uses its Database.
class Statement {
 public:
  // Resets the statement and binds the parameters ?1, ?2, … in order. Text is copied.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (keep(bind_one(++index, values)), ...);
    return *this;
  }
  // To the next row: true while there is one. After false or an error the statement is reset.
  [[nodiscard]] Result<bool> step();
  // Calls `on_row` at each row that is left. `on_row` returns nothing, or a Status that stops at an
  // error.
  template <typename OnRow>
  [[nodiscard]] Status for_each(const OnRow& on_row) {
    while (true) {
      const Result<bool> row = step();
      if (!row) return row.error();
      if (!*row) return {};
      if constexpr (std::is_void_v<decltype(on_row())>) {
        on_row();
      } else if (Status done = on_row(); !done) {
        reset();
        return done;
      }
    }
  }
  // To the end; rows are passed over.
  [[nodiscard]] Status run() {
    return for_each([] {});
  }
  // bind and run.
  template <typename... Values>
  [[nodiscard]] Status run_with(const Values&... values) {
    return bind(values...).run();
  }
  void reset();

  // Columns of the current row, counted from 0.
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  // The same without a copy, until the next step.
  [[nodiscard]] std::string_view text_view(int column) const;
  [[nodiscard]] Instant instant(int column) const { return at_ns(integer(column)); }
  [[nodiscard]] std::optional<Instant> optional_instant(int column) const;
  [[nodiscard]] Duration duration(int column) const { return nanoseconds(integer(column)); }
  [[nodiscard]] DataSize size(int column) const { return DataSize::bytes(integer(column)); }
  [[nodiscard]] int num_columns() const;
  [[nodiscard]] std::string column_name(int column) const;

 private:
  friend class Database;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Statement(sqlite3* database, std::string file, std::string_view sql);

  [[nodiscard]] int bind_one(int index, std::int64_t value);
  [[nodiscard]] int bind_one(int index, int value) { return bind_one(index, std::int64_t{value}); }
  [[nodiscard]] int bind_one(int index, bool value) { return bind_one(index, std::int64_t{value}); }
  [[nodiscard]] int bind_one(int index, double value);
  [[nodiscard]] int bind_one(int index, std::string_view value);
  [[nodiscard]] int bind_one(int index, KeptText value);
  [[nodiscard]] int bind_one(int index, const std::string& value) {
    return bind_one(index, std::string_view(value));
  }
  [[nodiscard]] int bind_one(int index, const char* value) {
    return bind_one(index, std::string_view(value));
  }
  [[nodiscard]] int bind_one(int index, Instant value) { return bind_one(index, to_ns(value)); }
  [[nodiscard]] int bind_one(int index, Duration value) { return bind_one(index, to_ns(value)); }
  [[nodiscard]] int bind_one(int index, DataSize value) { return bind_one(index, value.bytes()); }
  template <typename T>
  [[nodiscard]] int bind_one(int index, const std::optional<T>& value) {
    return value ? bind_one(index, *value) : sqlite3_bind_null(statement_.get(), index);
  }
  void keep(int code);
  [[nodiscard]] Error failure() const;

  std::string file_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  std::optional<Error> failure_;
};

enum class OpenMode {
  kCreate,    // read and write; made when absent
  kExisting,  // read and write; an absent file is an error
  kReadOnly,
};

// One connection. Waits up to a minute for another process's lock.
// Thread-safety: one thread at a time.
class Database {
 public:
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, OpenMode mode);

  [[nodiscard]] Statement prepare(std::string_view sql) const;
  // One or more statements without parameters.
  [[nodiscard]] Status execute(const std::string& sql) const;
  // The first column of the first row; nullopt when there is no row.
  template <typename... Values>
  [[nodiscard]] Result<std::optional<std::int64_t>> find_integer(std::string_view sql,
                                                                 const Values&... values) const {
    Statement statement = prepare(sql);
    Result<bool> row = statement.bind(values...).step();
    if (!row) return row.error();
    if (!*row) return std::optional<std::int64_t>{};
    return std::optional<std::int64_t>{statement.integer(0)};
  }
  [[nodiscard]] std::int64_t last_insert_id() const;
  // As the user named it.
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  struct Closer {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  explicit Database(std::string file) : file_(std::move(file)) {}

  std::string file_;
  std::unique_ptr<sqlite3, Closer> connection_;
};

// A transaction that is rolled back unless committed.
class Transaction {
 public:
  // Takes the write lock at once, so that what it reads stays true until commit().
  [[nodiscard]] static Result<Transaction> begin(const Database& database);
  // For reading only: all reads until it ends see the file as it was at the first of them.
  [[nodiscard]] static Result<Transaction> begin_reading(const Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(const Database& database) : database_(&database) {}
  const Database* database_;  // null when there is nothing to roll back
};

}  // namespace sluice
