// Files committed in tests/data/golden pin the format: today's encoder writes them, byte for byte,
// and today's decoder reads them, element for element.
// A codec whose bits change gets a new version and new files: SLUICE_WRITE_GOLDEN=1
// build/bin/codec_test --gtest_filter='GoldenFiles*' writes them all again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/random.h"
#include "base/sha256.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

const std::filesystem::path kFolder = SLUICE_SOURCE_DIR "/tests/data/golden";
constexpr const char* kHowToWrite =
    "SLUICE_WRITE_GOLDEN=1 build/bin/codec_test --gtest_filter='GoldenFiles*'";

constexpr std::size_t kPositionStep = 3;  // of bytes flipped where each costs a decoding
constexpr std::int64_t kBitPackedElementsPerByteMax = 8;  // more: entropy-coded

struct Golden {
  std::string name;  // file name without .kvb
  CodecLevel codec_level;
  bool is_sealed = false;
  bool is_wide = false;     // several tiles of an entropy-coded codec
  bool is_reduced = false;  // tokens in between are missing
};

std::vector<Golden> goldens() {
  std::vector<Golden> list;
  for (const Codec& codec : all_codecs()) {
    const auto name_of = [&](std::size_t level) {
      return codec.info.id + "-" + codec.info.levels[level].name;
    };
    for (std::size_t level = 0; level < codec.info.levels.size(); ++level)
      list.push_back({name_of(level), {&codec, level}});
    const std::size_t level = codec.info.default_level;
    if (codec.info.max_elements_per_byte > kBitPackedElementsPerByteMax)
      list.push_back(
          {.name = name_of(level) + "-wide", .codec_level = {&codec, level}, .is_wide = true});
  }
  list.push_back({.name = "int8-token-sealed",
                  .codec_level = *find_codec_level("int8@token"),
                  .is_sealed = true});
  list.push_back({.name = "int8-token-reduced",
                  .codec_level = *find_codec_level("int8@token"),
                  .is_reduced = true});
  return list;
}

const SealKey& golden_key() {
  static const SealKey kKey(counting_bytes(0));
  return kKey;
}

// Sums of small integers, divided by a power of two: exact on every host.
void fill(const MutableTensorView& tensor, RandomStream& random) {
  std::vector<float> channels(static_cast<std::size_t>(tensor.shape.channels()));
  for (std::int64_t token = 0; token < tensor.shape.tokens; ++token) {
    for (float& channel : channels) {
      std::uint64_t sum = 0;
      for (int i = 0; i < 4; ++i) sum += random.below(256);
      channel = (static_cast<float>(sum) - 510.0F) / 128.0F;
    }
    tensor.write_token(token, channels);
  }
}

// Three layers of every form and dtype, with RoPE facts and names.
KvShape small_shape() {
  KvShape shape{.facts = {.model = "golden", .revision = "1", .keys = KeyForm::kPostRope},
                .layers = {}};
  shape.layers.push_back(layer_of(0, {.dtype = Dtype::kFp16, .heads = 2, .tokens = 5, .dim = 7}));
  shape.layers.push_back(layer_of(3, {.dtype = Dtype::kBf16, .heads = 1, .tokens = 3, .dim = 33}));
  shape.layers[1].first_token = 2;
  shape.layers[0].rope = std::make_shared<const RopeFacts>(
      RopeFacts{.theta = 1e4, .rotated_dims = 6, .pairing = RopePairing::kHalf});
  KvLayer<TensorShape> latent;
  latent.layer = 4;
  latent.latent = {.dtype = Dtype::kFp32, .heads = 1, .tokens = 5, .dim = 12};
  shape.layers.push_back(latent);
  return shape;
}

