// Mooncake's JSON lines (kvcache-ai/Mooncake, FAST25-release/traces): timestamp [ms], input_length,
// output_length, hash_ids, one id for each 512 tokens of the input, the last for the rest.
// Surprise: some tools leave out timestamp, output_length or hash_ids; then all lines must.
#include <fmt/format.h>

#include <array>

#include "traces/workload/columns.h"
#include "traces/workload/format.h"
#include "traces/workload/json_line.h"

namespace sluice {
namespace {

constexpr std::int64_t kBlockTokens = 512;

enum Key : std::size_t { kTimestamp, kInputLength, kOutputLength, kHashIds, kNumKeys };
constexpr std::array<JsonKey, kNumKeys> kKeys{
    JsonKey{"timestamp", JsonKind::kNumber}, JsonKey{"input_length", JsonKind::kNumber},
    JsonKey{"output_length", JsonKind::kNumber}, JsonKey{"hash_ids", JsonKind::kIds}};

class Mooncake final : public WorkloadFormat {
 public:
  Status read(std::string_view line, WorkloadRows& rows) override {
    Result<JsonObject> object = read_json_line(line, kKeys);
    if (!object) return object.error();
    if (Status same = check_keys(*object); !same) return same;
    WorkloadRequest request;
    if (Status lengths = read_lengths(*object, request); !lengths) return lengths;
    if (given_[kTimestamp]) {
      const Result<Duration> time =
          read_arrival(object->fields[kTimestamp].text, "timestamp", *find_time_unit("ms"));
      if (!time) return time.error();
      request.arrival = *time;
    }
    request.blocks = std::move(object->fields[kHashIds].ids);
    rows.add(std::move(request));
    return {};
  }

  std::optional<std::int64_t> block_tokens() const override {
    return given_[kHashIds] ? std::optional(kBlockTokens) : std::nullopt;
  }

 private:
  // The first line says which of the keys the file has.
  Status check_keys(const JsonObject& object) {
    for (std::size_t i = 0; i < kNumKeys; ++i) {
      const bool given = object.fields[i].given;
      if (first_) given_[i] = given;
      if (i == kInputLength ? given : given == given_[i]) continue;
      return error_in("",
                      given ? fmt::format("has `{}`, which the lines before lack", kKeys[i].name)
                            : fmt::format("`{}` is missing", kKeys[i].name),
                      "give all lines the same keys");
    }
    first_ = false;
    return {};
  }

  Status read_lengths(const JsonObject& object, WorkloadRequest& request) const {
    const Result<std::int64_t> input =
        read_tokens(object.fields[kInputLength].text, "input_length");
    if (!input) return input.error();
    request.input_tokens = *input;
    if (given_[kOutputLength]) {
      const Result<std::int64_t> output =
          read_tokens(object.fields[kOutputLength].text, "output_length");
      if (!output) return output.error();
      request.output_tokens = *output;
    }
    const auto num_ids = static_cast<std::int64_t>(object.fields[kHashIds].ids.size());
    const std::int64_t num_blocks = (*input + kBlockTokens - 1) / kBlockTokens;
    if (!given_[kHashIds] || num_ids == num_blocks) return {};
    return error_in("",
                    fmt::format("{} hash_ids, but an input of {} tokens has {} blocks of {}",
                                num_ids, *input, num_blocks, kBlockTokens),
                    "give one id for each block, the last for what is left");
  }

  bool first_ = true;
  std::array<bool, kNumKeys> given_{};
};

}  // namespace

MadeFormat make_mooncake(std::string_view, const WorkloadOptions&) {
  return std::unique_ptr<WorkloadFormat>(std::make_unique<Mooncake>());
}

}  // namespace sluice
