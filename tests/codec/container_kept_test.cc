// Containers of caches in which tokens are missing: the kept tokens in the header, byte by byte,
// and what a reader must refuse of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/bytes.h"
#include "codec/container/kept_tokens.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using testing::HasSubstr;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

KvShape shape_at(const std::vector<Positions>& layers) {
  KvShape shape;
  for (const Positions& positions : layers)
    shape.layers.push_back(layer_at(std::ssize(shape.layers),
                                    {.heads = 1, .tokens = std::ssize(positions), .dim = 2},
                                    positions));
  return shape;
}

Bytes written(const KvShape& shape) {
  ByteWriter out;
  container::put_kept_tokens(out, shape);
  return std::move(out).take();
}

// What is wrong with `bytes` as the kept tokens of such layers, or "ok".
std::string fault_of(const Bytes& bytes, KvShape shape) {
  for (auto& layer : shape.layers) layer.positions = nullptr;
  ByteReader in(bytes);
  const auto fault = container::get_kept_tokens(in, shape);
  return fault ? *fault : in.left() > 0 ? "left over" : "ok";
}

const Positions kTwenty{2,  5,  9,  10, 11, 12, 13, 14, 15, 16,
                        17, 18, 19, 20, 21, 22, 23, 24, 25, 26};

TEST(KeptTokens, AreABitmapAListOrAsTheLayerBefore) {
  const Bytes bitmap = bytes_of({2, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0x89, 0xff, 0xff, 0x01});
  EXPECT_EQ(written(shape_at({kTwenty})), bitmap);  // the example of spec.md
  EXPECT_EQ(written(shape_at({{4, 5}, kTwenty, kTwenty, {7}})),
            bytes_of({0, 2, 0x1a, 0, 0, 0, 0, 0, 0, 0, 0x89, 0xff, 0xff, 0x01, 1, 0}));
  EXPECT_EQ(written(shape_at({{1, 257}})),
            bytes_of({3, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(KeptTokens, AreReadBackWhole) {
  for (const auto& layers : std::vector<std::vector<Positions>>{
           {kTwenty, kTwenty, {0}, {0, 2}, {0, 2}},
           {{5, 1000, 1001, std::int64_t{1} << 60}, {5, 1000, 1001, std::int64_t{1} << 60}}}) {
    const KvShape shape = shape_at(layers);
    KvShape read = shape;
    for (auto& layer : read.layers) layer.positions = nullptr;
    const Bytes bytes = written(shape);
    ByteReader in(bytes);
    EXPECT_EQ(container::get_kept_tokens(in, read), std::nullopt);
    EXPECT_EQ(in.left(), 0U);
    expect_same_shape(shape, read);
  }
}

TEST(KeptTokens, WhatDoesNotFitTheLayerIsRefused) {
  const KvShape shape = shape_at({{2, 5, 9}});
  const auto bitmap = [](int last, int low, int high) {
    return bytes_of({2, last, 0, 0, 0, 0, 0, 0, 0, low, high});
  };
  // Positions 2, 5 and 9 in one byte: bits 0, 3 and 7.
  EXPECT_EQ(fault_of(bytes_of({2, 9, 0, 0, 0, 0, 0, 0, 0, 0x89}), shape), "ok");
  EXPECT_THAT(fault_of(bitmap(10, 0x09, 0x01), shape), "ok");  // 2, 5 and 10
  EXPECT_THAT(fault_of(bitmap(10, 0x0b, 0x01), shape), HasSubstr("4 positions of 3 tokens"));
  EXPECT_THAT(fault_of(bitmap(10, 0x0a, 0x03), shape), HasSubstr("none, or without a gap"));
  EXPECT_THAT(fault_of(bitmap(10, 0x0a, 0x01), shape), HasSubstr("begin with 3"));
  EXPECT_THAT(fault_of(bitmap(1, 0x89, 0), shape), HasSubstr("none, or without a gap"));
  EXPECT_THAT(fault_of(bytes_of({2, 4, 0, 0, 0, 0, 0, 0, 0, 0x07}), shape),
              HasSubstr("without a gap"));
  EXPECT_THAT(fault_of(bytes_of({2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}), shape),
              HasSubstr("none"));  // a map of 2^60 bytes
  EXPECT_THAT(fault_of(bytes_of({1}), shape), HasSubstr("none"));
  EXPECT_THAT(fault_of(bytes_of({4}), shape), HasSubstr("form 4"));
  EXPECT_THAT(fault_of(bytes_of({3, 2, 0, 0, 0, 0, 0, 0, 0}), shape), HasSubstr("none"));
  EXPECT_THAT(fault_of({}, shape), HasSubstr("ends too early"));
  Bytes list = bytes_of({3});
  list.resize(25);
  list[1] = list[9] = std::byte{2};
  list[17] = std::byte{9};
  EXPECT_THAT(fault_of(list, shape), HasSubstr("position 2 stands behind 2"));
  KvShape empty = shape_at({{2}});
  empty.layers[0].key->tokens = empty.layers[0].value->tokens = 0;
  EXPECT_THAT(fault_of(bytes_of({3}), empty), HasSubstr("none"));
}

TEST(KeptTokens, OnlyAFileWithSomeSaysSo) {
  const Bytes whole = encoded(small_cache().view(), "raw");
  EXPECT_EQ(parse_header(whole, "a")->source_elements, std::nullopt);
  EXPECT_EQ(whole[12], std::byte{0});
  const KvCache cache = made_cache(shape_at({{0, 1, 7}, {0, 1, 7}}));
  const Bytes file = encoded(cache.view(), "raw");
  EXPECT_EQ(file[12], std::byte{4});
  const auto header = parse_header(file, "a");
  ASSERT_TRUE(header.ok()) << header.error().to_line();
  EXPECT_EQ(header->source_elements, 24);
  expect_same(cache.view(), decode_container(file, "a")->view());
  // The kept tokens' 8 + 1 + 8 + 1 + 1 bytes stand in front of the section table.
  const auto source_at = static_cast<std::size_t>(header->sections_at) - 19;
  EXPECT_THAT(error_of(patched(file, source_at, std::int64_t{23})), HasSubstr("more than the 23"));
  EXPECT_EQ(error_of(patched(file, source_at, std::int64_t{48})), "no error");
  EXPECT_THAT(error_of(patched(file, source_at + 8, std::uint8_t{9})), HasSubstr("form 9"));
  EXPECT_THAT(error_of(patched(file, 12, std::uint32_t{0})), HasSubstr("token range"));
}

TEST(KeptTokens, ManyLayersMayShareALongListInLittleTime) {
  // 65 536 layers of 5000 positions: 300 million if each were looked at anew.
  Positions positions;
  for (std::int64_t i = 0; i < 5000; ++i) positions.push_back(2 * i);
  const auto shared = if_gapped(positions);
  KvShape shape;
  for (std::int64_t i = 0; i <= kLayerMax; ++i) {
    shape.layers.push_back(layer_of(i, {.heads = 0, .tokens = 5000, .dim = 0}));
    shape.layers.back().positions = shared;
  }
  const auto file = encode_container(made_cache(shape).view(), *find_codec_level("raw"));
  ASSERT_TRUE(file.ok());
  const auto header = parse_header(*file, "a");
  ASSERT_TRUE(header.ok()) << header.error().to_line();
  EXPECT_EQ(header->shape.layers.front().positions, header->shape.layers.back().positions);
}

}  // namespace
}  // namespace sluice
