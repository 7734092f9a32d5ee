// The A100 profile against measured curves of others, in ../shared/data/gpu. The numbers are
// printed; the folder's README repeats them. Nothing in the profile was fitted to these files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/files.h"
#include "base/parse.h"
#include "sim/serving/compute/compute_device.h"

namespace sluice {
namespace {

using Row = std::map<std::string, std::string>;

// Plain CSV with a header, no quoting (as these files are).
std::vector<Row> read_csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    return cells;
  };
  std::string line;
  std::getline(in, line);
  const auto header = split(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto cells = split(line);
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(header.size(), cells.size()); ++i)
      row[header[i]] = cells[i];
  }
  return rows;
}

double number(const Row& row, const std::string& key) {
  const auto value = parse_number(row.at(key), key);
  EXPECT_TRUE(value.ok()) << key;
  return value.ok() ? *value : 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

class MeasuredCurves : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SLUICE_HOME", SLUICE_SOURCE_DIR, 1);
    if (!std::filesystem::exists(data_ / "MANIFEST.md")) {
      GTEST_SKIP() << "no " << data_
                   << ": the A100 profile is NOT compared with measured curves here";
    }
  }

  // Prints one comparison and returns modelled over measured.
  static double compare(const std::string& what, std::int64_t tokens, double modelled_ms,
                        double measured_ms) {
    const double ratio = modelled_ms / measured_ms;
    std::cout << fmt::format(
        "{:28} {:5} tokens: modelled {:7.1f} ms, measured {:7.1f} ms, ratio {:.2f}\n", what, tokens,
        modelled_ms, measured_ms, ratio);
    return ratio;
  }

  const std::filesystem::path data_ =
      std::filesystem::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data";
};

// Vidur: GPU time of each operator of one layer, no CPU time. Attention comes from its file of 64
// heads on two GPUs: the 32 heads of 128 on each do the arithmetic of Llama-2-7B.
TEST_F(MeasuredCurves, Llama2With7BillionOnOneA100IsWithin15PercentOfVidur) {
  const auto mlp = read_csv(data_ / "gpu" / "vidur_a100_llama2-7b_mlp.csv");
  const auto attention = read_csv(data_ / "gpu" / "vidur_a100_attention_8192x64x8_tp2.csv");
  const std::vector<std::string> once{
      "input_layernorm",          "attn_pre_proj", "attn_rope", "attn_post_proj",
      "post_attention_layernorm", "mlp_up_proj",   "mlp_act",   "mlp_down_proj"};
  for (const std::int64_t tokens : {1024, 2048, 4096}) {
    const std::string count = std::to_string(tokens);
    const auto layer = std::find_if(mlp.begin(), mlp.end(), [&](const Row& row) {
      return row.at("num_tokens") == count && row.at("num_tensor_parallel_workers") == "1";
    });
    const auto attended = std::find_if(attention.begin(), attention.end(), [&](const Row& row) {
      return row.at("prefill_chunk_size") == count && row.at("kv_cache_size") == "0" &&
             row.at("batch_size") == "1" && row.at("is_prefill") == "True";
    });
    ASSERT_TRUE(layer != mlp.end() && attended != attention.end()) << tokens;
    double layer_ms = 2 * number(*layer, "time_stats.add.median") +
                      number(*attended, "time_stats.attn_prefill.median");
    for (const std::string& name : once)
      layer_ms += number(*layer, "time_stats." + name + ".median");
    const double measured_ms = 32 * layer_ms + number(*layer, "time_stats.emb.median");
    const double modelled_ms =
        to_ms(find_device("a100")->prefill_time(*find_geometry("llama-2-7b"), tokens, 0));
    EXPECT_NEAR(compare("Llama-2-7B, A100, Vidur", tokens, modelled_ms, measured_ms), 1.0, 0.15);
  }
}

// Splitwise: whole prompts through a serving engine, CPU time included.
TEST_F(MeasuredCurves, Llama2With70BillionOnA100GroupsIsWithin35PercentOfSplitwise) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<double>>
      measured_ms;  // (GPUs, tokens)
  for (const Row& row : read_csv(data_ / "gpu" / "splitwise_perf_model.csv")) {
    if (row.at("model") != "llama2-70b" || row.at("hardware") != "a100-80gb" ||
        row.at("batch_size") != "1")
      continue;
    const auto tokens = static_cast<std::int64_t>(number(row, "prompt_size"));
    measured_ms[{row.at("tensor_parallel"), tokens}].push_back(number(row, "prompt_time"));
  }
  for (const char* gpus : {"2", "4", "8"}) {
    for (const std::int64_t tokens : {1024, 2048, 4096}) {
      const auto found = measured_ms.find({gpus, tokens});
      ASSERT_NE(found, measured_ms.end()) << gpus << ' ' << tokens;
      const auto device = find_device(std::string("a100x") + gpus);
      const double modelled_ms =
          to_ms(device->prefill_time(*find_geometry("llama-2-70b"), tokens, 0));
      const std::string what = fmt::format("Llama-2-70B, {} A100, Splitwise", gpus);
      EXPECT_NEAR(compare(what, tokens, modelled_ms, median(found->second)), 1.0, 0.35);
    }
  }
}

}  // namespace
}  // namespace sluice
