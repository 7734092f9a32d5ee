// SplitwiseSim's CSV files (Mutinifni/splitwise-sim, traces): request_id, request_type,
// application_id, arrival_timestamp [s], batch_size, prompt_size, token_size [tokens].
// Surprise: only requests to a language model (type 2) of one sequence have a meaning here.
#include <fmt/format.h>

#include <array>

#include "traces/readers/line_reader.h"
#include "traces/workload/columns.h"
#include "traces/workload/format.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 7> kColumns{
    "request_id", "request_type", "application_id", "arrival_timestamp",
    "batch_size", "prompt_size",  "token_size"};
enum Column : std::size_t { kType = 1, kArrival = 3, kBatch = 4, kPrompt = 5, kToken = 6 };

class SplitwiseSim final : public WorkloadFormat {
 public:
  explicit SplitwiseSim(CsvTable table) : table_(std::move(table)) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) index_[i] = *table_.find(kColumns[i]);
  }

  Status read(std::string_view line, WorkloadRows& rows) override {
    if (Status split = table_.split(line); !split) return split;
    for (const auto& [column, wanted] : {std::pair{kType, "2"}, std::pair{kBatch, "1"}}) {
      if (text(column) == wanted) continue;
      return error_in("",
                      fmt::format("{} is `{}`; only {} is understood", kColumns[column],
                                  excerpt(text(column)), wanted),
                      "take such rows out");
    }
    const Result<Duration> time =
        read_arrival(text(kArrival), kColumns[kArrival], *find_time_unit("s"));
    if (!time) return time.error();
    const Result<std::int64_t> input = read_tokens(text(kPrompt), kColumns[kPrompt]);
    if (!input) return input.error();
    const Result<std::int64_t> output = read_tokens(text(kToken), kColumns[kToken]);
    if (!output) return output.error();
    rows.add({.arrival = *time,
              .input_tokens = *input,
              .output_tokens = *output,
              .blocks = {},
              .line = 0});
    return {};
  }

 private:
  [[nodiscard]] std::string_view text(Column column) const { return table_.field(index_[column]); }

  CsvTable table_;
  std::array<std::size_t, kColumns.size()> index_{};
};

}  // namespace

MadeFormat make_splitwise_sim(std::string_view header, const WorkloadOptions&) {
  Result<CsvTable> table = CsvTable::with_header(header);
  if (!table) return table.error();
  for (const std::string_view name : kColumns) {
    if (const auto column = table->require(name); !column) return column.error();
  }
  if (Status known = table->allow_only(kColumns); !known) return known.error();
  return std::unique_ptr<WorkloadFormat>(std::make_unique<SplitwiseSim>(std::move(*table)));
}

}  // namespace sluice
