// Vidur's CSV files (microsoft/vidur, data/processed_traces), in two forms: arrived_at [s],
// num_prefill_tokens, num_decode_tokens; or lengths alone with num_total_tokens and pd_ratio.
// Surprise: the second form has no arrivals; whoever replays it says how loads arrive.
#include <fmt/format.h>

#include <array>

#include "traces/workload/columns.h"
#include "traces/workload/format.h"

namespace sluice {
namespace {

constexpr std::string_view kArrival = "arrived_at", kInput = "num_prefill_tokens",
                           kOutput = "num_decode_tokens", kTotal = "num_total_tokens",
                           kRatio = "pd_ratio";

class Vidur final : public WorkloadFormat {
 public:
  explicit Vidur(CsvTable table)
      : table_(std::move(table)),
        arrival_(table_.find(kArrival)),
        total_(table_.find(kTotal)),
        input_(*table_.find(kInput)),
        output_(*table_.find(kOutput)) {}

  Status read(std::string_view line, WorkloadRows& rows) override {
    if (Status split = table_.split(line); !split) return split;
    const Result<std::int64_t> input = read_tokens(table_.field(input_), kInput);
    if (!input) return input.error();
    const Result<std::int64_t> output = read_tokens(table_.field(output_), kOutput);
    if (!output) return output.error();
    WorkloadRequest request{
        .arrival = {}, .input_tokens = *input, .output_tokens = *output, .blocks = {}, .line = 0};
    if (arrival_) {
      const Result<Duration> time =
          read_arrival(table_.field(*arrival_), kArrival, *find_time_unit("s"));
      if (!time) return time.error();
      request.arrival = *time;
    }
    if (Status sum = check_total(*input + *output); !sum) return sum;
    rows.add(std::move(request));
    return {};
  }

 private:
  Status check_total(std::int64_t sum) const {
    if (!total_) return {};
    const Result<std::int64_t> total = read_tokens(table_.field(*total_), kTotal);
    if (!total) return total.error();
    if (*total == sum) return {};
    return error_in("", fmt::format("{} is {}, but prefill and decode are {}", kTotal, *total, sum),
                    "check the columns");
  }

  CsvTable table_;
  std::optional<std::size_t> arrival_, total_;
  std::size_t input_, output_;
};

}  // namespace

MadeFormat make_vidur(std::string_view header, const WorkloadOptions&) {
  Result<CsvTable> table = CsvTable::with_header(header);
  if (!table) return table.error();
  for (const std::string_view name : {kInput, kOutput}) {
    if (const auto column = table->require(name); !column) return column.error();
  }
  constexpr std::array kKnown{kArrival, kInput, kOutput, kTotal, kRatio};
  if (Status known = table->allow_only(kKnown); !known) return known.error();
  return std::unique_ptr<WorkloadFormat>(std::make_unique<Vidur>(std::move(*table)));
}

}  // namespace sluice
