// Mooncake's and LLMServingSim's JSON lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/traces/workload_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_workload;
using testing::workload_error;
using testing::WorkloadRead;

TEST(Mooncake, ALineIsARequestWithABlockPer512Tokens) {
  const std::string text =
      "{\"timestamp\": 1000, \"input_length\": 513, \"output_length\": 7, \"hash_ids\": [0, 46]}\n"
      "{\"timestamp\": 4000, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [0]}\n";
  const WorkloadRead read = read_workload(text);
  EXPECT_EQ(read.reader, "mooncake");
  EXPECT_EQ(read.sha256, sha256_hex(text));
  EXPECT_EQ(read.block_tokens, 512);
  ASSERT_EQ(read.requests.size(), 2U);
  EXPECT_EQ(read.requests[0].arrival, 0s);  // the trace starts at its first request
  EXPECT_EQ(read.requests[1].arrival, 3s);
  EXPECT_EQ(read.requests[0].input_tokens, 513);
  EXPECT_EQ(read.requests[0].output_tokens, 7);
  EXPECT_THAT(read.requests[0].blocks, ElementsAre(0, 46));
  EXPECT_EQ(read.requests[1].line, 2);
}

TEST(Mooncake, TheNumberOfIdsIsTheInputOver512RoundedUp) {
  const std::string start = "{\"timestamp\": 0, \"output_length\": 1, ";
  EXPECT_THAT(workload_error(start + "\"input_length\": 513, \"hash_ids\": [1]}"),
              HasSubstr("trace:1: 1 hash_ids, but an input of 513 tokens has 2 blocks of 512"));
  EXPECT_THAT(workload_error(start + "\"input_length\": 512, \"hash_ids\": [1, 2]}"),
              HasSubstr("trace:1: 2 hash_ids, but an input of 512 tokens has 1 blocks of 512"));
}

TEST(Mooncake, IdsMayFill64Bits) {
  const WorkloadRead read = read_workload(
      R"({"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [18446744073709551615]})");
  EXPECT_THAT(read.requests.at(0).blocks, ElementsAre(18446744073709551615ULL));
}

TEST(Mooncake, AllLinesOrNoneHaveATimeAnOutputAndIds) {
  const WorkloadRead bare = read_workload("{\"input_length\": 5}\n{\"input_length\": 6}\n");
  ASSERT_EQ(bare.requests.size(), 2U);
  EXPECT_EQ(bare.requests[0].arrival, std::nullopt);
  EXPECT_EQ(bare.requests[0].output_tokens, std::nullopt);
  EXPECT_EQ(bare.block_tokens, std::nullopt);
  EXPECT_THAT(workload_error("{\"input_length\": 5}\n{\"timestamp\": 1, \"input_length\": 6}\n"),
              HasSubstr("trace:2: has `timestamp`, which the lines before lack"));
  EXPECT_THAT(workload_error("{\"timestamp\": 1, \"input_length\": 6}\n{\"input_length\": 5}\n"),
              HasSubstr("trace:2: `timestamp` is missing; give all lines the same keys"));
  EXPECT_THAT(workload_error("{\"timestamp\": 1}\n", testing::workload_reader("mooncake")),
              HasSubstr("trace:1: `input_length` is missing"));
}

