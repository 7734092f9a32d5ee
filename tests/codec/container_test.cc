// The .kvb container: what it refuses, and the example of its specification byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using testing::HasSubstr;
constexpr std::size_t kFlagsAt = 12;
constexpr std::size_t kPreludeBytes = 32;

// Where the first layer entry of a container of small_cache() stands: behind codec, version, level,
// two empty texts, key form, range and two counts.
std::size_t first_layer_at(const std::string& codec, const std::string& level) {
  return kPreludeBytes + (4 + codec.size()) + 4 + (4 + level.size()) + 4 + 4 + 4 + 16 + 4 + 4;
}

// The bytes of the specification's example: the table's rows hold them in backquotes.
Bytes bytes_of_the_specification() {
  std::ifstream spec(SLUICE_SOURCE_DIR "/codec/container/spec.md");
  std::string line;
  while (std::getline(spec, line) && line != "## Example") continue;
  Bytes bytes;
  while (std::getline(spec, line)) {
    const std::size_t begin = line.find("| `");
    if (begin == std::string::npos) continue;
    std::istringstream digits(line.substr(begin + 3, line.find('`', begin + 3) - begin - 3));
    for (std::string pair; digits >> pair;)
      bytes.push_back(static_cast<std::byte>(std::stoi(pair, nullptr, 16)));
  }
  return bytes;
}

TEST(Container, IsTheExampleOfItsSpecificationByteForByte) {
  KvCache cache = KvCache::allocate(
      {.facts = {}, .layers = {layer_of(0, {.heads = 1, .tokens = 1, .dim = 1})}});
  cache.mutable_tensor(0, TensorKind::kKey).set(0, 0, 0, 1.0F);
  cache.mutable_tensor(0, TensorKind::kValue).set(0, 0, 0, -2.0F);
  const Bytes file = encoded(cache.view(), "raw");
  ASSERT_EQ(file.size(), 252U);
  EXPECT_EQ(file, bytes_of_the_specification());
}

// What encoding a cache with these facts ends with: an error, or what decoding it again ends with.
std::string encoded_and_decoded(const KvFacts& facts, const std::string& scaling = "null") {
  const KvCache cache = small_cache();
  KvView view = cache.view();
  view.facts = facts;
  const RopeFacts rope{.theta = 1e4, .rotated_dims = 2, .scaling_json = scaling};
  view.layers[0].rope = std::make_shared<const RopeFacts>(rope);
  const auto file = encode_container(view, *find_codec_level("raw"));
  return file.ok() ? error_of(*file) : file.error().to_line();
}

TEST(Container, NoTextIsWrittenThatAReaderRefuses) {
  const std::string longest(4096, 'm');
  EXPECT_EQ(encoded_and_decoded({.model = longest, .revision = longest}), "no error");
  EXPECT_THAT(encoded_and_decoded({.model = longest + "m"}),
              HasSubstr("its model is longer than 4096 bytes; shorten it in the capture"));
  EXPECT_THAT(encoded_and_decoded({.revision = longest + "m"}),
              HasSubstr("its revision is longer than 4096 bytes"));
  for (const char* text : {"two\nlines", "a\ttab", "\x7f"}) {
    EXPECT_THAT(encoded_and_decoded({.model = text}),
                HasSubstr("its model holds control characters"));
    EXPECT_THAT(encoded_and_decoded({.revision = text}),
                HasSubstr("its revision holds control characters"));
  }
  EXPECT_EQ(encoded_and_decoded({}, R"({"rope_type": "two\nlines"})"), "no error");  // escaped
  EXPECT_THAT(encoded_and_decoded({}, "{\"rope_type\": \"\x7f\"}"),
              HasSubstr("its RoPE entry holds control characters"));
  std::string long_json(1 << 20, 'r');
  long_json.front() = long_json.back() = '"';
  EXPECT_THAT(encoded_and_decoded({}, long_json),
              HasSubstr("its RoPE entry is longer than 1048576 bytes"));
}

TEST(Container, ItsFirst32BytesTellHowMuchToFetch) {
  const Bytes file = encoded(small_cache().view(), "int8");
  const auto extent = parse_extent(std::span(file).first(kPreludeBytes), "made.kvb");
  ASSERT_TRUE(extent.ok());
  EXPECT_EQ(extent->file_size.bytes(), static_cast<std::int64_t>(file.size()));
  EXPECT_EQ(extent->header_size, parse_header(file, "made.kvb")->header_size);
  EXPECT_FALSE(parse_extent(std::span(file).first(kPreludeBytes - 1), "made.kvb").ok());
}

TEST(Checksum, IsThatOfZlibForEveryLengthAndAlignment) {
  RandomStream random(5);
  Bytes bytes(5000);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  const auto expect_zlib = [&](std::size_t begin, std::size_t size) {
    const auto part = std::span(bytes).subspan(begin, size);
    ASSERT_EQ(crc32_of(part),
              ::crc32_z(0, reinterpret_cast<const unsigned char*>(part.data()), part.size()))
        << begin << " " << size;
  };
  for (std::size_t size = 0; size < 1500; ++size) expect_zlib(size % 17, size);
  for (int i = 0; i < 500; ++i) {
    const std::size_t begin = random.below(bytes.size());
    expect_zlib(begin, random.below(bytes.size() - begin + 1));
  }
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  expect_zlib(0, bytes.size());
}

TEST(Container, EveryTruncationIsAnErrorThatNamesTheFile) {
  const Bytes file = encoded(small_cache().view(), "int8");
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_THAT(error_of(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size))),
                HasSubstr("error: made.kvb"));
  }
  Bytes longer = file;
  longer.push_back(std::byte{0});
  EXPECT_THAT(error_of(longer), HasSubstr("bytes where its header says"));
}

