// BurstGPT (HPMLL/BurstGPT): Timestamp [s], Model, Request tokens, Response tokens, Total tokens,
// Log Type; since version 2 Session ID and Elapsed time stand in the middle of them.
// Surprises: a response of zero tokens is a request that failed; the clock of version 2 does not
// begin at zero; a session's turns are separate rows without a word on what they share.
#include <fmt/format.h>

#include <array>

#include "traces/workload/columns.h"
#include "traces/workload/format.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 8> kColumns{
    "Timestamp", "Request tokens", "Response tokens", "Total tokens",
    "Model",     "Log Type",       "Session ID",      "Elapsed time"};
constexpr std::size_t kNumNeeded = 4;

class BurstGpt final : public WorkloadFormat {
 public:
  explicit BurstGpt(CsvTable table) : table_(std::move(table)) {
    for (std::size_t i = 0; i < kNumNeeded; ++i) index_[i] = *table_.find(kColumns[i]);
  }

  Status read(std::string_view line, WorkloadRows& rows) override {
    if (Status split = table_.split(line); !split) return split;
    const Result<Duration> time =
        read_arrival(table_.field(index_[0]), kColumns[0], *find_time_unit("s"));
    if (!time) return time.error();
    std::array<std::int64_t, kNumNeeded> tokens{};
    for (std::size_t i = 1; i < kNumNeeded; ++i) {
      const Result<std::int64_t> read = read_tokens(table_.field(index_[i]), kColumns[i]);
      if (!read) return read.error();
      tokens[i] = *read;
    }
    if (tokens[1] + tokens[2] != tokens[3]) {
      return error_in("",
                      fmt::format("Total tokens {} are not the sum of {} and {}", tokens[3],
                                  tokens[1], tokens[2]),
                      "check the columns");
    }
    if (tokens[2] == 0) {
      rows.skip("no response tokens: the request failed");
      return {};
    }
    rows.add({.arrival = *time,
              .input_tokens = tokens[1],
              .output_tokens = tokens[2],
              .blocks = {},
              .line = 0});
    return {};
  }

 private:
  CsvTable table_;
  std::array<std::size_t, kNumNeeded> index_{};
};

}  // namespace

MadeFormat make_burstgpt(std::string_view header, const WorkloadOptions&) {
  Result<CsvTable> table = CsvTable::with_header(header);
  if (!table) return table.error();
  for (std::size_t i = 0; i < kNumNeeded; ++i) {
    if (const auto column = table->require(kColumns[i]); !column) return column.error();
  }
  if (Status known = table->allow_only(kColumns); !known) return known.error();
  return std::unique_ptr<WorkloadFormat>(std::make_unique<BurstGpt>(std::move(*table)));
}

}  // namespace sluice
