// Sealed containers: what the seal finds, whatever the checksums say, and keys in files.
#include "codec/container/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

const SealKey& key() {
  static const SealKey kKey(counting_bytes(0));
  return kKey;
}
const DecodeOptions& with_key() {
  static const DecodeOptions kOptions{.seal_key = &key()};
  return kOptions;
}

Bytes sealed(const KvView& view, int salt = 32) {
  return encoded(view, "int8",
                 {.layers_per_section = 1, .seal_key = &key(), .seal_salt = counting_bytes(salt)});
}

TEST(Seal, OpensWithItsKeyToTheSameElements) {
  for (const NamedCache& made : odd_caches()) {
    SCOPED_TRACE(made.name);
    const auto plain = decode_container(encoded(made.cache.view(), "int8"), "made.kvb");
    const auto opened = decode_container(sealed(made.cache.view()), "made.kvb", with_key());
    ASSERT_TRUE(plain.ok() && opened.ok()) << opened.error().to_line();
    expect_same(plain->view(), opened->view());
  }
}

TEST(Seal, AddsASaltAndOneTagPerSectionAndHeader) {
  const KvCache cache = small_cache();
  EXPECT_EQ(sealed(cache.view()).size(),
            encoded(cache.view(), "int8").size() + 32 + 16 * (4 + 1));  // 4 sections
}

TEST(Seal, TwoFilesOfOneKeyShareNoSectionBytes) {
  const KvCache cache = small_cache();
  const EncodeOptions options{.layers_per_section = 1, .seal_key = &key()};
  const Bytes one = encoded(cache.view(), "int8", options);
  const Bytes two = encoded(cache.view(), "int8", options);
  ASSERT_EQ(one.size(), two.size());
  const auto header = parse_header(one, "made.kvb");
  ASSERT_TRUE(header.ok());
  EXPECT_NE(header->seal_salt, parse_header(two, "made.kvb")->seal_salt);
  for (const SectionEntry& section : header->sections) {
    const auto begin = static_cast<std::ptrdiff_t>(section.offset);
    EXPECT_FALSE(std::equal(one.begin() + begin, one.begin() + begin + section.size.bytes(),
                            two.begin() + begin));
  }
}

TEST(Seal, KeysAreAskedForAndWrongOnesRefused) {
  const KvCache cache = small_cache();
  const Bytes file = sealed(cache.view());
  EXPECT_THAT(error_of(file), HasSubstr("made.kvb: is sealed; name the key's file"));
  const SealKey other(counting_bytes(1));
  EXPECT_THAT(error_of(file, {.seal_key = &other}), HasSubstr("the key does not open it"));
  // Else a forger would just leave the seal out.
  EXPECT_THAT(error_of(encoded(cache.view(), "int8"), with_key()), HasSubstr("is not sealed"));
}

TEST(Seal, FindsEverySingleBitFlipThoughAllChecksumsAreRight) {
  const Bytes file = sealed(small_cache().view());
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const Bytes repaired = with_right_checksums(flipped);
    if (repaired == file) continue;  // the flip was in a checksum
    ASSERT_NE(error_of(repaired, with_key()), "no error") << "bit " << bit;
  }
}

TEST(Seal, FindsSectionsMovedWithinAFileAndBetweenFiles) {
  // Four sections of one size.
  const KvCache cache = made_cache({.facts = {},
                                    .layers = {layer_of(0, {.heads = 1, .tokens = 4, .dim = 8}),
                                               layer_of(1, {.heads = 1, .tokens = 4, .dim = 8})}});
  const Bytes file = sealed(cache.view());
  const Bytes other = sealed(cache.view(), 64);
  const auto header = parse_header(file, "made.kvb");
  ASSERT_TRUE(header.ok());
  const auto& sections = header->sections;
  ASSERT_EQ(sections.size(), 4U);
  // `from` of `source` in place of `to`, with the header's tag as if an insider had made it.
  const auto replaced = [&](const Bytes& source, std::size_t from, std::size_t to) {
    Bytes moved = file;
    std::copy_n(source.begin() + sections[from].offset, sections[from].size.bytes(),
                moved.begin() + sections[to].offset);
    ContainerHeader forged = *header;
    forged.sections[to].crc32 =
        crc32_of(std::span(moved).subspan(static_cast<std::size_t>(sections[to].offset),
                                          static_cast<std::size_t>(sections[to].size.bytes())));
    const FileSeal seal(key(), *header->seal_salt, header_front(forged));
    const Bytes front = header_bytes(forged, &seal);
    std::copy(front.begin(), front.end(), moved.begin());
    return error_of(moved, with_key());
  };
  EXPECT_EQ(replaced(file, 1, 1), "no error");
  EXPECT_THAT(replaced(file, 1, 3), HasSubstr("its seal is broken"));
  EXPECT_THAT(replaced(other, 1, 1), HasSubstr("its seal is broken"));
}

class KeyFiles : public testing::Test {
 protected:
  static std::filesystem::path path(const std::string& name) { return temporary_folder() / name; }
  static std::filesystem::path written(const std::string& name, std::size_t bytes, mode_t mode) {
    std::ofstream(path(name)) << std::string(bytes, 'k');
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }
};

TEST_F(KeyFiles, AreMadeAtRandomForTheirOwnerAlone) {
  ASSERT_TRUE(make_seal_key(path("one.key")).ok());
  ASSERT_TRUE(make_seal_key(path("two.key")).ok());
  struct stat facts {};
  ASSERT_EQ(::stat(path("one.key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  const auto one = read_seal_key(path("one.key"));
  const auto two = read_seal_key(path("two.key"));
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_NE(one->bytes(), two->bytes());
  EXPECT_THAT(make_seal_key(path("one.key")).error().to_line(), HasSubstr("name a new file"));
  EXPECT_EQ(read_seal_key(path("one.key"))->bytes(), one->bytes());
}

TEST_F(KeyFiles, AreRefusedWhenOthersMayReadThemOrTheirSizeIsWrong) {
  EXPECT_TRUE(read_seal_key(written("a.key", 32, 0600)).ok());
  EXPECT_TRUE(read_seal_key(written("b.key", 32, 0400)).ok());
  EXPECT_THAT(read_seal_key(written("c.key", 32, 0640)).error().to_line(), HasSubstr("mode 0640"));
  EXPECT_THAT(read_seal_key(written("d.key", 32, 0604)).error().to_line(), HasSubstr("chmod 600"));
  for (const std::size_t bytes : {0U, 31U, 33U, 64U}) {
    EXPECT_THAT(read_seal_key(written("e.key", bytes, 0600)).error().to_line(),
                HasSubstr("where a key has 32"));
  }
  EXPECT_THAT(read_seal_key(path("none.key")).error().to_line(), HasSubstr("codec key"));
  EXPECT_THAT(read_seal_key(temporary_folder()).error().to_line(),
              HasSubstr("is not a regular file"));
}

}  // namespace
}  // namespace sluice
