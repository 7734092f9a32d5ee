// The workload formats in CSV: Azure, BurstGPT, Vidur, SplitwiseSim, and any with named columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/workload_helpers.h"
#include "traces/date_time.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_workload;
using testing::workload_error;
using testing::workload_reader;
using testing::WorkloadRead;

TEST(DateTime, StampsAreNanosecondsSince1970) {
  const auto ns = [](std::string_view text) { return read_date_time(text)->ns; };
  EXPECT_EQ(ns("1970-01-02 00:00:01"), 86'401'000'000'000);
  EXPECT_EQ(ns("1970-01-01T00:00:00.9799600"), 979'960'000);  // seven digits
  EXPECT_EQ(ns("1970-01-01 00:00:00.000000001"), 1);
  EXPECT_EQ(ns("1970-01-01 02:00:00+02:00"), 0);
  EXPECT_EQ(ns("1970-01-01 00:00:00-00:30"), 1'800'000'000'000);
  EXPECT_EQ(ns("2024-02-29 00:00:00Z"), 1'709'164'800'000'000'000);  // date -u -d 2024-02-29 +%s
  EXPECT_TRUE(read_date_time("2024-02-29 00:00:00Z")->has_zone);
  EXPECT_FALSE(read_date_time("2024-02-29 00:00:00")->has_zone);
}

TEST(DateTime, WhatIsNoDateIsRefused) {
  for (const char* text :
       {"", "2023-02-29 00:00:00", "2023-13-01 00:00:00", "2023-11-16", "2023-11-16 24:00:00",
        "2023-11-16 18:60:00", "2023-11-16 18:17:60", "2023-11-16 18:17:03.",
        "2023-11-16 18:17:03.1234567890", "2023-11-16 18:17:03+2:00", "2023-11-16 18:17:03 x",
        "23-11-16 18:17:03", "1969-12-31 23:59:59", "2201-01-01 00:00:00",
        "2023-11-16 18:17:03+15:00"}) {
    EXPECT_FALSE(read_date_time(text).ok()) << text;
  }
}

TEST(AzureLlm, FilesOf2023HaveCrLfAndSevenDigitsAndNoEndOfTheLastLine) {
  const WorkloadRead read = read_workload(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 18:17:03.9799600,4808,10\r\n"
      "2023-11-16 18:17:04.0319600,3180,8");
  EXPECT_EQ(read.reader, "azure-llm");
  EXPECT_EQ(read.block_tokens, std::nullopt);
  ASSERT_EQ(read.requests.size(), 2U);
  EXPECT_EQ(read.requests[1].arrival, 52ms);
  EXPECT_EQ(read.requests[1].input_tokens, 3180);
  EXPECT_EQ(read.requests[1].output_tokens, 8);
  EXPECT_EQ(read.requests[1].line, 3);
}

TEST(AzureLlm, FilesOf2024HaveAZoneAndNoFractionOnTheFullSecond) {
  const WorkloadRead read = read_workload(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 23:59:59.500000+00:00,2162,5\n"
      "2024-05-11 00:00:00+00:00,100,7\n");
  EXPECT_EQ(read.requests.at(1).arrival, 500ms);
}

TEST(AzureLlm, FilesOf2025HaveAColumnOfImages) {
  EXPECT_EQ(read_workload("TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n"
                          "2024-10-15 00:00:00,3,900,5\n")
                .requests.at(0)
                .input_tokens,
            900);
}

