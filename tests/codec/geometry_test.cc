// Model geometries by arithmetic: how many elements and bytes a context has.
#include "codec/geometry/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

class Geometry : public testing::Test {
 protected:
  void SetUp() override { ::setenv("SLUICE_HOME", SLUICE_SOURCE_DIR, 1); }

  static ModelGeometry shipped(const std::string& id) {
    auto model = find_geometry(id);
    EXPECT_TRUE(model.ok()) << model.error().to_line();
    return *std::move(model);
  }
  // Reads a model file with these layers.
  static Result<ModelGeometry> with_layers(const std::string& layers,
                                           const std::string& parameters = "1000") {
    const auto file = temporary_folder() / "sluice_geometry.json";
    std::ofstream(file)
        << R"({"format": "sluice-model-geometry-1", "name": "m", "source": "s", "parameters": )"
        << parameters << R"(, "attention_heads": 1, "hidden_size": 4, "layers": )" << layers << "}";
    return read_geometry(file);
  }
  static std::string fault_of(const Result<ModelGeometry>& model) {
    return model.ok() ? "no error" : model.error().to_line();
  }
};

constexpr double kBytesPerElementInt8 = 1, kBytesPerElementFp16 = 2;

double megabytes(const ModelGeometry& model, std::int64_t tokens, double bytes_per_element) {
  return static_cast<double>(model.elements(tokens)) * bytes_per_element / 1e6;
}

TEST_F(Geometry, AMistralTokenHas65536Elements) {
  // 32 layers x 2 (K and V) x 8 heads x 128.
  EXPECT_EQ(shipped("mistral-7b").elements(1), 65'536);
}

TEST_F(Geometry, A9490TokenMistralContextIs622MegabytesAt8BitAnd1245AtFp16) {
  const ModelGeometry mistral = shipped("mistral-7b");
  EXPECT_EQ(mistral.elements(9490), 621'936'640);
  EXPECT_NEAR(megabytes(mistral, 9490, kBytesPerElementInt8), 622, 0.5);
  EXPECT_NEAR(megabytes(mistral, 9490, kBytesPerElementFp16), 1244.5, 1);
}

TEST_F(Geometry, Llama2WithOneKvHeadPerQueryHeadIsFourTimesMistral) {
  EXPECT_EQ(shipped("llama-2-7b").elements(9490), 4 * shipped("mistral-7b").elements(9490));
}

TEST_F(Geometry, TheOtherModelsByTheirConfigs) {
  EXPECT_EQ(shipped("llama-3-8b").elements(1), 65'536);    // 32 x 2 x 8 x 128
  EXPECT_EQ(shipped("llama-3-70b").elements(1), 163'840);  // 80 x 2 x 8 x 128
  EXPECT_EQ(shipped("llama-2-70b").elements(1), 163'840);
  EXPECT_EQ(shipped("yi-34b").elements(1), 122'880);       // 60 x 2 x 8 x 128
  EXPECT_EQ(shipped("smollm2-135m").elements(1), 11'520);  // 30 x 2 x 3 x 64
  EXPECT_EQ(shipped("gemma-3-1b").elements(1), 13'312);    // 26 x 2 x 1 x 256
}

TEST_F(Geometry, LongContextsDoNotOverflow) {
  // 80 000 tokens x 122 880 x 2 bytes: past 2^32 elements and 2^34 bytes.
  EXPECT_EQ(shipped("yi-34b").elements(80'000), 9'830'400'000);
  EXPECT_NEAR(megabytes(shipped("yi-34b"), 80'000, kBytesPerElementFp16), 19'660.8, 0.1);
  EXPECT_EQ(shipped("llama-3-70b").elements(10'000'000), 1'638'400'000'000);
}

TEST_F(Geometry, WhatCannotBeCountedThrowsInsteadOfWrapping) {
  const auto tokens = std::int64_t{1} << 50;  // x 163 840 passes 2^63
  EXPECT_THROW((void)shipped("llama-3-70b").elements(tokens), std::overflow_error);
}

TEST_F(Geometry, AWindowLayerHoldsOnlyTheLastTokensOfTheContext) {
  // One layer of 2 x 1 x 4 = 8 elements per token with a window of 10, and the same without.
  const auto model = with_layers(
      R"([{"kv_heads": 1, "head_dim": 4, "window_tokens": 10}, {"kv_heads": 1, "head_dim": 4}])");
  ASSERT_TRUE(model.ok()) << fault_of(model);
  EXPECT_EQ(model->elements(10), 160);               // all of both
  EXPECT_EQ(model->elements(100), 800 + 80);         // 100 and 10 tokens
  EXPECT_EQ(model->elements(0, 50, 100), 400);       // before the window
  EXPECT_EQ(model->elements(85, 10, 100), 80 + 40);  // half inside
  EXPECT_EQ(model->elements(90, 10, 100), 160);
  EXPECT_EQ(model->elements(50, 0, 100), 0);
}

TEST_F(Geometry, ChunksAddUpToTheWholeContext) {
  const ModelGeometry gemma = shipped("gemma-3-1b");
  std::int64_t sum = 0;
  for (std::int64_t begin = 0; begin < 4096; begin += 256) sum += gemma.elements(begin, 256, 4096);
  EXPECT_EQ(sum, gemma.elements(4096));
  // 4 global layers hold 4096 tokens and 22 hold 512, of 512 elements each.
  EXPECT_EQ(sum, (4 * 4096 + 22 * 512) * 512);
}

TEST_F(Geometry, EverySixthLayerOfGemmaIsGlobal) {
  const ModelGeometry gemma = shipped("gemma-3-1b");
  ASSERT_EQ(gemma.layers.size(), 26u);
  for (std::size_t i = 0; i < gemma.layers.size(); ++i) {
    EXPECT_EQ(gemma.layers[i].window_tokens.has_value(), i % 6 != 5) << "layer " << i;
  }
}

TEST_F(Geometry, ALatentLayerIsOneTensor) {
  const auto model =
      with_layers(R"([{"repeat": 3, "kv_heads": 1, "head_dim": 576, "tensors": 1}])");
  ASSERT_TRUE(model.ok()) << fault_of(model);
  EXPECT_EQ(model->elements(1), 3 * 576);
}

TEST_F(Geometry, ZeroNegativeAndAbsurdValuesAreErrorsThatNameTheField) {
  EXPECT_THAT(
      fault_of(with_layers(R"([{"kv_heads": 0, "head_dim": 4}])")),
      HasSubstr(
          "sluice_geometry.json: `layers[0].kv_heads` is 0; write a whole number from 1 to 4096"));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_heads": 1, "head_dim": -4}])")),
              HasSubstr("`layers[0].head_dim` is -4;"));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_heads": 1, "head_dim": 4, "window_tokens": 0}])")),
              HasSubstr("`layers[0].window_tokens` is 0;"));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_heads": 1, "head_dim": 4, "tensors": 3}])")),
              HasSubstr("`layers[0].tensors` is 3;"));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_heads": 1, "head_dim": 4}])", "0")),
              HasSubstr("`parameters` is 0;"));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_heads": 1, "head_dim": 4}])", "7e9")),
              HasSubstr("`parameters` is "));
  EXPECT_THAT(fault_of(with_layers(R"([{"kv_head": 1, "head_dim": 4}])")),
              HasSubstr("did you mean `kv_heads`?"));
}

