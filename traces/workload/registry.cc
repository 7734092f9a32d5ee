// The table of workload formats, and which of them a file asks for.
#include <fmt/format.h>

#include <array>

#include "base/names.h"
#include "traces/readers/line_reader.h"
#include "traces/workload/columns.h"
#include "traces/workload/format.h"
#include "traces/workload/json_line.h"

namespace sluice {
namespace {

std::string_view sign_mooncake(std::string_view line) {
  return names_key(line, "input_length") ? R"(its first line is JSON with "input_length")" : "";
}
std::string_view sign_llmservingsim(std::string_view line) {
  if (names_key(line, "sub_requests")) return R"(its first line is JSON with "sub_requests")";
  return names_key(line, "input_toks") ? R"(its first line is JSON with "input_toks")" : "";
}
std::string_view sign_azure_llm(std::string_view line) {
  constexpr std::array<std::string_view, 2> kNames{"ContextTokens", "GeneratedTokens"};
  return has_columns(line, kNames) ? "its header has ContextTokens and GeneratedTokens" : "";
}
std::string_view sign_burstgpt(std::string_view line) {
  constexpr std::array<std::string_view, 2> kNames{"Request tokens", "Response tokens"};
  return has_columns(line, kNames) ? "its header has `Request tokens` and `Response tokens`" : "";
}
std::string_view sign_vidur(std::string_view line) {
  constexpr std::array<std::string_view, 2> kNames{"num_prefill_tokens", "num_decode_tokens"};
  return has_columns(line, kNames) ? "its header has num_prefill_tokens and num_decode_tokens" : "";
}
std::string_view sign_splitwise_sim(std::string_view line) {
  constexpr std::array<std::string_view, 3> kNames{"arrival_timestamp", "prompt_size",
                                                   "token_size"};
  return has_columns(line, kNames) ? "its header has arrival_timestamp, prompt_size and token_size"
                                   : "";
}
std::string_view no_sign(std::string_view) {
  return "";
}

constexpr std::array kFormats{
    WorkloadFormatInfo{
        .id = "mooncake",
        .summary = "JSON lines with timestamp, input_length, output_length, hash_ids (Mooncake)",
        .times = "ms",
        .prefixes = "an id per 512 tokens",
        .has_header = false,
        .takes_columns = false,
        .takes_block_tokens = false,
        .make = make_mooncake,
        .sign = sign_mooncake},
    WorkloadFormatInfo{
        .id = "azure-llm",
        .summary = "CSV with TIMESTAMP, ContextTokens, GeneratedTokens (Azure 2023, 2024, 2025)",
        .times = "date and time",
        .prefixes = "none",
        .has_header = true,
        .takes_columns = false,
        .takes_block_tokens = false,
        .make = make_azure_llm,
        .sign = sign_azure_llm},
    WorkloadFormatInfo{
        .id = "burstgpt",
        .summary = "CSV with Timestamp, Request tokens, Response tokens, ... (BurstGPT 1 and 2)",
        .times = "s",
        .prefixes = "none",
        .has_header = true,
        .takes_columns = false,
        .takes_block_tokens = false,
        .make = make_burstgpt,
        .sign = sign_burstgpt},
    WorkloadFormatInfo{
        .id = "vidur",
        .summary = "CSV with num_prefill_tokens, num_decode_tokens, with or without arrived_at",
        .times = "s, or none",
        .prefixes = "none",
        .has_header = true,
        .takes_columns = false,
        .takes_block_tokens = false,
        .make = make_vidur,
        .sign = sign_vidur},
    WorkloadFormatInfo{.id = "splitwise-sim",
                       .summary = "CSV with arrival_timestamp, prompt_size, token_size, ...",
                       .times = "s",
                       .prefixes = "none",
                       .has_header = true,
                       .takes_columns = false,
                       .takes_block_tokens = false,
                       .make = make_splitwise_sim,
                       .sign = sign_splitwise_sim},
    WorkloadFormatInfo{
        .id = "llmservingsim",
        .summary = "JSON lines with input_toks, output_toks, arrival_time_ns, or sessions of them",
        .times = "ns",
        .prefixes = "from token ids, --block-tokens each (16)",
        .has_header = false,
        .takes_columns = false,
        .takes_block_tokens = true,
        .make = make_llmservingsim,
        .sign = sign_llmservingsim},
    WorkloadFormatInfo{.id = "workload-csv",
                       .summary = "any CSV with a header, a request per row; named with --reader",
                       .times = "needed: --time-column, --time-unit",
                       .prefixes = "none",
                       .has_header = true,
                       .takes_columns = true,
                       .takes_block_tokens = false,
                       .make = make_workload_csv,
                       .sign = no_sign},
};

}  // namespace

std::span<const WorkloadFormatInfo> workload_formats() {
  return kFormats;
}

Result<const WorkloadFormatInfo*> find_workload_format(std::string_view id) {
  std::vector<std::string> known;
  for (const WorkloadFormatInfo& format : kFormats) {
    if (format.id == id) return &format;
    known.emplace_back(format.id);
  }
  return error_in("--reader", fmt::format("unknown workload reader `{}`", id),
                  suggest_name(id, known));
}

Result<std::optional<WorkloadDetection>> detect_workload(const std::filesystem::path& path) {
  Result<LineReader> lines = LineReader::open(path, kMaxJsonLineBytes);
  if (!lines) return lines.error();
  const auto line = lines->next();
  if (!line) return line.error();
  if (!*line) return lines->empty_file();
  for (const WorkloadFormatInfo& format : kFormats) {
    const std::string_view why = format.sign(**line);
    if (!why.empty()) {
      return std::optional(WorkloadDetection{std::string(format.id), std::string(why)});
    }
  }
  return std::optional<WorkloadDetection>{};
}

std::vector<WorkloadReaderSummary> list_workload_readers() {
  std::vector<WorkloadReaderSummary> out;
  for (const WorkloadFormatInfo& f : kFormats) {
    out.push_back(
        {std::string(f.id), std::string(f.summary), std::string(f.times), std::string(f.prefixes)});
  }
  return out;
}

}  // namespace sluice
