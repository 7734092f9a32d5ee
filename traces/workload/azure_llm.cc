// Azure's LLM inference traces (Azure/AzurePublicDataset): TIMESTAMP, ContextTokens,
// GeneratedTokens. 2023: an hour, 7-digit fractions, CRLF. 2024: weeks, a zone behind the stamp, no
// fraction on the full second. 2025: NumImages too, whose tokens are in ContextTokens.
// Surprise: nothing says which requests share a prefix.
#include <array>

#include "traces/date_time.h"
#include "traces/workload/columns.h"
#include "traces/workload/format.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 4> kColumns{"TIMESTAMP", "ContextTokens", "GeneratedTokens",
                                                   "NumImages"};

class AzureLlm final : public WorkloadFormat {
 public:
  explicit AzureLlm(CsvTable table) : table_(std::move(table)) {
    for (std::size_t i = 0; i < index_.size(); ++i) index_[i] = *table_.find(kColumns[i]);
  }

  Status read(std::string_view line, WorkloadRows& rows) override {
    if (Status split = table_.split(line); !split) return split;
    const Result<DateTime> time = read_date_time(table_.field(index_[0]));
    if (!time) return time.error();
    if (has_zone_.value_or(time->has_zone) != time->has_zone) {
      return error_in("", "some times have a zone and some have none",
                      "give all of them the same form");
    }
    has_zone_ = time->has_zone;
    const Result<std::int64_t> input = read_tokens(table_.field(index_[1]), kColumns[1]);
    if (!input) return input.error();
    const Result<std::int64_t> output = read_tokens(table_.field(index_[2]), kColumns[2]);
    if (!output) return output.error();
    rows.add({.arrival = nanoseconds(time->ns),
              .input_tokens = *input,
              .output_tokens = *output,
              .blocks = {},
              .line = 0});
    return {};
  }

 private:
  CsvTable table_;
  std::array<std::size_t, 3> index_{};
  std::optional<bool> has_zone_;
};

}  // namespace

MadeFormat make_azure_llm(std::string_view header, const WorkloadOptions&) {
  Result<CsvTable> table = CsvTable::with_header(header);
  if (!table) return table.error();
  for (std::size_t i = 0; i < 3; ++i) {
    if (const auto column = table->require(kColumns[i]); !column) return column.error();
  }
  if (Status known = table->allow_only(kColumns); !known) return known.error();
  return std::unique_ptr<WorkloadFormat>(std::make_unique<AzureLlm>(std::move(*table)));
}

}  // namespace sluice