TEST_F(Geometry, RunsOfLayersCannotGrowWithoutBound) {
  const std::string layer = R"({"repeat": 4096, "kv_heads": 1, "head_dim": 4})";
  EXPECT_TRUE(with_layers("[" + layer + "]").ok());
  EXPECT_THAT(fault_of(with_layers(fmt::format(R"([{{"repeat": 4096, "pattern": [{}]}}])", layer))),
              HasSubstr("makes more than 4096 layers; lower `repeat`"));
  std::string nested = layer;
  for (int i = 0; i < 4; ++i) nested = fmt::format(R"({{"pattern": [{}]}})", nested);
  EXPECT_THAT(fault_of(with_layers("[" + nested + "]")), HasSubstr("nested too deeply"));
}

TEST_F(Geometry, EveryShippedModelReadsAndIsFoundByItsId) {
  const auto models = all_geometries();
  ASSERT_TRUE(models.ok()) << models.error().to_line();
  EXPECT_GE(models->size(), 8u);
  for (const ModelGeometry& model : *models) EXPECT_EQ(shipped(model.id).name, model.name);
}

TEST_F(Geometry, AnUnknownModelNamesTheNearestKnownOne) {
  EXPECT_EQ(fault_of(find_geometry("mistral-8b")),
            "error: unknown model `mistral-8b`; did you mean `mistral-7b`?");
  EXPECT_THAT(fault_of(find_geometry("../../profile")), HasSubstr("unknown model"));
}

}  // namespace
}  // namespace sluice
