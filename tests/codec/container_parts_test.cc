// Parts of a container: refinements, sections that join keys and values, model profiles, threads,
// and decoding into memory that the caller owns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "codec/container/parallel.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/layered_codec.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using testing::HasSubstr;

Bytes layered_file(const EncodeOptions& options = {.layers_per_section = 1}) {
  const KvCache cache = small_cache();
  auto file = encode_container(cache.view(), {layered_codecs().data(), 0}, options);
  EXPECT_TRUE(file.ok());
  return *file;
}

ContainerHeader header_of(const Bytes& file) {
  auto header = parse_header(file, "made.kvb");
  EXPECT_TRUE(header.ok()) << header.error().to_line();
  return *header;
}

// `header` laid out again, behind it the sections of `file`.
Bytes with_header(ContainerHeader header, const Bytes& file) {
  const auto old_size = header.header_size.bytes();
  lay_out(header);
  Bytes made = header_bytes(header, nullptr);
  made.insert(made.end(), file.begin() + old_size, file.end());
  return with_right_checksums(made);
}

TEST(Refinements, BasesStandBeforeRefinementsAndBothGiveBackEveryBit) {
  const Bytes file = layered_file();
  const ContainerHeader header = header_of(file);
  ASSERT_EQ(header.sections.size(), 8U);  // 2 layers x (key, value) x 2
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(header.sections[i].refinement, i < 4 ? 0 : 1);
  const auto cache = decode_container(file, "made.kvb", {.codecs = layered_codecs()});
  ASSERT_TRUE(cache.ok()) << cache.error().to_line();
  expect_same(small_cache().view(), cache->view());
}

TEST(Refinements, AReaderMayStopAfterTheBase) {
  Bytes file = layered_file();
  const ContainerHeader header = header_of(file);
  // What has not arrived cannot matter.
  std::fill(file.begin() + header.sections[4].offset, file.end(), std::byte{0});
  const auto cache =
      decode_container(file, "made.kvb", {.refinements_max = 0, .codecs = layered_codecs()});
  ASSERT_TRUE(cache.ok()) << cache.error().to_line();
  const TensorView key = *cache->view().layers[0].key;
  const KvCache source = small_cache();
  const TensorView whole = *source.view().layers[0].key;
  EXPECT_EQ(key.data[0], std::byte{0});
  EXPECT_EQ(key.data[1], whole.data[1]);
}

TEST(Refinements, OneSectionIsDecodedWithWhatStandsBelowIt) {
  const Bytes file = layered_file();
  const ContainerHeader header = header_of(file);
  KvCache cache = KvCache::allocate(header.shape);
  for (std::size_t i = 4; i < 8; ++i) {
    ASSERT_TRUE(decode_one_section(file, header, header.sections[i], cache, "made.kvb",
                                   {.codecs = layered_codecs()})
                    .ok());
  }
  expect_same(small_cache().view(), cache.view());
}

TEST(Refinements, CountFromTheBaseWithoutGaps) {
  const Bytes file = layered_file();
  const auto changed = [&](std::size_t section, std::size_t at, auto value) {
    const std::size_t entry =
        static_cast<std::size_t>(header_of(file).sections_at) + 4 + section * 40;
    return error_of(patched(file, entry + at, value), {.codecs = layered_codecs()});
  };
  EXPECT_EQ(changed(4, 9, std::uint8_t{1}), "no error");
  EXPECT_THAT(changed(4, 9, std::uint8_t{2}), HasSubstr("section 4 is refinement 2 where 1 is"));
  EXPECT_THAT(changed(4, 9, std::uint8_t{0}), HasSubstr("section 4 repeats a layer"));
  EXPECT_THAT(changed(0, 9, std::uint8_t{1}), HasSubstr("that no section before it codes"));
  EXPECT_THAT(changed(4, 8, std::uint8_t{1}), HasSubstr("section 5 is refinement 1 where 2 is"));
  EXPECT_THAT(changed(4, 4, std::uint32_t{2}), HasSubstr("that no section before it codes"));
}

TEST(Refinements, ACodecWithoutThemRefusesThem) {
  const Bytes file = encoded(small_cache().view(), "raw");
  ContainerHeader header = header_of(file);
  header.sections.push_back(header.sections[0]);
  header.sections.back().refinement = 1;
  Bytes longer = file;
  longer.insert(longer.end(), file.begin() + header.sections[0].offset,
                file.begin() + header.sections[0].offset + header.sections[0].size.bytes());
  EXPECT_THAT(error_of(with_header(header, longer)),
              HasSubstr("is refinement 1, and `raw@exact` has 0"));
}

