// Sound files of every workload reader to start fuzzing from, and what every file must come to.
// A reader without a seed here fails its fuzz test and its fuzz target.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "traces/workload/workload_trace.h"

namespace sluice::testing {

inline std::vector<std::string> workload_seeds(const std::string& reader) {
  static const std::multimap<std::string, std::string> kSeeds{
      {"mooncake",
       "{\"timestamp\": 0, \"input_length\": 1030, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
       "{\"timestamp\": 3000, \"input_length\": 512, \"output_length\": 7, \"hash_ids\": [0]}\n"
       "{\"timestamp\": 3000, \"input_length\": 90, \"output_length\": 7, \"hash_ids\": [4]}\n"},
      {"mooncake", "{\"input_length\": 5}\r\n{\"input_length\": 60}\r\n"},
      {"azure-llm",
       "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n"
       "2023-11-16 18:17:04.0319600,3180,8"},
      {"azure-llm",
       "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,0,2162,"
       "5\n2024-05-10 00:00:01+00:00,1,20,3\n"},
      {"burstgpt",
       "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
       "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,0,1087,API log\n"},
      {"burstgpt",
       "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
       "Type\n19440110.0,1722ac82,43,GPT-4,906,446,1352,API "
       "log\n19440110.5,,2,ChatGPT,0,29,29,x\n"},
      {"vidur",
       "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,4808,10\n0.052,3180,8\n1e2,1,1\n"},
      {"vidur", "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n30,5,35,6.0\n"},
      {"splitwise-sim",
       "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_"
       "size\n"
       "0,2,0,1,1,4096,32\n1,2,0,3.5,1,2048,8\n"},
      {"llmservingsim",
       "{\"input_toks\":3,\"output_toks\":2,\"arrival_time_ns\":46926808,\"input_tok_ids\":[1,2,3],"
       "\"output_tok_ids\":[4,5]}\n{\"input_toks\":9,\"output_toks\":2,\"arrival_time_ns\":"
       "57926808}\n"},
      {"llmservingsim",
       "{\"session_id\":\"a\",\"arrival_time_ns\":10,\"sub_requests\":[{\"input_toks\":1,"
       "\"output_toks\":1,\"tool_duration_ns\":30},{\"input_toks\":2,\"output_toks\":1,"
       "\"tool_duration_ns\":0}]}\n{\"input_toks\":4,\"output_toks\":1,\"arrival_time_ns\":25}\n"},
      {"workload-csv", "when,who,prompt,answer\n10,\"a, b\",5,6\n12.5,y,7,8\n12.5,,9,0\n"},
  };
  const auto [first, last] = kSeeds.equal_range(reader);
  std::vector<std::string> texts;
  for (auto seed = first; seed != last; ++seed) texts.push_back(seed->second);
  return texts;
}

// The reader, and what its seeds do not say themselves.
inline WorkloadOptions workload_seed_options(const std::string& reader) {
  WorkloadOptions options;
  options.reader = reader;
  if (reader == "llmservingsim") options.block_tokens = 2;
  if (reader != "workload-csv") return options;
  options.time_column = "when";
  options.time_unit = "ms";
  options.input_column = "prompt";
  options.output_column = "answer";
  return options;
}

struct WorkloadOutcome {
  bool was_read = false;
  std::string complaint;  // empty when the outcome is one that callers can live with
};

inline std::string complaint_about(const Error& error) {
  if (error.file.empty() || error.what.empty() || error.fix.empty())
    return "an incomplete error: " + error.to_line();
  if (error.to_line().size() > 1000) return "an error of 1000 bytes";
  return error.to_line().find('\n') == std::string::npos ? "" : "an error of two lines";
}

inline std::string complaint_about(const WorkloadRequest& request, const WorkloadReader& reader,
                                   const std::optional<WorkloadRequest>& before) {
  if (request.input_tokens < 1 || request.input_tokens > kMaxRequestTokens) return "odd input";
  if (request.output_tokens.value_or(0) < 0) return "negative output";
  if (request.line < 1) return "no line";
  if (request.arrival.value_or(Duration::zero()) < Duration::zero()) return "a negative arrival";
  if (before && before->arrival.has_value() != request.arrival.has_value()) return "mixed arrivals";
  if (before && request.arrival < before->arrival) return "arrivals out of order";
  if (request.blocks.empty()) return {};
  if (!reader.block_tokens()) return "blocks of no length";
  const std::int64_t length = *reader.block_tokens();
  const std::int64_t num_blocks = (request.input_tokens + length - 1) / length;
  return static_cast<std::int64_t>(request.blocks.size()) == num_blocks ? "" : "wrong blocks";
}

// Reads a file to its end, or to its error.
inline WorkloadOutcome judge_workload(const std::filesystem::path& path,
                                      const WorkloadOptions& options) {
  Result<WorkloadReader> reader = WorkloadReader::open(path, options);
  if (!reader) return {false, complaint_about(reader.error())};
  std::optional<WorkloadRequest> before;
  while (true) {
    const auto request = reader->next();
    if (!request) return {false, complaint_about(request.error())};
    if (!*request) break;
    const std::string complaint = complaint_about(**request, *reader, before);
    if (!complaint.empty()) return {true, complaint};
    before = **request;
  }
  if (!before) return {true, "no request and no error"};
  return {true, reader->sha256().size() == 64 ? "" : "no hash"};
}

}  // namespace sluice::testing