// The small shape where every form of kept tokens stands in the header.
KvShape reduced_shape() {
  KvShape shape = small_shape();
  KvLayer<TensorShape> again = shape.layers[0];
  const Positions kept{1, 2, 9, 17, 40};
  for (auto* layer : {&shape.layers[0], &again}) {
    layer->first_token = kept.front();
    layer->positions = if_gapped(kept);
  }
  again.layer = 2;
  shape.layers[2].first_token = 7;
  shape.layers[2].positions = if_gapped({7, 8, 1000, 2000, 9000});
  shape.layers.insert(shape.layers.begin() + 1, again);
  return shape;
}

KvShape wide_shape() {
  return {.facts = {},
          .layers = {layer_of(0, {.dtype = Dtype::kBf16, .heads = 13, .tokens = 23, .dim = 16})}};
}

KvCache golden_cache(const Golden& golden) {
  const KvShape shape = golden.is_wide      ? wide_shape()
                        : golden.is_reduced ? reduced_shape()
                                            : small_shape();
  KvCache cache = KvCache::allocate(shape);
  RandomStream random(1);
  for (std::size_t layer = 0; layer < shape.layers.size(); ++layer) {
    for (const TensorKind kind : kTensorKinds) {
      if (shape.layers[layer].find(kind) != nullptr)
        fill(cache.mutable_tensor(layer, kind), random);
    }
  }
  return cache;
}

Bytes encode_golden(const Golden& golden, Backend backend) {
  EncodeOptions options{.layers_per_section = 2, .backend = backend};
  if (golden.is_sealed) {
    options.seal_key = &golden_key();
    options.seal_salt = counting_bytes(32);
  }
  auto file = encode_container(golden_cache(golden).view(), golden.codec_level, options);
  EXPECT_TRUE(file.ok()) << file.error().to_line();
  return file.ok() ? *file : Bytes{};
}

Result<KvCache> decode_golden(const Golden& golden, std::span<const std::byte> file,
                              Backend backend = best_backend()) {
  return decode_container(
      file, golden.name,
      {.backend = backend, .seal_key = golden.is_sealed ? &golden_key() : nullptr});
}

std::string digest_of(const KvCache& cache) {
  Sha256 hash;
  for (const auto& layer : cache.view().layers) {
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorView* tensor = layer.find(kind))
        hash.update(
            std::span(tensor->data, static_cast<std::size_t>(tensor->shape.size().bytes())));
    }
  }
  return hash.hex();
}

std::filesystem::path path_of(const Golden& golden) {
  return kFolder / (golden.name + ".kvb");
}

Bytes committed(const Golden& golden) {
  const auto text = read_file(path_of(golden));
  if (!text) return {};
  const auto bytes = std::as_bytes(std::span(*text));
  return {bytes.begin(), bytes.end()};
}

// name -> SHA-256 of the decoded elements, in the order of the file.
std::map<std::string, std::string> committed_digests() {
  std::map<std::string, std::string> digests;
  std::ifstream file(kFolder / "decoded.sha256");
  for (std::string digest, name; file >> digest >> name;) digests[name] = digest;
  return digests;
}

void write_goldens() {
  std::filesystem::create_directories(kFolder);
  std::string digests;
  for (const Golden& golden : goldens()) {
    const Bytes file = encode_golden(golden, Backend::kScalar);
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    ASSERT_TRUE(write_file_atomically(path_of(golden), text).ok());
    const auto cache = decode_golden(golden, file, Backend::kScalar);
    ASSERT_TRUE(cache.ok()) << cache.error().to_line();
    digests += digest_of(*cache) + "  " + golden.name + "\n";
  }
  ASSERT_TRUE(write_file_atomically(kFolder / "decoded.sha256", digests).ok());
  FAIL() << "the golden files were written: look at `git diff`, and run again without the variable";
}

TEST(GoldenFiles, AreThoseOfTheListAndNoOthers) {
  if (std::getenv("SLUICE_WRITE_GOLDEN") != nullptr) return write_goldens();
  std::set<std::string> expected, found;
  for (const Golden& golden : goldens()) expected.insert(golden.name);
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".kvb") found.insert(entry.path().stem());
  }
  EXPECT_EQ(found, expected) << kHowToWrite;
}