TEST(Container, EverySingleBitFlipIsFound) {
  for (const Codec& codec : all_codecs()) {
    const Bytes file = encoded(small_cache().view(), codec.info.id);
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      Bytes flipped = file;
      flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      ASSERT_FALSE(decode_container(flipped, "made.kvb").ok()) << codec.info.id << " bit " << bit;
    }
  }
}

TEST(Container, RefusesUnknownVersionsFlagsCodecsAndLevels) {
  const Bytes file = encoded(small_cache().view(), "int8@token");
  EXPECT_THAT(error_of(patched(file, 8, std::uint32_t{2})), HasSubstr("version 2 is not 1"));
  EXPECT_THAT(error_of(patched(file, kFlagsAt, std::uint32_t{8})),
              HasSubstr("flags 0x8 are unknown"));
  EXPECT_THAT(error_of(patched(file, kPreludeBytes + 4 + 3, '9')), HasSubstr("no codec `int9`"));
  EXPECT_THAT(error_of(patched(file, kPreludeBytes + 8, std::uint32_t{9})),
              HasSubstr("version 1 here and 9 in the file"));
  EXPECT_THAT(error_of(patched(file, kPreludeBytes + 16, 'T')), HasSubstr("no level `Token`"));
  EXPECT_THAT(error_of(patched(file, kPreludeBytes + 16, '\n')), HasSubstr("control characters"));
}

TEST(Container, RefusesShapesThatItsBytesCannotHold) {
  const Bytes file = encoded(small_cache().view(), "int8@token");
  const std::size_t tokens_at = first_layer_at("int8", "token") + 16;
  EXPECT_THAT(error_of(patched(file, tokens_at, std::int64_t{1} << 40)), HasSubstr("token range"));
  // The range told as well: then the sections are too short for it, before any memory is taken.
  const std::size_t range_end_at = first_layer_at("int8", "token") - 16;
  EXPECT_THAT(error_of(patched(patched(file, tokens_at, std::int64_t{1} << 40), range_end_at,
                               std::int64_t{1} << 40)),
              HasSubstr("bytes cannot hold 4398046511104 elements"));
  EXPECT_THAT(error_of(patched(file, tokens_at, std::int64_t{-1})), HasSubstr("negative count"));
  const std::size_t heads_at = tokens_at + 8 + 4 + 4 + 4;
  EXPECT_THAT(error_of(patched(file, heads_at, std::int64_t{1} << 62)),
              HasSubstr("passes 2^63 bytes"));
  EXPECT_THAT(error_of(patched(file, first_layer_at("int8", "token") - 4, std::uint32_t{1} << 30)),
              HasSubstr("1073741824 layers do not fit its header"));
}

TEST(Container, RefusesSectionsThatDoNotTileTheFile) {
  const Bytes file = encoded(small_cache().view(), "int8@token");
  const auto header = parse_header(file, "made.kvb");
  ASSERT_TRUE(header.ok());
  ASSERT_EQ(header->sections.size(), 4U);  // two layers, keys and values
  const std::size_t sections_at =
      static_cast<std::size_t>(header->header_size.bytes()) - 4 - 4 * 40;
  EXPECT_THAT(error_of(patched(file, sections_at + 16, header->header_size.bytes() + 1)),
              HasSubstr("does not follow"));
  EXPECT_THAT(error_of(patched(file, sections_at + 24, std::int64_t{-5})),
              HasSubstr("does not follow"));
  EXPECT_THAT(error_of(patched(file, sections_at + 24, std::int64_t{1} << 62)),
              HasSubstr("does not follow"));
  EXPECT_THAT(error_of(patched(file, sections_at + 32, std::int64_t{1000})),
              HasSubstr("more side bytes"));
  EXPECT_THAT(error_of(patched(file, sections_at + 40 + 8, std::uint8_t{0})),
              HasSubstr("section 1 repeats a layer"));
  EXPECT_THAT(error_of(patched(file, sections_at, std::uint32_t{7})),
              HasSubstr("layers that do not exist"));
  EXPECT_THAT(error_of(patched(file, sections_at + 8, std::uint8_t{2})),
              HasSubstr("section 0 covers no elements"));
  EXPECT_THAT(error_of(patched(file, sections_at + 8, std::uint8_t{4})),
              HasSubstr("version 1 does not know"));
  EXPECT_THAT(error_of(patched(file, sections_at + 10, std::uint16_t{1})),
              HasSubstr("reserved bits"));
}

TEST(Container, SurvivesRandomHeadersWithARightChecksum) {
  RandomStream random(3);
  for (const NamedCache& made : odd_caches()) {
    const Bytes file = encoded(made.cache.view(), "int4");
    std::uint64_t header_size;
    std::memcpy(&header_size, file.data() + 16, sizeof header_size);
    for (int round = 0; round < 2000; ++round) {
      const std::size_t at = kPreludeBytes + random.below(header_size - kPreludeBytes - 4);
      const Bytes changed = patched(file, at, static_cast<std::uint8_t>(random.below(256)));
      (void)decode_container(changed,
                             "made.kvb");  // an error or another cache; the sanitizers watch
    }
  }
}

TEST(Container, AWrongSectionChecksumNamesItsPlace) {
  Bytes file = encoded(small_cache().view(), "raw");
  file.back() ^= std::byte{1};
  EXPECT_THAT(error_of(file), HasSubstr("(value): its checksum is wrong"));
}

}  // namespace
}  // namespace sluice
