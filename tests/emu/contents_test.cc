// What is made can be decoded, is told apart by its hashes, and comes back from a folder whole or
// not at all.
#include "emu/contents/contents.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/files.h"
#include "codec/container/decode.h"
#include "emu/contents/selection.h"
#include "tests/emu/made_contents.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

TEST(MadeContents, DecodeToTheHashOfTheCatalogue) {
  const ContextContents& context = *small_contents()->find(ContextId{kTestContext});
  const Catalogue& catalogue = context.catalogue();
  ASSERT_EQ(catalogue.chunks.size(), 2U);
  EXPECT_EQ(catalogue.tokens(), 112);
  EXPECT_EQ(catalogue.chunks[0].elements, 2 * 3 * 2 * 16 * 64);
  EXPECT_EQ(catalogue.chunks[0].decoded_size, DataSize::bytes(2 * 2 * 3 * 2 * 16 * 64));
  EXPECT_EQ(catalogue.levels, (std::vector<std::string>{"int8@token", "cachegen-released@2"}));
  for (std::int64_t chunk = 0; chunk < 2; ++chunk) {
    for (std::int64_t level = 0; level < 2; ++level) {
      const auto bytes = context.find(chunk, level)->bytes.read_all();
      ASSERT_TRUE(bytes.ok());
      const ChunkVersion& version = *catalogue.find(chunk, level);
      EXPECT_EQ(hash_bytes(*bytes), version.encoded_hash);
      EXPECT_EQ(static_cast<std::int64_t>(bytes->size()), version.size.bytes());
      const auto cache = decode_container(*bytes, "chunk");
      ASSERT_TRUE(cache.ok());
      EXPECT_EQ(hash_tensors(cache->view()), version.tensor_hash);
      EXPECT_GT(version.decode_time, Duration::zero());
    }
  }
}

TEST(ContentHash, OfPiecesIsThatOfTheWhole) {
  const auto bytes = small_contents()->find(ContextId{kTestContext})->find(0, 0)->bytes.read_all();
  ASSERT_TRUE(bytes.ok());
  const std::span<const std::byte> whole(*bytes);
  BytesHash hash;
  EXPECT_EQ(hash.digest(), hash_bytes({}));
  hash.add(whole.first(1));
  hash.add(whole.subspan(1, 1000));
  hash.add(whole.subspan(1001));
  EXPECT_EQ(hash.num_bytes(), whole.size());
  EXPECT_EQ(hash.digest(), hash_bytes(whole));
}

TEST(ContentHash, OfTensorsDoesNotDependOnThreadsAndFindsOneElement) {
  const auto bytes = small_contents()->find(ContextId{kTestContext})->find(0, 0)->bytes.read_all();
  auto cache = decode_container(*bytes, "chunk");
  ASSERT_TRUE(cache.ok());
  const TensorHash hash = hash_tensors(cache->view());
  EXPECT_EQ(hash_tensors(cache->view(), 3), hash);
  const MutableTensorView last = cache->mutable_tensor(2, TensorKind::kValue);
  last.data[last.shape.size().bytes() - 1] ^= std::byte{1};
  EXPECT_NE(hash_tensors(cache->view()), hash);
}

TEST(MadeContents, OfTwoChunksAreNeverEqual) {
  auto spec = small_spec();
  spec.chunk_tokens.assign(40, 8);  // 40 equal chunks
  spec.levels = {*find_codec_level("raw@exact")};
  const auto made = make_contents(spec);
  ASSERT_TRUE(made.ok());
  std::vector<std::string> hashes;
  for (const ChunkEntry& chunk : made->catalogue().chunks)
    hashes.push_back(to_text(chunk.versions[0].tensor_hash));
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(MadeContents, SayThatTheyAreMadeAndACaptureThatItIsOne) {
  EXPECT_THAT(small_contents()->find(ContextId{kTestContext})->catalogue().values,
              testing::HasSubstr("not a real cache"));
  auto spec = small_spec();
  spec.capture = fs::path(SLUICE_SOURCE_DIR) / "tests/data/smollm2-gettysburg.safetensors";
  const auto made = make_contents(spec);
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->catalogue().values,
              testing::HasSubstr("capture smollm2-gettysburg.safetensors"));
}

