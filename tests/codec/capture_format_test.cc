// sluice-kv-1: what a capture must and may hold, and the committed sample.
#include "codec/capture_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/codec/made_caches.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

// Key and value of layer 0 and 2, [1, 2, 2] fp16, in one block of bytes.
struct MadeFile {
  std::string bytes = std::string(64, '\0');
  SafetensorsFile file{.name = "a.safetensors", .bytes = nullptr, .metadata = {}, .tensors = {}};

  MadeFile() {
    file.metadata = {
        {"format", "sluice-kv-1"},
        {"keys", "post-rope"},
        {"first_token", "[0,null,3]"},
        {"rope",
         R"({"theta":10000,"rotated_dims":2,"scaling":null,"layers":{"2":{"theta":5,"rotated_dims":0}}})"}};
    for (const char* name : {"layer.0.key", "layer.0.value", "layer.2.key", "layer.2.value"})
      add(name, "F16", {1, 2, 2});
  }
  void add(const std::string& name, const std::string& dtype, std::vector<std::int64_t> shape) {
    std::size_t size = dtype == "F32" || dtype == "I32" ? 4 : 2;
    for (const std::int64_t n : shape) size *= static_cast<std::size_t>(n);
    file.tensors.push_back(
        {name, dtype, std::move(shape), std::as_bytes(std::span(bytes)).first(size)});
  }
  [[nodiscard]] std::string error() const {
    const auto capture = capture_of(file);
    return capture.ok() ? "no error" : capture.error().to_line();
  }
  [[nodiscard]] std::string notes() const {
    const auto capture = capture_of(file);
    std::string all;
    if (capture) {
      for (const std::string& note : capture->notes) all += note + "\n";
    }
    return capture.ok() ? all : capture.error().to_line();
  }
};

TEST(CaptureFormat, LayersMayHaveGapsAndDifferInPositionAndRope) {
  const auto capture = capture_of(MadeFile().file);
  ASSERT_TRUE(capture.ok()) << capture.error().to_line();
  const auto& layers = capture->cache.view().layers;
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].layer, 2);
  EXPECT_EQ(layers[1].first_token, 3);
  EXPECT_EQ(layers[0].rope->theta, 10000);
  EXPECT_EQ(layers[1].rope->rotated_dims, 0);
  EXPECT_EQ(capture->cache.view().facts.keys, KeyForm::kPostRope);
}

TEST(CaptureFormat, WhatIsMissingDisablesWhatNeedsItAndIsSaid) {
  MadeFile made;
  made.file.metadata.clear();
  const std::string notes = made.notes();
  EXPECT_THAT(notes, HasSubstr("no `format`"));
  EXPECT_THAT(notes, HasSubstr("no `rope`: keys are coded as they are"));
  EXPECT_THAT(notes, HasSubstr("no `first_token`: every layer is taken to start at token 0"));
  EXPECT_THAT(notes, HasSubstr("no `layer.{i}.query`: attention-output error cannot be measured"));
  made.add("layer.0.query", "F16", {2, 1, 2});
  EXPECT_THAT(made.notes(), HasSubstr("no `query_first_token`"));
  made.add("layer.0.gate", "F16", {1});
  EXPECT_THAT(made.notes(), HasSubstr("`layer.0.gate` is not of the format and is left out"));
}

TEST(CaptureFormat, FaultsNameFileAndEntry) {
  const auto error = [](const std::function<void(MadeFile&)>& change) {
    MadeFile made;
    change(made);
    return made.error();
  };
  const auto fact = [&](const std::string& key, const std::string& value) {
    return error([&](MadeFile& made) { made.file.metadata[key] = value; });
  };
  EXPECT_THAT(fact("format", "sluice-kv-2"),
              HasSubstr("error: a.safetensors: format `sluice-kv-2` is not sluice-kv-1"));
  EXPECT_THAT(fact("keys", "rotated"),
              HasSubstr("metadata `keys` is `rotated`; use post-rope or pre-rope"));
  EXPECT_THAT(fact("first_token", "[0]"), HasSubstr("`first_token` has no position for layer 2"));
  EXPECT_THAT(fact("first_token", "[0,null,-3]"), HasSubstr("layer 2"));
  EXPECT_THAT(fact("first_token", "7"), HasSubstr("not a JSON list"));
  EXPECT_THAT(fact("rope", "{"), HasSubstr("metadata `rope`: is not JSON"));
  EXPECT_THAT(fact("rope", R"({"theta":"x","rotated_dims":2})"),
              HasSubstr("`theta` is not a number"));
  EXPECT_THAT(fact("rope", R"({"theta":1})"), HasSubstr("`rotated_dims` is missing"));
  EXPECT_THAT(error([](MadeFile& made) { made.file.tensors.pop_back(); }),
              HasSubstr("layer 2: needs a key and a value"));
  EXPECT_THAT(error([](MadeFile& made) {
                made.add("layer.4.key", "I8", {1, 1, 2});
              }),
              HasSubstr("`layer.4.key` has dtype I8"));
  EXPECT_THAT(error([](MadeFile& made) {
                made.add("layer.4.key", "F16", {1, 2});
              }),
              HasSubstr("`layer.4.key` has 2 axes"));
  EXPECT_THAT(error([](MadeFile& made) { made.add("token_ids", "F32", {2}); }),
              HasSubstr("`token_ids` is not I32"));
  EXPECT_THAT(error([](MadeFile& made) { made.file.tensors.clear(); }),
              HasSubstr("holds no tensor `layer.0.key`"));
  EXPECT_THAT(error([](MadeFile& made) {
                made.file.metadata["query_first_token"] = "0";
                made.add("layer.0.query", "F16", {1, 1, 3});
              }),
              HasSubstr("`layer.0.query` [1, 1, 3] does not fit keys of 1 heads of 2"));
}

