// raw, int8 and int4 on every backend: the scalar loops are the oracle, for every channel count,
// dtype, memory layout and value that could take another path through the vector loops.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.h"
#include "codec/registry.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;
constexpr Dtype kDtypes[] = {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32};
constexpr std::byte kUntouched{0xA5};

// A tensor in memory that starts `offset` bytes after a 64-byte line, with 64 bytes of canaries on
// both sides.
class Placed {
 public:
  Placed(const TensorShape& shape, const Strides& strides, std::size_t offset = 0)
      : bytes_(static_cast<std::size_t>(shape.size().bytes())), memory_(bytes_ + 256, kUntouched) {
    const auto start = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = 128 - start % 64 + offset;
    view_ = {shape, memory_.data() + begin_, strides};
  }
  [[nodiscard]] MutableTensorView view() { return view_; }
  [[nodiscard]] std::span<std::byte> bytes() { return std::span(memory_).subspan(begin_, bytes_); }
  [[nodiscard]] bool has_canaries() const {
    const auto is_untouched = [](std::byte b) { return b == kUntouched; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, is_untouched) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_untouched);
  }

 private:
  std::size_t bytes_, begin_ = 0;
  std::vector<std::byte> memory_;
  MutableTensorView view_;
};

SectionContext context_of(const CodecLevel& level, Backend backend) {
  return {.level = level.level, .num_model_layers = 1, .backend = backend};
}

Bytes encoded(const CodecLevel& level, const TensorView& values, Backend backend) {
  const SectionTensor tensor{.values = values};
  auto section = level.codec->encode_section(context_of(level, backend), std::span(&tensor, 1));
  EXPECT_TRUE(section.ok());
  return section->payload;
}

Status decode(const CodecLevel& level, const Bytes& payload, const MutableTensorView& to,
              Backend backend) {
  const MutableSectionTensor tensor{.values = to};
  return level.codec->decode_section(context_of(level, backend), payload, std::span(&tensor, 1));
}

class BitPackedBackends : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static CodecLevel level() { return *find_codec_level(GetParam()); }

  // Encodes and decodes on every backend, and compares with the scalar one.
  static void expect_same(const TensorShape& shape, const Strides& strides,
                          std::span<const std::byte> values, std::size_t offset = 0) {
    Placed source(shape, strides, offset), oracle(shape, strides, offset);
    std::copy(values.begin(), values.end(), source.bytes().begin());
    const Bytes payload = encoded(level(), source.view().view(), Backend::kScalar);
    ASSERT_TRUE(decode(level(), payload, oracle.view(), Backend::kScalar).ok());
    for (const Backend backend : available_backends()) {
      ASSERT_EQ(encoded(level(), source.view().view(), backend), payload) << to_text(backend);
      expect_decodes_to(payload, oracle, strides, offset, backend);
      if (HasFatalFailure()) return;
    }
  }

  static void expect_decodes_to(const Bytes& payload, Placed& oracle, const Strides& strides,
                                std::size_t offset, Backend backend) {
    Placed out(oracle.view().shape, strides, offset);
    ASSERT_TRUE(decode(level(), payload, out.view(), backend).ok());
    ASSERT_TRUE(std::equal(out.bytes().begin(), out.bytes().end(), oracle.bytes().begin()))
        << to_text(backend);
    ASSERT_TRUE(out.has_canaries()) << to_text(backend);
  }

  static Bytes normal_values(const TensorShape& shape) {
    Bytes bytes(static_cast<std::size_t>(shape.size().bytes()));
    const MutableTensorView view{shape, bytes.data(), head_major(shape)};
    RandomStream random(3);
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      for (std::int64_t token = 0; token < shape.tokens; ++token) {
        for (std::int64_t dim = 0; dim < shape.dim; ++dim)
          view.set(head, token, dim, static_cast<float>(random.normal(0, 2)));
      }
    }
    return bytes;
  }
};

