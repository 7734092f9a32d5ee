// lossless: the example of its specification, exactness of every bit pattern, and what it saves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "codec/capture_format.h"
#include "codec/container/encode.h"
#include "tests/codec/one_section.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;

// Of `heads` heads, each element the bits that word(i) gives, i counting from 0 in memory.
template <typename Word, typename Make>
OwnedTensor tensor_of_bits(const TensorShape& shape, const Make& word) {
  OwnedTensor tensor(shape);
  std::byte* to = tensor.mutable_view().data;
  for (std::int64_t i = 0; i < shape.elements(); ++i, to += sizeof(Word)) {
    const Word bits = static_cast<Word>(word(i));
    std::memcpy(to, &bits, sizeof bits);
  }
  return tensor;
}

void expect_exact(const OwnedTensor& tensor) {
  const Bytes payload = encoded_section("lossless", tensor.view());
  for (const Backend backend : available_backends()) {
    OwnedTensor back(tensor.view().shape);
    const MutableSectionTensor target{.values = back.mutable_view()};
    const Status status = find_codec("lossless")
                              .value()
                              ->decode_section({.num_model_layers = 1, .backend = backend}, payload,
                                               std::span(&target, 1));
    ASSERT_TRUE(status.ok()) << status.error().to_line();
    EXPECT_EQ(back.memory(), tensor.memory()) << to_text(backend);
  }
}

const std::vector<int> kExample{
    0x01, 0x01, 0x25, 0x01, 0x80, 0x10,         // coded; one table: symbol 5 always
    0x16, 0x84, 0x01, 0x0c,                     // 22 zero bits; tops 132 and 133, flips 0 and 1
    0x01, 0,    0,    0,    0,    0,    0, 0,   // 1.5 has the extra bit
    0x02, 0,    0x02, 0,    0x08, 0,    0, 0,   // plane of model 2, tiles of 2 x 8
    0x0c, 0,    0,    0,    0,    0,    0, 0,   // 12 bytes; no exceptions
    0,    0,    1,    0,    0,    0,    1, 0};  // two lanes where they began

TEST(Lossless, IsTheExampleOfItsSpecification) {
  std::vector<float> values{1.5F, -2.0F};
  for (int i = 1; i < 8; ++i) values.insert(values.end(), {1.0F, -2.0F});
  EXPECT_EQ(encoded_section("lossless", fp32_tensor(8, 2, values).view()), to_bytes(kExample));
  OwnedTensor back = fp32_tensor(8, 2, std::vector<float>(16));
  ASSERT_TRUE(decode_section_into("lossless", to_bytes(kExample), back.mutable_view()).ok());
  EXPECT_EQ(floats_of(back), values);
}

TEST(Lossless, RefusesWhatNoEncoderWrites) {
  const auto is_refused = [](std::size_t at, int byte) {
    std::vector<int> bytes = kExample;
    bytes[at] = byte;
    OwnedTensor back = fp32_tensor(8, 2, std::vector<float>(16));
    return !decode_section_into("lossless", to_bytes(bytes), back.mutable_view()).ok();
  };
  EXPECT_FALSE(is_refused(6, 0x16));
  EXPECT_TRUE(is_refused(0, 2));     // a mode that does not exist
  EXPECT_TRUE(is_refused(1, 0));     // no table
  EXPECT_TRUE(is_refused(1, 33));    // too many
  EXPECT_TRUE(is_refused(5, 0x0f));  // frequencies of 1920 together
  EXPECT_TRUE(is_refused(6, 24));    // more zero bits than the mantissa has
  EXPECT_TRUE(is_refused(8, 9));     // tops of 9 bits
  EXPECT_TRUE(is_refused(9, 0x1c));  // padding of the column models
  EXPECT_FALSE(is_refused(10, 3));   // two channels' extra bits
  EXPECT_TRUE(is_refused(10, 5));    // and what would be a third's
  EXPECT_TRUE(is_refused(17, 0x80));
}

TEST(Lossless, KeepsEveryPatternOf16Bits) {
  for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16}) {
    const TensorShape shape{.dtype = dtype, .heads = 4, .tokens = 256, .dim = 64};
    expect_exact(tensor_of_bits<std::uint16_t>(shape, [](std::int64_t i) { return i; }));
  }
}

TEST(Lossless, KeepsRandomBitsOfFp32AndCostsOneByteForThem) {
  RandomStream random(3);
  const TensorShape shape{.dtype = Dtype::kFp32, .heads = 3, .tokens = 50, .dim = 21};
  const OwnedTensor tensor =
      tensor_of_bits<std::uint32_t>(shape, [&](std::int64_t) { return random.below(1ULL << 32); });
  expect_exact(tensor);
  EXPECT_EQ(encoded_section("lossless", tensor.view()).size(), 4U * 3 * 50 * 21 + 1);
}

// Channels of every size and sign; every 50th element is an infinity, a NaN with a payload, a
// subnormal, a zero or a negative zero.
TEST(Lossless, KeepsOddNumbersAmongUsualOnesInCodedSections) {
  for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
    for (const std::int64_t dim : {1, 8, 17, 40}) {
      RandomStream random(static_cast<std::uint64_t>(dim));
      const TensorShape shape{.dtype = dtype, .heads = 5, .tokens = 300, .dim = dim};
      OwnedTensor tensor(shape, [&](std::int64_t head, std::int64_t, std::int64_t d) {
        return std::ldexp(static_cast<float>(random.uniform()) - 0.3F * static_cast<float>(head),
                          static_cast<int>(d % 9));
      });
      const std::uint32_t odd[] = {0x7F800000, 0xFFC00123, 0x00000001, 0, 0x80000000, 0x7F800001};
      const std::uint16_t odd16[] = {0x7F80, 0xFF95, 0x0001, 0, 0x8000, 0x7C01};
      const auto width = static_cast<std::size_t>(bytes_per_element(dtype));
      for (std::size_t i = 0, k = 0; i < tensor.memory().size(); i += 50 * width, ++k) {
        std::memcpy(tensor.mutable_view().data + i,
                    width == 4 ? static_cast<const void*>(&odd[k % 6]) : &odd16[k % 6], width);
      }
      ASSERT_EQ(encoded_section("lossless", tensor.view())[0], std::byte{1}) << "not coded";
      expect_exact(tensor);
    }
  }
}

TEST(Lossless, BitsThatNoElementUsesCostNothing) {
  // fp16 numbers kept as fp32: 13 bits of every mantissa are 0.
  RandomStream random(9);
  const auto value = [&](std::int64_t, std::int64_t, std::int64_t) {
    return static_cast<float>(random.below(2048)) / 256.0F - 4.0F;
  };
  const TensorShape shape{.dtype = Dtype::kFp32, .heads = 2, .tokens = 400, .dim = 64};
  const OwnedTensor tensor(shape, value);
  expect_exact(tensor);
  EXPECT_LT(encoded_section("lossless", tensor.view()).size() * 2, tensor.memory().size());
}

TEST(LosslessSample, TakesTwoThirdsOfBf16) {
  const auto capture = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(capture.ok()) << capture.error().to_line();
  const auto file = encode_container(capture->cache.view(), *find_codec_level("lossless"), {});
  ASSERT_TRUE(file.ok());
  EXPECT_LT(static_cast<double>(file->size()) * 1.5, 2.0 * 256 * 11'520);
}

}  // namespace
}  // namespace sluice