TEST(JoinedSections, AreCoveredOnceAndRefusedByACodecThatHasNone) {
  const KvCache one =
      made_cache({.facts = {}, .layers = {layer_of(0, {.heads = 1, .tokens = 3, .dim = 4})}});
  const Bytes file = encoded(one.view(), "raw");
  ContainerHeader header = header_of(file);
  header.sections[0].kind = SectionKind::kKeyAndValue;
  EXPECT_THAT(error_of(with_header(header, file)), HasSubstr("section 1 repeats a layer"));
  header.sections[0].size += header.sections[1].size;
  header.sections.pop_back();
  const Bytes joined = with_header(header, file);
  EXPECT_EQ(num_elements(header_of(joined), header_of(joined).sections[0]), 24);
  EXPECT_THAT(error_of(joined),
              HasSubstr("(key+value): joins keys and values, and codec `raw` does not"));
}

TEST(ModelProfiles, AFileThatNamesOneIsRefusedByItsHash) {
  const Bytes file = encoded(small_cache().view(), "int8");
  ContainerHeader header = header_of(file);
  header.model_profile = counting_bytes(0);
  const Bytes named = with_header(header, file);
  EXPECT_EQ(named.size(), file.size() + 32);
  EXPECT_EQ(header_of(named).model_profile, counting_bytes(0));
  EXPECT_THAT(error_of(named),
              HasSubstr("needs the model profile with SHA-256 "
                        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"));
}

TEST(DecodeInto, OverwritesACacheThatIsUsedAgain) {
  const KvCache source = small_cache();
  const Bytes file = encoded(source.view(), "raw");
  const ContainerHeader header = header_of(file);
  KvCache cache = made_cache(header.shape, 99);
  ASSERT_TRUE(decode_container_into(file, header, cache, "made.kvb").ok());
  expect_same(source.view(), cache.view());
}

class EveryThreadCount : public testing::TestWithParam<int> {};

TEST_P(EveryThreadCount, GivesTheSameBytesAndTheSameElements) {
  for (const NamedCache& made : odd_caches()) {
    SCOPED_TRACE(made.name);
    const Bytes one = encoded(made.cache.view(), "cachegen-released");
    EXPECT_EQ(one, encoded(made.cache.view(), "cachegen-released",
                           {.layers_per_section = 1, .threads = GetParam()}));
    const auto oracle = decode_container(one, "made.kvb");
    const auto cache = decode_container(one, "made.kvb", {.threads = GetParam()});
    ASSERT_TRUE(oracle.ok() && cache.ok());
    expect_same(oracle->view(), cache->view());
  }
}

TEST_P(EveryThreadCount, TellsTheFirstErrorInFileOrder) {
  Bytes file = encoded(made_cache({.facts = {},
                                   .layers = {layer_of(0, {.heads = 2, .tokens = 9, .dim = 8}),
                                              layer_of(1, {.heads = 2, .tokens = 9, .dim = 8}),
                                              layer_of(2, {.heads = 2, .tokens = 9, .dim = 8})}})
                           .view(),
                       "raw");
  const ContainerHeader header = header_of(file);
  for (const std::size_t i : {5U, 3U, 2U})
    file[static_cast<std::size_t>(header.sections[i].offset)] ^= std::byte{1};
  const std::string place = "section at byte " + std::to_string(header.sections[2].offset) + " ";
  for (int round = 0; round < 50; ++round)
    ASSERT_THAT(error_of(file, {.threads = GetParam()}), HasSubstr(place));
}

INSTANTIATE_TEST_SUITE_P(Threads, EveryThreadCount, testing::Values(1, 2, 3, 16));

TEST(ForEachIndex, RunsEveryJobOnceAndPassesExceptionsOn) {
  std::vector<std::atomic<int>> runs(1000);
  EXPECT_TRUE(for_each_index(runs.size(), 4, [&](std::size_t i) -> Status {
                ++runs[i];
                return {};
              }).ok());
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  const auto throws_at_7 = [](std::size_t i) -> Status {
    if (i == 7) throw std::bad_alloc();
    return i < 9 ? Status() : error_in("", "later", "");
  };
  EXPECT_THROW((void)for_each_index(50, 4, throws_at_7), std::bad_alloc);
  EXPECT_TRUE(for_each_index(0, 4, throws_at_7).ok());
}

}  // namespace
}  // namespace sluice