TEST(JsonLines, WhatIsOutOfPlaceIsNamedWithItsLine) {
  const auto error = [](std::string_view line) {
    return workload_error(line, testing::workload_reader("mooncake"));
  };
  EXPECT_THAT(error("[1]"),
              HasSubstr("trace:1: a list is out of place; write one object per line"));
  EXPECT_THAT(error("7"), HasSubstr("trace:1: a number is out of place"));
  EXPECT_THAT(error("{\"input_length\": 5"), HasSubstr("trace:1: not JSON from column"));
  EXPECT_THAT(error("{\"input_length\": 5} {}"), HasSubstr("trace:1: not JSON from column"));
  EXPECT_THAT(error("{\"input_lenght\": 5}"),
              HasSubstr("trace:1: unknown key `input_lenght`; did you mean `input_length`?"));
  EXPECT_THAT(error("{\"input_length\": 5, \"input_length\": 5}"),
              HasSubstr("trace:1: the key `input_length` stands twice"));
  EXPECT_THAT(error("{\"input_length\": \"5\"}"),
              HasSubstr("trace:1: `input_length` is a text; write a number"));
  EXPECT_THAT(error("{\"input_length\": null}"),
              HasSubstr("`input_length` is null; write a number"));
  EXPECT_THAT(error("{\"input_length\": [5]}"), HasSubstr("`input_length` is a list"));
  EXPECT_THAT(error("{\"input_length\": {}}"), HasSubstr("an object is out of place"));
  EXPECT_THAT(error("{\"hash_ids\": 5}"), HasSubstr("`hash_ids` is a number; write a list"));
  EXPECT_THAT(error("{\"hash_ids\": [-1]}"), HasSubstr("`hash_ids` holds `-1`"));
  EXPECT_THAT(error("{\"hash_ids\": [1.5]}"), HasSubstr("`hash_ids` holds `1.5`"));
  EXPECT_THAT(error("{\"hash_ids\": [\"a\"]}"), HasSubstr("`hash_ids` holds `a`"));
  EXPECT_THAT(error("{\"hash_ids\": [[1]]}"), HasSubstr("a list is out of place"));
  EXPECT_THAT(error("{\"input_length\": -5}"), HasSubstr("input_length `-5` is negative"));
  EXPECT_THAT(error("{\"input_length\": 1.5}"), HasSubstr("input_length `1.5` is not a whole"));
  EXPECT_THAT(error("{\"input_length\": 2000000000}"),
              HasSubstr("input_length `2000000000` is more than 1000000000 tokens"));
  EXPECT_THAT(error("{\"timestamp\": -1, \"input_length\": 5}"),
              HasSubstr("timestamp: the time `-1` is negative"));
}

TEST(JsonLines, DeepNestingIsRefusedAtOnce) {
  EXPECT_THAT(workload_error("{\"hash_ids\": " + std::string(1'000'000, '['),
                             testing::workload_reader("mooncake")),
              HasSubstr("trace:1: a list is out of place"));
  EXPECT_THAT(workload_error("{\"sub_requests\": [{\"input_tok_ids\": [{"),
              HasSubstr("trace:1: an object is out of place"));
}

TEST(LlmServingSim, TokenIdsBecomeBlocksThatAreEqualWhileAllTokensAre) {
  WorkloadOptions options;
  options.block_tokens = 2;
  const WorkloadRead read = read_workload(
      R"({"input_toks": 5, "output_toks": 1, "arrival_time_ns": 7, "input_tok_ids": [1, 2, 3, 4, 5]})"
      "\n"
      R"({"input_toks": 4, "output_toks": 2, "arrival_time_ns": 9, "input_tok_ids": [1, 2, 3, 4], "output_tok_ids": [5, 6]})"
      "\n"
      R"({"input_toks": 4, "output_toks": 1, "arrival_time_ns": 9, "input_tok_ids": [9, 2, 3, 4]})"
      "\n",
      options);
  EXPECT_EQ(read.reader, "llmservingsim");
  EXPECT_EQ(read.block_tokens, 2);
  ASSERT_EQ(read.requests.size(), 3U);
  EXPECT_EQ(read.requests[1].arrival, 2ns);
  const auto& first = read.requests[0].blocks;
  const auto& second = read.requests[1].blocks;
  const auto& third = read.requests[2].blocks;
  ASSERT_EQ(first.size(), 3U);  // 1 2, 3 4, 5
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0], first[0]);
  EXPECT_EQ(second[1], first[1]);
  EXPECT_NE(third[0], first[0]);
  EXPECT_NE(third[1], first[1]);  // 3 4 too, but behind other tokens
}

TEST(LlmServingSim, WithoutTokenIdsThereAreNoBlocks) {
  const WorkloadRead read =
      read_workload("{\"input_toks\": 5, \"output_toks\": 1, \"arrival_time_ns\": 7}\n");
  EXPECT_EQ(read.block_tokens, std::nullopt);
  EXPECT_THAT(read.requests.at(0).blocks, IsEmpty());
}

