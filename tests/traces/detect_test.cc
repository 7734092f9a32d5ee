// Which reader a file asks for, and what every reader refuses in the same way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/traces/trace_helpers.h"
#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::TraceFolder;

std::string detected(std::string_view text, std::string_view name = "trace") {
  const TraceFolder folder;
  const auto detection = detect_reader(folder.write(name, text));
  return detection ? detection->reader : detection.error().what + "; " + detection.error().fix;
}

TEST(Detect, TheFirstLineSaysWhichReader) {
  EXPECT_EQ(detected("0\n1\n2\n"), "mahimahi");
  EXPECT_EQ(detected("0.0\t4.0\n"), "two-column");
  EXPECT_EQ(detected("1 13.130464\n"), "two-column");
  EXPECT_EQ(detected("{\"bw\": [1, 2]}\n"), "cachegen");
  EXPECT_EQ(detected("time_s,rate_mbps\n"), "csv");
  EXPECT_EQ(detected("0,5\n"), "csv");
  EXPECT_EQ(detected("\n\n7\n"), "mahimahi");
}

TEST(Detect, ColumnsOfNumbersAreToldApartByTheirShape) {
  EXPECT_EQ(detected("0.000 3.12 3.5ms 0.00\n"), "spark");
  EXPECT_EQ(detected("0 20 0 0 1 2\n"), "cellreplay");
  EXPECT_EQ(detected("0 20 0 0 1 2 2 3 4\n"), "cellreplay");
  EXPECT_EQ(detected("1289406399 549692 59.851754 10.781778 248069 1008\n"), "hsdpa");
  EXPECT_EQ(detected("1453121790686 39287 51.03 3.73 2493100 1000\n"), "ghent");
  EXPECT_EQ(detected("13.9,Mbits/sec\n", "Q.csv"), "nyu-mets");
  EXPECT_EQ(detected("[\n", "trace.json"), "sabre");
}

TEST(Detect, HeadersOfPublishedFilesAreKnown) {
  EXPECT_EQ(detected("Timestamp,Longitude,DL_bitrate,UL_bitrate\n", "x.csv"), "raca");
  EXPECT_EQ(detected("run_num,seq_num,Throughput,mobility_mode,trajectory_direction\n", "x.csv"),
            "lumos5g-raw");
  EXPECT_EQ(detected("protocol,carrier,num_tcp_conn,server_location,run_num,seq_num,"
                     "throughput_mbps\n",
                     "x.csv"),
            "5gophers");
  EXPECT_EQ(detected("timestamp_start_dl,timestamp_end_dl,download,upload\n", "x.csv"), "starlink");
  EXPECT_EQ(detected("unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec\n", "x.csv"),
            "fcc-mba");
  EXPECT_EQ(detected("7,2022-01-01 00:10:00,a,x,2,2,1,9\n", "curr_webget.csv"), "fcc-mba");
  EXPECT_EQ(detected("time (ns GMT),session_id,index,expt_id,channel,video_ts\n", "x.csv"),
            "puffer");
}

TEST(Detect, AMatrixIsNoLinkTraceAndTheReasonIsSaid) {
  EXPECT_EQ(detected("src_region,dst_region,throughput_sent,success\n", "x.csv"),
            "a matrix of one rate per pair of regions has no times, so it is no link trace; make a "
            "constant of the rate that you mean with `./sluice trace synth constant`");
}

TEST(Detect, TheChoiceIsExplained) {
  const TraceFolder folder;
  EXPECT_EQ(detect_reader(folder.write("trace", "5\n"))->why, "its first line is one whole number");
}

TEST(Detect, AnExtensionThatAgreesIsFineAndOneThatDoesNotIsAsked) {
  EXPECT_EQ(detected("5\n", "trace.down"), "mahimahi");
  EXPECT_EQ(detected("5\n", "trace.txt"), "mahimahi");
  EXPECT_EQ(
      detected("5\n6\n", "trace.csv"),
      "its first line is one whole number, as `mahimahi` files have, but csv files end in `.csv`; "
      "say which with --reader mahimahi or --reader csv");
  EXPECT_THAT(detected("1 2\n", "trace.up"),
              HasSubstr("say which with --reader two-column or --reader mahimahi"));
}

TEST(Detect, WhatNoReaderFitsIsAnError) {
  for (const char* text : {"hello\n", "hello world\n", "0.57\n", "1 2.5 3\n", "1 2 3 4 5.5 6 7\n",
                           "{\"other\": 1}\n"}) {
    EXPECT_THAT(detected(text), HasSubstr("no reader fits a line such as")) << text;
  }
  EXPECT_THAT(detected("\n \n"), HasSubstr("blank lines only"));
}

