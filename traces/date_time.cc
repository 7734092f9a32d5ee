#include "traces/date_time.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

constexpr int kFirstYear = 1970, kLastYear = 2200;
constexpr std::size_t kMaxFractionDigits = 9;

// Takes a text apart from its beginning; false once something else stood there.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  // Exactly `num_digits` digits.
  int digits(std::size_t num_digits) {
    int value = 0;
    for (std::size_t i = 0; i < num_digits; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(num_digits);
    return value;
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) { ok_ = take(c) && ok_; }
  // The digits behind a decimal point, as nanoseconds.
  std::int64_t fraction_ns() {
    std::int64_t value = 0;
    std::size_t num_digits = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++num_digits) {
      if (num_digits < kMaxFractionDigits) value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (num_digits == 0 || num_digits > kMaxFractionDigits) ok_ = false;
    for (; num_digits < kMaxFractionDigits; ++num_digits) value *= 10;
    return value;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::optional<std::chrono::seconds> scan_seconds(Scanner& scan, DateTimeStyle style) {
  const int year = scan.digits(4);
  scan.expect(style.date);
  const int month = scan.digits(2);
  scan.expect(style.date);
  const int day = scan.digits(2);
  if (style.middle != ' ' || !scan.take('T')) scan.expect(style.middle);
  const int hour = scan.digits(2);
  scan.expect(style.time);
  const int minute = scan.digits(2);
  scan.expect(style.time);
  const int second = scan.digits(2);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!scan.ok() || year < kFirstYear || year > kLastYear || !date.ok() || hour > 23 ||
      minute > 59 || second > 59) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second);
}

// What to take off to come to UTC.
std::optional<std::chrono::minutes> scan_zone(Scanner& scan) {
  if (scan.take('Z')) return std::chrono::minutes{0};
  const bool west = scan.take('-');
  if (!west) scan.expect('+');
  const int hours = scan.digits(2);
  scan.expect(':');
  const int minutes = scan.digits(2);
  if (!scan.ok() || hours > 14 || minutes > 59) return std::nullopt;
  const std::chrono::minutes ahead = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return west ? -ahead : ahead;
}

}  // namespace

Result<DateTime> read_date_time(std::string_view text, DateTimeStyle style) {
  const auto bad = [&] {
    const bool iso = style.time == kIsoDateTime.time;
    return error_in("", fmt::format("the time `{}` is not a date and time", excerpt(text)),
                    iso ? "write it as `2023-11-16 18:17:03.9799600`, with or without a zone"
                        : fmt::format("write it as `2020{0}02{0}14{1}09{2}38{2}22`", style.date,
                                      style.middle, style.time));
  };
  Scanner scan(text);
  const auto seconds = scan_seconds(scan, style);
  if (!seconds) return bad();
  DateTime stamp{.ns = std::chrono::nanoseconds(*seconds).count()};
  if (scan.take('.')) stamp.ns += scan.fraction_ns();
  stamp.has_zone = !scan.at_end();
  if (stamp.has_zone) {
    const auto ahead = scan_zone(scan);
    if (!ahead) return bad();
    stamp.ns -= std::chrono::nanoseconds(*ahead).count();
  }
  if (!scan.ok() || !scan.at_end()) return bad();
  return stamp;
}

}  // namespace sluice