TEST(CaptureFormat, PositionsSayWhichTokensALayerHolds) {
  std::int32_t positions[] = {3, 9, 0};
  const auto with = [&](std::int64_t layer, std::int64_t count) {
    MadeFile made;
    made.file.tensors.push_back(
        {"layer." + std::to_string(layer) + ".positions",
         "I32",
         {count},
         std::as_bytes(std::span(positions)).first(4 * static_cast<std::size_t>(count))});
    return made;
  };
  const auto capture = capture_of(with(2, 2).file);
  ASSERT_TRUE(capture.ok()) << capture.error().to_line();
  EXPECT_EQ(*capture->cache.view().layers[1].positions, (Positions{3, 9}));
  EXPECT_THAT(with(2, 3).error(), HasSubstr("`layer.2.positions` does not fit the layer's 2 tokens "
                                            "from position 3 on"));
  EXPECT_THAT(with(0, 2).error(), HasSubstr("does not fit the layer's 2 tokens from position 0"));
  EXPECT_THAT(with(1, 2).error(), HasSubstr("`layer.1.positions` is of no layer"));
  positions[1] = 2;
  EXPECT_THAT(with(2, 2).error(), HasSubstr("`layer.2.positions` does not increase"));
  positions[1] = 4;  // no gap: as if they were left out
  EXPECT_EQ(capture_of(with(2, 2).file)->cache.view().layers[1].positions, nullptr);
  MadeFile floats;
  floats.add("layer.2.positions", "F32", {2});
  EXPECT_THAT(floats.error(), HasSubstr("`layer.2.positions` is not I32 [token]"));
}

TEST(CaptureFormat, EveryOddCacheIsWrittenAndReadBackWhole) {
  const std::filesystem::path path = temporary_folder() / "odd.safetensors";
  for (const NamedCache& made : odd_caches()) {
    if (made.cache.view().layers.empty()) continue;  // not a capture
    SCOPED_TRACE(made.name);
    const Capture capture{.cache = made.cache,
                          .token_ids = {1, 2, 3},
                          .queries = {},
                          .query_first_token = {},
                          .other_facts = {{"command", "by hand"}},
                          .notes = {}};
    ASSERT_TRUE(write_capture(capture, path).ok());
    const auto back = read_capture(path);
    ASSERT_TRUE(back.ok()) << back.error().to_line();
    expect_same(made.cache.view(), back->cache.view());
    EXPECT_EQ(back->token_ids, capture.token_ids);
    EXPECT_EQ(back->other_facts, capture.other_facts);
  }
  std::filesystem::remove(path);
}

TEST(CaptureFormat, TheSampleIs256TokensOfSmolLm2) {
  const auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok()) << sample.error().to_line();
  const KvShape shape = shape_of(sample->cache.view());
  EXPECT_EQ(shape.layers.size(), 30U);
  EXPECT_EQ(*shape.layers[7].key,
            (TensorShape{.dtype = Dtype::kBf16, .heads = 3, .tokens = 256, .dim = 64}));
  EXPECT_EQ(num_elements(shape), 256 * 11'520);
  EXPECT_EQ(shape.layers[0].rope->theta, 100'000);
  EXPECT_EQ(sample->token_ids.size(), 256U);
  EXPECT_EQ(sample->queries.size(), 30U);
  EXPECT_EQ(sample->queries[0].values.shape.heads, 9);
  EXPECT_EQ(sample->query_first_token, 224);
  EXPECT_TRUE(sample->notes.empty());
}

}  // namespace
}  // namespace sluice