TEST(MadeContents, OfAWindowLayerHoldOnlyTheContextsEnd) {
  auto spec = small_spec();
  spec.model.layers[1].window_tokens = 50;  // of 112: 2 tokens of chunk 0, all 48 of chunk 1
  const auto made = make_contents(spec);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->catalogue().chunks[0].elements, 2 * 2 * 16 * (64 + 2 + 64));
  EXPECT_EQ(made->catalogue().chunks[1].elements, 2 * 2 * 16 * 3 * 48);
}

TEST(MadeContents, AreRefusedWithoutTokensOrLevels) {
  auto spec = small_spec();
  spec.chunk_tokens = {3, 0};
  EXPECT_EQ(make_contents(spec).error().what, "a chunk without tokens");
  spec = small_spec();
  spec.levels.clear();
  EXPECT_EQ(make_contents(spec).error().what, "no levels to encode at");
  spec.levels = {*find_codec_level("int8+window")};
  EXPECT_THAT(make_contents(spec).error().what, testing::HasSubstr("a level with a reducer"));
}

TEST(Chunks, AreCutWithTheRestLast) {
  EXPECT_EQ(cut_into_chunks(9490, 1500),
            (std::vector<std::int64_t>{1500, 1500, 1500, 1500, 1500, 1500, 490}));
  EXPECT_TRUE(cut_into_chunks(0, 1500).empty());
}

// A folder of its own for each test.
class ContentsFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = temporary_folder() / testing::UnitTest::GetInstance()->current_test_info()->name();
    auto spec = small_spec();
    spec.folder = folder_;
    const auto made = make_contents(spec);
    ASSERT_TRUE(made.ok()) << made.error().to_line();
    catalogue_ = made->catalogue();
  }
  void flip(const fs::path& file, std::int64_t at) const {
    std::fstream stream(folder_ / file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(at);
    stream.put(byte);
  }
  [[nodiscard]] std::string fault() const {
    const auto opened = open_contents(folder_);
    return opened ? "" : opened.error().what;
  }
  fs::path folder_;
  Catalogue catalogue_;
};

TEST_F(ContentsFolder, OpensToTheSameCatalogueAndBytes) {
  const auto opened = open_contents(folder_);
  ASSERT_TRUE(opened.ok()) << opened.error().to_line();
  EXPECT_EQ(to_json(opened->catalogue()), to_json(catalogue_));
  EXPECT_EQ(hash_bytes(*opened->find(1, 1)->bytes.read_all()), catalogue_.find(1, 1)->encoded_hash);
  EXPECT_EQ(opened->find_text(0)->size(), DataSize::bytes(4 * 64));
  EXPECT_EQ(opened->find(2, 0), nullptr);
  EXPECT_EQ(opened->find(0, -1), nullptr);
}

TEST_F(ContentsFolder, IsRefusedWithAFlippedByteAnywhere) {
  flip("chunk-1.level-0.kvb", catalogue_.find(1, 0)->size.bytes() - 1);
  EXPECT_EQ(fault(), "its hash is not the catalogue's");
}

TEST_F(ContentsFolder, IsRefusedWithAFlippedTextACutFileOrAMissingOne) {
  flip("chunk-0.text", 3);
  EXPECT_EQ(fault(), "its hash is not the catalogue's");
  flip("chunk-0.text", 3);
  EXPECT_EQ(fault(), "");
  fs::resize_file(folder_ / "chunk-0.level-1.kvb", 100);
  EXPECT_THAT(fault(), testing::StartsWith("holds 100 bytes and should hold"));
  fs::remove(folder_ / "chunk-0.level-1.kvb");
  EXPECT_THAT(fault(), testing::StartsWith("cannot be opened"));
}

TEST_F(ContentsFolder, IsRefusedWhenChunksAreSwapped) {
  fs::rename(folder_ / "chunk-0.level-0.kvb", folder_ / "x");
  fs::rename(folder_ / "chunk-0.level-1.kvb", folder_ / "chunk-0.level-0.kvb");
  EXPECT_NE(fault(), "");
}