TEST(ReadTraces, AForcedReaderIsNotAskedAgain) {
  EXPECT_THAT(error_of("1 2\n", testing::with_reader("mahimahi")),
              HasSubstr("trace:1: `1 2` is not a whole number"));
  EXPECT_THAT(error_of("1\n", testing::with_reader("mahimai")),
              HasSubstr("--reader: unknown reader `mahimai`; did you mean `mahimahi`?"));
}

TEST(ReadTraces, AnOptionWithoutUseIsAnError) {
  ReadOptions options;
  options.unit = "bit/s";
  EXPECT_THAT(error_of("1\n", options),
              HasSubstr("--unit: the reader mahimahi has no use for it; leave it out"));
  EXPECT_THAT(error_of("{\"bw\": [1]}\n", options),
              HasSubstr("--unit: the reader cachegen has no use for it"));
  options = {};
  options.time_column = "seq_num";
  EXPECT_THAT(error_of("protocol,num_tcp_conn,seq_num\n", options),
              HasSubstr("--time-column: the reader 5gophers has no use for it"));
  options = {};
  options.rate_column = "rate";
  EXPECT_THAT(error_of("1 2\n", options),
              HasSubstr("--rate-column: the reader two-column has no use for it"));
  options = {};
  options.stamps = StampRule::kEnd;
  EXPECT_THAT(error_of("1\n", options),
              HasSubstr("--stamps: the reader mahimahi has no use for it"));
}

TEST(ReadTraces, OneOfSeveralTracesCanBeChosen) {
  ReadOptions options;
  options.trace = "2";
  EXPECT_EQ(testing::read_one("{\"bw\": [1]}\n{\"bw\": [2, 3]}\n", options).num_rows, 2);
  options.trace = "3";
  EXPECT_THAT(error_of("{\"bw\": [1]}\n{\"bw\": [2, 3]}\n", options),
              HasSubstr("--trace: no trace `3` in "));
  EXPECT_THAT(error_of("1\n", options), HasSubstr("leave it out: the file holds one trace"));
}

TEST(ReadTraces, ATraceThatIsCalledANumberIsMeantByIt) {
  // Two runs that only their direction names: the first is called 2, the second 1.
  constexpr std::string_view kRuns =
      "run_num,mobility_mode,trajectory_direction,seq_num,Throughput\n"
      ",,2,0,20\n"
      ",,1,0,10\n"
      ",,left,0,30\n";
  ReadOptions options = testing::with_reader("lumos5g-raw");
  for (const auto& [wanted, rate] :
       {std::pair{"2", 20}, std::pair{"1", 10}, std::pair{"left", 30}, std::pair{"3", 30}}) {
    options.trace = wanted;
    EXPECT_EQ(testing::read_one(kRuns, options, "runs.csv").steps.front().rate, testing::mbit(rate))
        << wanted;
  }
}

TEST(ReadTraces, NameAndHashIdentifyTheSource) {
  const LinkTrace trace = testing::read_one("1\n2\n", {}, "cable.down");
  EXPECT_EQ(trace.name, "cable.down");
  EXPECT_EQ(trace.sha256, sha256_hex("1\n2\n"));
}

TEST(ReadTraces, WhatIsNoFileIsNamed) {
  const TraceFolder folder;
  EXPECT_THAT(read_traces(folder.path("missing")).error().to_line(),
              HasSubstr("missing: no such file; check the path"));
  EXPECT_THAT(read_traces(folder.path(".")).error().to_line(),
              HasSubstr("is a folder; name a file"));
  EXPECT_EQ(read_traces("/dev/zero").error().to_line(),
            "error: /dev/zero: is not a regular file; save the data to a file first");
}

// Each reader with its smallest sound line.
class EveryReader : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryReader, RefusesBinaryData) {
  const std::string line = error_of(std::string("\x7F"
                                                "ELF\0\0\1",
                                                7),
                                    testing::with_reader(GetParam()));
  EXPECT_EQ(line, "error: trace:1: holds binary data (byte 0x7f at column 1); give a text file");
}

TEST_P(EveryReader, RefusesALineThatDoesNotEnd) {
  EXPECT_THAT(error_of(std::string(kMaxJsonLineBytes + 2, ' '), testing::with_reader(GetParam())),
              HasSubstr("trace:1: the line is longer than "));
}

TEST_P(EveryReader, RefusesAnEmptyFile) {
  EXPECT_EQ(error_of("", testing::with_reader(GetParam())),
            "error: trace: the file is empty; give a trace with at least one row");
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryReader, ::testing::ValuesIn(testing::reader_ids()),
                         testing::case_name);

}  // namespace
}  // namespace sluice
