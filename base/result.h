// Errors of input as values: what is wrong, where, and what to do about it.
// Where in the flow: every reader, parser and command returns Result; exceptions only leave main.
// Surprise: to_line() is the exact line the user sees, so write `what` and `fix` for the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sluice {

struct [[nodiscard]] Error {
  std::string file;                  // file name, or the option ("--policy"), or empty
  std::optional<std::int64_t> line;  // 1-based, where the input has lines
  std::string what;                  // what is wrong, naming the field and the value seen
  std::string fix;                   // what to do

  // "error: FILE:LINE: what; fix" on one line: breaks become spaces, control bytes `\x1b`.
  [[nodiscard]] std::string to_line() const;
};

// Shorthands, so that call sites read as sentences.
[[nodiscard]] Error error_in(std::string file, std::string what, std::string fix);
[[nodiscard]] Error error_at(std::string file, std::int64_t line, std::string what,
                             std::string fix);

// A value or an Error. Reading the wrong one is a bug of ours and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose
  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace sluice