class GoldenFile : public testing::TestWithParam<Golden> {
 protected:
  void SetUp() override {
    file_ = committed(GetParam());
    ASSERT_FALSE(file_.empty()) << path_of(GetParam()) << " is missing: " << kHowToWrite;
  }
  Bytes file_;
};

TEST_P(GoldenFile, IsWhatEveryBackendEncodes) {
  for (const Backend backend : available_backends())
    EXPECT_EQ(encode_golden(GetParam(), backend), file_) << to_text(backend);
}

TEST_P(GoldenFile, DecodesToTheSameElementsOnEveryBackend) {
  const auto digests = committed_digests();
  ASSERT_TRUE(digests.contains(GetParam().name)) << kHowToWrite;
  for (const Backend backend : available_backends()) {
    const auto cache = decode_golden(GetParam(), file_, backend);
    ASSERT_TRUE(cache.ok()) << cache.error().to_line();
    EXPECT_EQ(digest_of(*cache), digests.at(GetParam().name)) << to_text(backend);
    if (GetParam().codec_level.codec->info.lossless)
      expect_same(golden_cache(GetParam()).view(), cache->view());
  }
}

TEST_P(GoldenFile, EverySingleBitFlipIsFoundByAChecksum) {
  for (std::size_t bit = 0; bit < 8 * file_.size(); ++bit) {
    Bytes flipped = file_;
    flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const auto header = parse_header(flipped, GetParam().name);  // decoding does both, and is slow
    ASSERT_FALSE(header.ok() && check_checksums(flipped, *header, GetParam().name).ok())
        << "bit " << bit;
  }
}

TEST_P(GoldenFile, EveryTruncationAndEveryFurtherByteIsFound) {
  for (std::size_t size = 0; size < file_.size(); ++size)
    ASSERT_FALSE(decode_golden(GetParam(), std::span(file_).first(size)).ok()) << size;
  for (int value = 0; value < 256; ++value) {
    Bytes longer = file_;
    longer.push_back(static_cast<std::byte>(value));
    ASSERT_FALSE(decode_golden(GetParam(), longer).ok()) << value;
  }
}

TEST_P(GoldenFile, WithRightChecksumsAFlipDamagesItsSectionAlone) {
  const auto header = parse_header(file_, GetParam().name);
  ASSERT_TRUE(header.ok());
  const auto whole = decode_golden(GetParam(), file_);
  ASSERT_TRUE(whole.ok());
  for (std::size_t at = static_cast<std::size_t>(header->header_size.bytes()); at < file_.size();
       at += kPositionStep) {
    Bytes flipped = file_;
    flipped[at] ^= std::byte{0x10};
    const auto cache = decode_golden(GetParam(), with_right_checksums(flipped));
    ASSERT_FALSE(cache.ok() && GetParam().is_sealed) << "byte " << at;
    if (!cache) continue;
    const auto position = static_cast<std::int64_t>(at);
    const auto hit = std::find_if(
        header->sections.begin(), header->sections.end(), [&](const SectionEntry& section) {
          return position >= section.offset && position < section.offset + section.size.bytes();
        });
    for (const SectionEntry& section : header->sections) {
      if (section.first_entry == hit->first_entry && section.kind == hit->kind) continue;
      for (std::size_t i = section.first_entry; i < section.first_entry + section.num_entries;
           ++i) {
        for (const TensorKind kind : tensor_kinds(section.kind)) {
          const TensorView* was = whole->view().layers[i].find(kind);
          const TensorView* is = cache->view().layers[i].find(kind);
          if (was == nullptr) continue;
          ASSERT_EQ(
              std::memcmp(was->data, is->data, static_cast<std::size_t>(was->shape.size().bytes())),
              0)
              << "byte " << at;
        }
      }
    }
  }
}

std::string name_of(const testing::TestParamInfo<Golden>& info) {
  return test_name(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFile, testing::ValuesIn(goldens()), name_of);

}  // namespace
}  // namespace sluice
