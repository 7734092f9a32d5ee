// LLMServingSim's JSON lines (casys-kaist/LLMServingSim, workloads), in two shapes that may mix:
// {input_toks, output_toks, arrival_time_ns} with or without token ids; and sessions
// {session_id, arrival_time_ns, sub_requests: [{input_toks, output_toks, tool_duration_ns}]}.
// Surprises: token ids become prefix blocks (each id hashes all tokens up to the block's end); a
// session's calls follow at its arrival plus the tool times before them, since the file cannot say
// how long the calls themselves take.
#include <fmt/format.h>

#include <array>
#include <span>

#include "base/sha256.h"
#include "traces/workload/columns.h"
#include "traces/workload/format.h"
#include "traces/workload/json_line.h"

namespace sluice {
namespace {

constexpr std::int64_t kBlockTokensDefault = 16;  // its own, and vLLM's

enum CallKey : std::size_t { kInput, kOutput, kInputIds, kOutputIds, kToolTime, kNumCallKeys };
constexpr std::array<JsonKey, kNumCallKeys> kCallKeys{
    JsonKey{"input_toks", JsonKind::kNumber}, JsonKey{"output_toks", JsonKind::kNumber},
    JsonKey{"input_tok_ids", JsonKind::kIds}, JsonKey{"output_tok_ids", JsonKind::kIds},
    JsonKey{"tool_duration_ns", JsonKind::kNumber}};
// A line of either shape: the keys of a call without a tool time, and those of a session.
enum LineKey : std::size_t { kArrival = kToolTime, kSession, kCalls, kNumLineKeys };
constexpr std::array<JsonKey, kNumLineKeys> kLineKeys{
    kCallKeys[kInput],
    kCallKeys[kOutput],
    kCallKeys[kInputIds],
    kCallKeys[kOutputIds],
    JsonKey{"arrival_time_ns", JsonKind::kNumber},
    JsonKey{"session_id", JsonKind::kText},
    JsonKey{"sub_requests", JsonKind::kObjects, kCallKeys}};

Error missing(std::string_view key) {
  return error_in("", fmt::format("`{}` is missing", key), "add it");
}

// Ids that are equal only where all tokens up to the block's end are: a chain of hashes.
std::vector<std::uint64_t> blocks_of(std::span<const std::uint64_t> tokens,
                                     std::size_t block_tokens) {
  std::vector<std::uint64_t> blocks;
  std::string chain;
  for (std::size_t begin = 0; begin < tokens.size(); begin += block_tokens) {
    Sha256 hash;
    hash.update(chain);
    hash.update(
        std::as_bytes(tokens.subspan(begin, std::min(block_tokens, tokens.size() - begin))));
    chain = hash.hex();
    blocks.push_back(std::stoull(chain.substr(0, 16), nullptr, 16));
  }
  return blocks;
}

class LlmServingSim final : public WorkloadFormat {
 public:
  explicit LlmServingSim(std::int64_t block_tokens) : block_tokens_(block_tokens) {}

  Status read(std::string_view line, WorkloadRows& rows) override {
    Result<JsonObject> object = read_json_line(line, kLineKeys);
    if (!object) return object.error();
    const std::vector<JsonField>& fields = object->fields;
    if (!fields[kArrival].given) return missing("arrival_time_ns");
    const Result<Duration> arrival =
        read_arrival(fields[kArrival].text, "arrival_time_ns", *find_time_unit("ns"));
    if (!arrival) return arrival.error();
    if (fields[kCalls].given) return read_session(*object, *arrival, rows);
    if (fields[kSession].given) return missing("sub_requests");
    return add_call(*object, *arrival, rows);
  }

  std::optional<std::int64_t> block_tokens() const override {
    return any_ids_ ? std::optional(block_tokens_) : std::nullopt;
  }

 private:
  Status read_session(const JsonObject& session, Duration arrival, WorkloadRows& rows) {
    for (const std::size_t key : {kInput, kOutput, kInputIds, kOutputIds}) {
      if (!session.fields[key].given) continue;
      return error_in("", fmt::format("a session has `{}` of its own", kLineKeys[key].name),
                      "put it into its sub_requests");
    }
    if (!session.fields[kSession].given) return missing("session_id");
    const std::vector<JsonObject>& calls = session.fields[kCalls].objects;
    if (calls.empty()) return error_in("", "`sub_requests` is an empty list", "give at least one");
    for (const JsonObject& call : calls) {
      if (Status added = add_call(call, arrival, rows); !added) return added;
      const JsonField& tool = call.fields[kToolTime];
      if (!tool.given) return missing("tool_duration_ns");
      const Result<Duration> time =
          read_arrival(tool.text, "tool_duration_ns", *find_time_unit("ns"));
      if (!time) return time.error();
      if (*time > Duration::max() - arrival)
        return error_in("", "the tool times of a session pass 292 years", "check their unit");
      arrival += *time;
    }
    return {};
  }

  // The count and, where they are given, as many ids.
  static Result<std::int64_t> count(const JsonObject& call, CallKey number, CallKey ids) {
    if (!call.fields[number].given) return missing(kCallKeys[number].name);
    const auto tokens = read_tokens(call.fields[number].text, kCallKeys[number].name);
    if (!tokens) return tokens.error();
    const auto num_ids = static_cast<std::int64_t>(call.fields[ids].ids.size());
    if (!call.fields[ids].given || num_ids == *tokens) return *tokens;
    return error_in("",
                    fmt::format("{} is {}, but {} has {} ids", kCallKeys[number].name, *tokens,
                                kCallKeys[ids].name, num_ids),
                    "give one id for each token");
  }

  Status add_call(const JsonObject& call, Duration arrival, WorkloadRows& rows) {
    const auto input = count(call, kInput, kInputIds), output = count(call, kOutput, kOutputIds);
    if (!input) return input.error();
    if (!output) return output.error();
    any_ids_ = any_ids_ || call.fields[kInputIds].given;
    rows.add(
        {.arrival = arrival,
         .input_tokens = *input,
         .output_tokens = *output,
         .blocks = blocks_of(call.fields[kInputIds].ids, static_cast<std::size_t>(block_tokens_)),
         .line = 0});
    return {};
  }

  std::int64_t block_tokens_;
  bool any_ids_ = false;
};

}  // namespace

MadeFormat make_llmservingsim(std::string_view, const WorkloadOptions& options) {
  return std::unique_ptr<WorkloadFormat>(
      std::make_unique<LlmServingSim>(options.block_tokens.value_or(kBlockTokensDefault)));
}

}  // namespace sluice