TEST(AzureLlm, WhatIsWrongIsNamedWithItsLine) {
  const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  EXPECT_THAT(workload_error(header + "2023-11-16 18:17:03,1\n"),
              HasSubstr("trace:2: 2 columns, but the header has 3"));
  EXPECT_THAT(workload_error(header + "yesterday,1,1\n"),
              HasSubstr("trace:2: the time `yesterday` is not a date and time"));
  EXPECT_THAT(workload_error(header + "2023-11-16 18:17:03,1.5,1\n"),
              HasSubstr("trace:2: ContextTokens `1.5` is not a whole number"));
  EXPECT_THAT(workload_error(header + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:04Z,1,1\n"),
              HasSubstr("trace:3: some times have a zone and some have none"));
  EXPECT_THAT(workload_error(header + "2023-11-16 18:17:03,1,1\n2023-11-16 18:17:02,1,1\n"),
              HasSubstr("trace:3: the time is earlier than that of the line before; sort"));
  EXPECT_THAT(workload_error("TIMESTAMP,ContextTokens,GeneratedTokens,Cost\n"),
              HasSubstr("trace:1: unknown column `Cost`"));
  EXPECT_THAT(workload_error("TIMESTAMP,ContextTokens\n", workload_reader("azure-llm")),
              HasSubstr("trace:1: no column `GeneratedTokens`"));
  EXPECT_THAT(workload_error("TIMESTAMP,ContextTokens,GeneratedTokens,TIMESTAMP\n"),
              HasSubstr("trace:1: two columns are called `TIMESTAMP`"));
}

TEST(BurstGpt, BothVersionsOfTheHeaderAreReadByName) {
  const WorkloadRead one = read_workload(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,GPT-4,1087,230,1317,API log\n");
  EXPECT_EQ(one.reader, "burstgpt");
  EXPECT_EQ(one.requests.at(0).arrival, 0s);
  EXPECT_EQ(one.requests.at(1).arrival, 40s);
  EXPECT_EQ(one.requests.at(1).input_tokens, 1087);
  const WorkloadRead two = read_workload(
      "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
      "Type\n"
      "19440110.0,1722ac82-0a46,43,GPT-4,906,446,1352,Conversation log\n"
      "19440161.5,,2,ChatGPT,36,29,65,API log\n");
  EXPECT_EQ(two.requests.at(1).arrival, 51'500ms);
  EXPECT_EQ(two.requests.at(1).output_tokens, 29);
}

TEST(BurstGpt, ARequestThatFailedIsSkippedCountedAndExplained) {
  const std::string header =
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n";
  const WorkloadRead read = read_workload(header +
                                          "5,ChatGPT,472,0,472,API log\n"
                                          "6,ChatGPT,0,0,0,API log\n"
                                          "7,ChatGPT,10,1,11,API log\n");
  ASSERT_EQ(read.requests.size(), 1U);
  EXPECT_EQ(read.requests[0].arrival, 0s);
  EXPECT_THAT(read.skipped, ElementsAre(SkippedRows{2, "no response tokens: the request failed"}));
  EXPECT_THAT(workload_error(header + "5,ChatGPT,472,0,472,API log\n"),
              HasSubstr("trace: every row was skipped: no response tokens"));
  EXPECT_THAT(workload_error(header + "5,ChatGPT,472,18,491,API log\n"),
              HasSubstr("trace:2: Total tokens 491 are not the sum of 472 and 18"));
}

TEST(Vidur, SecondsFromTheFirstRequest) {
  const WorkloadRead read =
      read_workload("arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,4808,10\n0.052,3180,8\n");
  EXPECT_EQ(read.reader, "vidur");
  EXPECT_EQ(read.requests.at(1).arrival, 52ms);
}

TEST(Vidur, LengthsAloneHaveNoArrivals) {
  const std::string header = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n";
  const WorkloadRead read = read_workload(header + "3772,54,3826,69.85185185185185\n");
  EXPECT_EQ(read.requests.at(0).arrival, std::nullopt);
  EXPECT_EQ(read.requests.at(0).input_tokens, 3772);
  EXPECT_THAT(workload_error(header + "3772,54,3827,69.8\n"),
              HasSubstr("trace:2: num_total_tokens is 3827, but prefill and decode are 3826"));
}

TEST(SplitwiseSim, OneSequenceForALanguageModelPerRow) {
  const std::string header =
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_"
      "size\n";
  const WorkloadRead read = read_workload(header + "0,2,0,1,1,4096,32\n1,2,0,3,1,2048,8\n");
  EXPECT_EQ(read.reader, "splitwise-sim");
  EXPECT_EQ(read.requests.at(1).arrival, 2s);
  EXPECT_EQ(read.requests.at(0).input_tokens, 4096);
  EXPECT_THAT(workload_error(header + "0,2,0,1,4,4096,32\n"),
              HasSubstr("trace:2: batch_size is `4`; only 1 is understood"));
  EXPECT_THAT(workload_error(header + "0,0,0,1,1,4096,32\n"),
              HasSubstr("trace:2: request_type is `0`; only 2 is understood"));
}

WorkloadOptions named(const char* time, const char* unit, const char* input, const char* output) {
  WorkloadOptions options = workload_reader("workload-csv");
  if (time != nullptr) options.time_column = time;
  if (unit != nullptr) options.time_unit = unit;
  if (input != nullptr) options.input_column = input;
  if (output != nullptr) options.output_column = output;
  return options;
}

TEST(WorkloadCsv, NamedColumnsAreReadAndOthersLeftAlone) {
  const std::string text = "when,who,prompt,answer\n10,x,5,6\n12,y,7,8\n";
  const WorkloadRead read = read_workload(text, named("when", "ms", "prompt", "answer"));
  EXPECT_EQ(read.requests.at(1).arrival, 2ms);
  EXPECT_EQ(read.requests.at(1).input_tokens, 7);
  EXPECT_EQ(read.requests.at(1).output_tokens, 8);
  const WorkloadRead bare = read_workload(text, named("none", nullptr, "prompt", "none"));
  EXPECT_EQ(bare.requests.at(0).arrival, std::nullopt);
  EXPECT_EQ(bare.requests.at(0).output_tokens, std::nullopt);
}

TEST(WorkloadCsv, NothingIsGuessed) {
  const std::string text = "timestamp,input_tokens,output_tokens\n1,2,3\n";
  EXPECT_THAT(workload_error(text), HasSubstr("of no known workload format; choose with --reader"));
  EXPECT_EQ(
      workload_error(text, named(nullptr, nullptr, nullptr, nullptr)),
      "error: --time-column: the reader workload-csv needs it; name the column, or say `none`");
  EXPECT_EQ(workload_error(text, named("timestamp", nullptr, nullptr, nullptr)),
            "error: --input-column: the reader workload-csv needs it; name the column");
  EXPECT_THAT(workload_error(text, named("timestamp", nullptr, "input_tokens", "none")),
              HasSubstr("--time-unit: the reader workload-csv needs it; say s, ms, us or ns"));
  EXPECT_THAT(workload_error(text, named("none", "s", "input_tokens", "none")),
              HasSubstr("--time-unit: there is no time column"));
  EXPECT_THAT(workload_error(text, named("time", "s", "input_tokens", "none")),
              HasSubstr("trace:1: no column `time`; the header has `timestamp`, `input_tokens`"));
  EXPECT_THAT(workload_error(text, named("timestamp", "s", "timestamp", "none")),
              HasSubstr("one column is named for two things"));
}

}  // namespace
}  // namespace sluice