TEST(LlmServingSim, ASessionsCallsComeAtItsArrivalPlusTheToolTimesAmongTheOthers) {
  // Calls at 10, 10 + 30 and 10 + 30 + 5; the flat request at 25 comes between.
  const WorkloadRead read =
      read_workload(R"({"session_id": "a", "arrival_time_ns": 10, "sub_requests": [)"
                    R"({"input_toks": 1, "output_toks": 1, "tool_duration_ns": 30},)"
                    R"({"input_toks": 2, "output_toks": 1, "tool_duration_ns": 5},)"
                    R"({"input_toks": 3, "output_toks": 1, "tool_duration_ns": 0}]})"
                    "\n"
                    R"({"input_toks": 4, "output_toks": 1, "arrival_time_ns": 25})"
                    "\n");
  std::vector<std::int64_t> inputs, arrivals, lines;
  for (const WorkloadRequest& request : read.requests) {
    inputs.push_back(request.input_tokens);
    arrivals.push_back(to_ns(*request.arrival));
    lines.push_back(request.line);
  }
  EXPECT_THAT(inputs, ElementsAre(1, 4, 2, 3));
  EXPECT_THAT(arrivals, ElementsAre(0, 15, 30, 35));
  EXPECT_THAT(lines, ElementsAre(1, 2, 1, 1));
}

TEST(LlmServingSim, CallsAtOneTimeKeepTheOrderOfTheFile) {
  const WorkloadRead read =
      read_workload(R"({"session_id": "a", "arrival_time_ns": 0, "sub_requests": [)"
                    R"({"input_toks": 1, "output_toks": 1, "tool_duration_ns": 0},)"
                    R"({"input_toks": 2, "output_toks": 1, "tool_duration_ns": 0},)"
                    R"({"input_toks": 3, "output_toks": 1, "tool_duration_ns": 0}]})");
  std::vector<std::int64_t> inputs;
  for (const WorkloadRequest& request : read.requests) inputs.push_back(request.input_tokens);
  EXPECT_THAT(inputs, ElementsAre(1, 2, 3));
}

TEST(LlmServingSim, WhatItsOwnLoaderTakesInSilenceIsAnError) {
  const auto error = [](std::string_view line) {
    return workload_error(line, testing::workload_reader("llmservingsim"));
  };
  EXPECT_THAT(
      error(R"({"input_toks": 3, "output_toks": 1, "arrival_time_ns": 0, "input_tok_ids": [1]})"),
      HasSubstr("input_toks is 3, but input_tok_ids has 1 ids"));
  EXPECT_THAT(error(R"({"input_toks": 3, "arrival_time_ns": 0})"),
              HasSubstr("`output_toks` is missing"));
  EXPECT_THAT(error(R"({"input_toks": 3, "output_toks": 1})"),
              HasSubstr("`arrival_time_ns` is missing"));
  EXPECT_THAT(error(R"({"session_id": "a", "arrival_time_ns": 0})"),
              HasSubstr("`sub_requests` is missing"));
  EXPECT_THAT(error(R"({"session_id": "a", "arrival_time_ns": 0, "sub_requests": []})"),
              HasSubstr("`sub_requests` is an empty list"));
  EXPECT_THAT(error(R"({"arrival_time_ns": 0, "sub_requests": [{}]})"),
              HasSubstr("`session_id` is missing"));
  EXPECT_THAT(
      error(R"({"session_id": "a", "input_toks": 3, "arrival_time_ns": 0, "sub_requests": [{}]})"),
      HasSubstr("a session has `input_toks` of its own"));
  EXPECT_THAT(
      error(
          R"({"session_id": "a", "arrival_time_ns": 0, "sub_requests": [{"input_toks": 1, "output_toks": 1}]})"),
      HasSubstr("`tool_duration_ns` is missing"));
  EXPECT_THAT(
      error(
          R"({"session_id": "a", "arrival_time_ns": 9223372036854775807, "sub_requests": [{"input_toks": 1, "output_toks": 1, "tool_duration_ns": 9223372036854775807}]})"),
      HasSubstr("the tool times of a session pass 292 years"));
}

}  // namespace
}  // namespace sluice