TEST_P(BitPackedBackends, AgreeForEveryChannelCountUpTo130) {
  for (const Dtype dtype : kDtypes) {
    for (std::int64_t dim = 1; dim <= 130; ++dim) {
      SCOPED_TRACE(testing::Message() << to_text(dtype) << " " << dim);
      const TensorShape shape{.dtype = dtype, .heads = 1, .tokens = 3, .dim = dim};
      expect_same(shape, head_major(shape), normal_values(shape));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(BitPackedBackends, AgreeWhereGroupsCrossHeadsAndCodesStartInMidByte) {
  for (const Dtype dtype : kDtypes) {
    for (const std::int64_t dim : {1, 7, 33, 48, 63, 65, 80, 96, 127}) {
      SCOPED_TRACE(testing::Message() << to_text(dtype) << " " << dim);
      const TensorShape shape{.dtype = dtype, .heads = 3, .tokens = 5, .dim = dim};
      for (const Strides& strides :
           {head_major(shape), token_major(shape), Strides{5 * dim, 1, 5}}) {
        expect_same(shape, strides, normal_values(shape));
        expect_same(shape, strides, normal_values(shape), 1);  // an odd address
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(BitPackedBackends, AgreeOnAll65536ValuesOfBothHalfFormats) {
  for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16}) {
    std::vector<std::uint16_t> patterns(65536);
    for (std::size_t i = 0; i < patterns.size(); ++i)  // neighbours far apart: mixed groups
      patterns[i] = static_cast<std::uint16_t>(i * 40503);
    for (const bool is_sorted : {false, true}) {  // and close together: like magnitudes
      if (is_sorted) std::sort(patterns.begin(), patterns.end());
      const TensorShape shape{.dtype = dtype, .heads = 1, .tokens = 512, .dim = 128};
      expect_same(shape, head_major(shape), std::as_bytes(std::span(patterns)));
    }
  }
}

TEST_P(BitPackedBackends, AgreeOnScalesThatAreSubnormalOrAlmostTooLarge) {
  for (const float magnitude : {1e-30F, 0x1p-24F, 3e-6F, 6.1e-5F, 65503.0F, 65504.0F, 1e9F}) {
    const TensorShape shape{.dtype = Dtype::kFp32, .heads = 1, .tokens = 1, .dim = 70};
    std::vector<float> values(70);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = magnitude * (static_cast<float>(i) - 35) / 35;
    expect_same(shape, head_major(shape), std::as_bytes(std::span(values)));
  }
}

TEST_P(BitPackedBackends, AgreeWhenAResultIsLargeEnoughToBeWrittenAroundTheCaches) {
  for (const Dtype dtype : kDtypes) {
    const TensorShape shape{.dtype = dtype, .heads = 4, .tokens = 2060, .dim = 128};
    expect_same(shape, head_major(shape), normal_values(shape));
    expect_same(shape, token_major(shape), normal_values(shape));
    expect_same(shape, head_major(shape), normal_values(shape), 2);  // whole lines no more
  }
}

class UniformBackends : public BitPackedBackends {};

TEST_P(UniformBackends, DecodeCodesThatNoEncoderWritesTheSame) {
  RandomStream random(5);
  for (const Dtype dtype : kDtypes) {
    for (const std::int64_t dim : {64, 75, 130}) {
      const TensorShape shape{.dtype = dtype, .heads = 2, .tokens = 4, .dim = dim};
      Bytes payload = encoded(level(), {shape, normal_values(shape).data(), head_major(shape)},
                              Backend::kScalar);
      const std::int64_t group =
          GetParam() == std::string(level().codec->info.id) + "@token" ? shape.channels() : 64;
      const std::int64_t num_scales = 4 * ((shape.channels() + group - 1) / group);
      for (std::size_t i = 0; i < payload.size(); ++i) {
        const bool is_scale = i < 2 * static_cast<std::size_t>(num_scales);
        payload[i] = static_cast<std::byte>(random.below(is_scale && i % 2 == 1 ? 0x7C : 256));
      }
      Placed oracle(shape, head_major(shape));
      ASSERT_TRUE(decode(level(), payload, oracle.view(), Backend::kScalar).ok());
      for (const Backend backend : available_backends())
        expect_decodes_to(payload, oracle, head_major(shape), 0, backend);
    }
  }
}

TEST_P(UniformBackends, RefuseTheSameDamage) {
  const TensorShape shape{.dtype = Dtype::kFp16, .heads = 1, .tokens = 2, .dim = 3};
  const Bytes good =
      encoded(level(), {shape, normal_values(shape).data(), head_major(shape)}, Backend::kScalar);
  for (const Backend backend : available_backends()) {
    Placed out(shape, head_major(shape));
    EXPECT_TRUE(decode(level(), good, out.view(), backend).ok());
    for (const int high_byte : {0x7C, 0x7E, 0x80, 0xFF}) {  // infinity, NaN, -0 and below
      Bytes payload = good;
      payload[3] = static_cast<std::byte>(high_byte);  // the second token's scale
      EXPECT_FALSE(decode(level(), payload, out.view(), backend).ok());
    }
    if (level().codec->info.id != "int4") continue;
    for (const std::size_t last_byte : {5U, 7U}) {  // 4 bytes of scales, 2 of codes per token
      Bytes payload = good;
      payload[last_byte] |= std::byte{0x10};
      EXPECT_FALSE(decode(level(), payload, out.view(), backend).ok());
    }
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& level) {
  return test_name(level.param);
}

INSTANTIATE_TEST_SUITE_P(Levels, BitPackedBackends,
                         testing::Values("raw@exact", "int8@group-64", "int8@token",
                                         "int4@group-64", "int4@token"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Levels, UniformBackends,
                         testing::Values("int8@group-64", "int8@token", "int4@group-64",
                                         "int4@token"),
                         name_of);

}  // namespace
}  // namespace sluice