TEST_F(ContentsFolder, IsNotWrittenOver) {
  auto spec = small_spec();
  spec.folder = folder_;
  EXPECT_EQ(make_contents(spec).error().what, "is not empty");
}

TEST_F(ContentsFolder, WithAFileThatShrinksBehindOurBackFailsInsteadOfInventing) {
  const auto opened = open_contents(folder_);
  ASSERT_TRUE(opened.ok());
  const auto source = opened->find(0, 0)->bytes.open();
  ASSERT_TRUE(source.ok());
  fs::resize_file(folder_ / "chunk-0.level-0.kvb", 10);
  std::vector<std::byte> out(20);
  EXPECT_EQ(source->read(0, out).error().what, "is shorter than it was");
}

TEST(Catalogues, OfOtherNumbersThanTheirsAreRefused) {
  const std::string sound = to_json(small_contents()->find(ContextId{kTestContext})->catalogue());
  ASSERT_TRUE(parse_catalogue(sound, "c").ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    return parse_catalogue(text, "c");
  };
  EXPECT_FALSE(with("\"tokens\": 64", "\"tokens\": 0").ok());
  EXPECT_FALSE(with("\"decode_threads\": 1", "\"decode_threads\": 0").ok());
  EXPECT_FALSE(with("sluice-emu-catalogue-2", "sluice-emu-catalogue-1").ok());
  EXPECT_FALSE(with("\"bytes\": ", "\"bytes\": 1").ok()) << "not the sum of its parts";
}

ContainerHeader layered_header() {
  const auto& chunk = *small_contents()->find(ContextId{kTestContext}, 0, 0);
  ContainerHeader header = chunk.header;  // 3 layers, key and value: 6 sections, one layer each
  return header;
}

TEST(Selections, OfALayerAreTheHeaderAndItsSections) {
  const ContainerHeader header = layered_header();
  ASSERT_EQ(header.sections.size(), 6U);
  const auto all = choose_pieces(header, {});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, (std::vector<FilePiece>{{0, header.file_size.bytes()}}));
  const auto one = choose_pieces(header, {.layers = SectionChoice::Layers{.first = 1, .count = 1}});
  ASSERT_TRUE(one.ok());
  std::int64_t expected = header.header_size.bytes();
  for (const SectionEntry& section : header.sections)
    expected += section.first_entry == 1 ? section.size.bytes() : 0;
  EXPECT_EQ(total_size(*one), expected);
  EXPECT_FALSE(
      choose_pieces(header, {.layers = SectionChoice::Layers{.first = 3, .count = 9}}).ok());
}

TEST(Selections, BeyondALevelAreItsFurtherRefinements) {
  ContainerHeader header = layered_header();
  header.sections[4].refinement = 1;
  header.sections[5].refinement = 2;
  const auto above = choose_pieces(header, {.above_refinement = 1});
  ASSERT_TRUE(above.ok());
  EXPECT_EQ(*above,
            (std::vector<FilePiece>{{0, header.header_size.bytes()},
                                    {header.sections[5].offset, header.sections[5].size.bytes()}}));
  EXPECT_FALSE(choose_pieces(header, {.above_refinement = 2}).ok());
  EXPECT_EQ(highest_refinement(header), 2);
}

TEST(Versions, ExtendOneAnotherWhenTheLowerPartsAreTheSame) {
  const auto version = [](std::vector<std::int64_t> sizes) {
    ChunkVersion made{.header_size = DataSize::bytes(100)};
    for (const std::int64_t size : sizes) made.refinement_sizes.push_back(DataSize::bytes(size));
    return made;
  };
  EXPECT_EQ(version({50, 20, 10}).size_beyond(version({50})), DataSize::bytes(130));
  EXPECT_EQ(version({50, 20, 10}).size_beyond(version({50, 20})), DataSize::bytes(110));
  EXPECT_EQ(version({50, 20}).size_beyond(version({50, 20})), std::nullopt);
  EXPECT_EQ(version({50, 20}).size_beyond(version({51})), std::nullopt);
}

}  // namespace
}  // namespace sluice
