// The device benchmark end to end on the host SIMT layer, with tiny caches: what
// tests/device/run.sh does on a GPU, but for the times.
#include "tests/device/bench_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "codec/device/registry.h"
#include "codec/registry.h"
#include "tests/device/bench_tune.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

BenchShape tiny(const std::string& model, std::int64_t tokens) {
  return {.model = model, .layers = 2, .heads = 2, .dim = 16, .tokens = tokens};
}

BenchOptions tiny_bench() {
  return {.shapes = {tiny("mistral-7b", 5), tiny("mistral-7b", 20), tiny("llama-3-70b", 5)},
          .confined_multiprocessors = 2,
          .repeats = 2,
          .budget = seconds_to_duration(600)};
}

// Of the codecs that have a CUDA backend.
std::size_t num_levels() {
  std::size_t levels = 0;
  for (const Codec& codec : all_codecs()) {
    if (find_device_codec(codec.info.id)) levels += codec.info.levels.size();
  }
  return levels;
}

TEST(DeviceBench, MeasuresEveryLevelAtEverySizeOnAllAndOnFewMultiprocessors) {
  const auto report = run_bench(tiny_bench());
  ASSERT_TRUE(report) << report.error().to_line();
  EXPECT_EQ(report->rows.size(), num_levels() * 3 * 2);
  EXPECT_THAT(report->left_out, testing::IsEmpty());
  std::ostringstream table;
  print_bench(*report, table);
  EXPECT_THAT(table.str(), testing::HasSubstr("cachegen-published"));
  EXPECT_THAT(table.str(), testing::HasSubstr("host SIMT layer"));
}

TEST(DeviceBench, WritesDecodeTimesThatTheSimulatorReads) {
  const auto report = run_bench(tiny_bench());
  ASSERT_TRUE(report) << report.error().to_line();
  const auto file = temporary_folder() / "my-gpu.json";
  const DecodeTimes written = decode_times_of(*report, "my-gpu", "a test");
  ASSERT_TRUE(write_decode_times(written, file));
  const auto read = read_decode_times(file);
  ASSERT_TRUE(read) << read.error().to_line();
  EXPECT_EQ(read->device, "my-gpu");
  ASSERT_EQ(read->entries.size(), num_levels());
  const DecodeTimeEntry* entry = read->find("cachegen-released", "2");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->decode.source, FactSource::kMeasured);
  EXPECT_EQ(entry->note, "line through 5, 20 tokens of mistral-7b");
}

TEST(DeviceBench, SaysWhatTheTimeDidNotAllow) {
  BenchOptions options = tiny_bench();
  options.budget = {};
  const auto report = run_bench(options);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->rows.empty());
  EXPECT_EQ(report->left_out.front(),
            "raw@exact on 4 multiprocessors, mistral-7b, 5 tokens: the time was over");
}

TEST(DeviceBench, TunesARowOfTheLaunchTable) {
  const auto row = tuned_row(tiny("mistral-7b", 5), 1);
  ASSERT_TRUE(row) << row.error().to_line();
  EXPECT_THAT(*row, testing::MatchesRegex("\\{80, \"host SIMT layer\", \\{.*\\}\\},"));
}

}  // namespace
}  // namespace sluice
