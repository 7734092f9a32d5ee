// mixed-sparse: the example of its specification, which entries it keeps, and what a token costs.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/mixed_sparse/select.h"
#include "tests/codec/one_section.h"

namespace sluice {
namespace {

using mixed_sparse::Entry;
using mixed_sparse::select_entries;

const std::vector<float> kChannels{7, -1, 3, 0, 0, 0, 0, 0, 0, 100};
const std::vector<int> kExample{1,    0,    0,    0,    9,    0x40, 0x56,
                                0x00, 0x3c, 0x01, 0x07, 0x00, 0xf7, 0x03};

Status decoded(const std::vector<int>& payload, OwnedTensor& back) {
  return decode_section_into("mixed-sparse@fp16-10", to_bytes(payload), back.mutable_view());
}

TEST(MixedSparse, IsTheExampleOfItsSpecification) {
  EXPECT_EQ(encoded_section("mixed-sparse@fp16-10", fp32_tensor(1, 10, kChannels).view()),
            to_bytes(kExample));
  OwnedTensor back = fp32_tensor(1, 10, std::vector<float>(10));
  ASSERT_TRUE(decoded(kExample, back).ok());
  EXPECT_EQ(floats_of(back), kChannels);
}

TEST(MixedSparse, RefusesWhatNoEncoderWrites) {
  const auto is_refused = [](std::size_t at, int byte) {
    std::vector<int> bytes = kExample;
    bytes[at] = byte;
    OwnedTensor back = fp32_tensor(1, 10, std::vector<float>(10));
    return !decoded(bytes, back).ok();
  };
  EXPECT_FALSE(is_refused(4, 8));
  EXPECT_TRUE(is_refused(4, 10));  // a place outside the tensor
  EXPECT_TRUE(is_refused(4, 255));
  EXPECT_TRUE(is_refused(3, 1));     // 2^24 entries
  EXPECT_TRUE(is_refused(6, 0x7c));  // an infinite entry
  EXPECT_TRUE(is_refused(8, 0xbc));  // a negative scale
  EXPECT_TRUE(is_refused(9, 3));     // a flag without a token
  EXPECT_TRUE(is_refused(11, 4));    // a channel that does not exist
  EXPECT_TRUE(is_refused(13, 0x13));
}

TEST(MixedSparse, ATokenOfFewZerosIsDense) {
  // 64 channels of code 7 or -7: a count, a scale, a flag byte, 32 bytes of codes, no map.
  std::vector<float> channels(64, 7.0F);
  for (std::size_t i = 0; i < 64; i += 2) channels[i] = -7.0F;
  const auto view = fp32_tensor(1, 64, channels);
  // 2 % of 64 entries: one entry with place and number, 3 bytes.
  EXPECT_EQ(encoded_section("mixed-sparse@fp16-2", view.view()).size(), 4U + 3 + 2 + 1 + 32);
  // Half of the entries are zeros: 8 bytes of map and 31 codes are 24 bytes.
  EXPECT_EQ(encoded_section("mixed-sparse@fp16-2-zero-50", view.view()).size(),
            4U + 3 + 2 + 1 + 8 + 16);
}

TEST(MixedSparse, KeepsTheLargestEntriesAndTheEarlierOfEquals) {
  const std::vector<float> values{1, -3, 2, 3, 0, -2, 0.5F, 0.25F, 1, 1};
  // 20 % of ten entries in fp16: the two of magnitude 3. 30 % zeros: 0, 0.25 and 0.5.
  const auto entries = select_entries(values, 10, {}, 20, 30);
  const auto c = Entry::kCode, k = Entry::kKept, z = Entry::kZero;
  EXPECT_EQ(entries, (std::vector<Entry>{c, k, c, k, z, c, z, z, c, c}));
  // 10 %: the first of the two.
  EXPECT_EQ(select_entries(values, 10, {}, 10, 0)[1], k);
  EXPECT_EQ(select_entries(values, 10, {}, 10, 0)[3], c);
}

TEST(MixedSparse, ATokenFourTimesAsImportantHasEntriesTwiceAsImportant) {
  // Two tokens of two channels; the root of 4 makes 1.6 of the first as good as 3.2.
  const std::vector<float> values{1.6F, 0, 3, 0};
  const std::vector<float> weights{4, 1};
  EXPECT_EQ(select_entries(values, 2, {}, 25, 0)[2], Entry::kKept);
  EXPECT_EQ(select_entries(values, 2, weights, 25, 0)[0], Entry::kKept);
}

TEST(MixedSparse, ManyEntriesFarApartComeBack) {
  // Every 700th entry is large: gaps of 699 take three bytes each.
  std::vector<float> values(20 * 700);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 700 == 350 ? 1000.0F + static_cast<float>(i / 700) : 1.0F;
  const OwnedTensor tensor = fp32_tensor(20, 700, values);
  OwnedTensor back = fp32_tensor(20, 700, std::vector<float>(values.size()));
  const std::string name = "mixed-sparse@fp16-2";
  ASSERT_TRUE(
      decode_section_into(name, encoded_section(name, tensor.view()), back.mutable_view()).ok());
  for (std::size_t i = 350; i < values.size(); i += 700) EXPECT_EQ(floats_of(back)[i], values[i]);
}

}  // namespace
}  // namespace sluice
