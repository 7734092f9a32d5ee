// Model profiles: what the reader accepts, names and refuses; and the shipped ones.
#include "codec/model_profile/model_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "codec/capture_format.h"
#include "codec/safetensors/safetensors.h"
#include "tests/codec/made_model_profile.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

Result<std::shared_ptr<const ModelProfile>> read_made(const MadeModelProfile& made) {
  const auto file = temporary_folder() / "made.safetensors";
  EXPECT_TRUE(made.write(file).ok());
  return read_model_profile(file);
}

std::string error_of(const MadeModelProfile& made) {
  const auto profile = read_made(made);
  return profile.ok() ? "no error" : profile.error().to_line();
}

// basis * inverse - I, its largest element, of one block.
double distance_from_inverse(std::span<const std::int8_t> basis, std::span<const float> inverse,
                             std::size_t width) {
  double largest = 0;
  for (std::size_t row = 0; row < width; ++row) {
    std::vector<double> product(width, 0.0);
    for (std::size_t inner = 0; inner < width; ++inner) {
      const double factor = basis[row * width + inner];
      for (std::size_t column = 0; column < width; ++column)
        product[column] += factor * static_cast<double>(inverse[inner * width + column]);
    }
    product[row] -= 1;
    for (const double element : product) largest = std::max(largest, std::abs(element));
  }
  return largest;
}

TEST(ModelProfile, AJointBasisIsReadWithItsInverse) {
  const auto profile = read_made(made_model_profile(BasisBlock::kLayer));
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ((*profile)->name, "made");
  EXPECT_EQ((*profile)->model, "a model");
  EXPECT_EQ((*profile)->block, BasisBlock::kLayer);
  ASSERT_EQ((*profile)->layers.size(), 2U);
  EXPECT_EQ((*profile)->find(3), nullptr);
  const LayerProfile* layer = (*profile)->find(7);
  ASSERT_NE(layer, nullptr);
  // 2 key heads of 2 dims, 1 value head of 3: 7 channels, one block of 49 numbers.
  EXPECT_EQ(layer->channels(), 7);
  EXPECT_EQ(layer->key_channels(), 4);
  EXPECT_EQ(layer->widths, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(layer->means[1], 1.5F);
  EXPECT_EQ(layer->scales[1], 3.0F);
  EXPECT_LT(distance_from_inverse(layer->basis, (*profile)->inverse(1), 7), 1e-5);
}

TEST(ModelProfile, BlocksOfHeadsStandOneAfterAnotherWithTheirInverses) {
  const auto profile = read_made(made_model_profile(BasisBlock::kHead));
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  const LayerProfile& layer = (*profile)->layers[0];
  EXPECT_EQ(layer.widths, (std::vector<std::int64_t>{2, 2, 3}));
  const std::span<const float> inverses = (*profile)->inverse(0);
  ASSERT_EQ(inverses.size(), 4U + 4U + 9U);
  const std::span<const std::int8_t> basis(layer.basis);
  EXPECT_LT(distance_from_inverse(basis.subspan(4, 4), inverses.subspan(4, 4), 2), 1e-5);
  EXPECT_LT(distance_from_inverse(basis.subspan(8, 9), inverses.subspan(8, 9), 3), 1e-5);
}

TEST(ModelProfile, ADiagonalHasNeitherBasisNorInverse) {
  const auto profile = read_made(made_model_profile(BasisBlock::kDiagonal));
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_TRUE((*profile)->layers[0].basis.empty());
  EXPECT_TRUE((*profile)->inverse(0).empty());
}

TEST(ModelProfile, ABasisThatCannotBeInvertedIsReadAndCrashesNothing) {
  MadeModelProfile made = made_model_profile(BasisBlock::kLayer);
  made.tensor("layer.7.basis").bytes.assign(49, '\0');
  const auto profile = read_made(made);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ((*profile)->inverse(1).size(), 49U);
  EXPECT_FALSE(std::isfinite((*profile)->inverse(1)[0]));
}

TEST(ModelProfile, FactsThatAreNotThoseOfAProfileAreNamed) {
  MadeModelProfile made = made_model_profile(BasisBlock::kHead);
  made.metadata["format"] = "sluice-kv-1";
  EXPECT_THAT(error_of(made), HasSubstr("`format` is not `sluice-model-profile-1`"));
  made = made_model_profile(BasisBlock::kHead);
  made.metadata["block"] = "row";
  EXPECT_THAT(error_of(made), HasSubstr("`block` is none of diag, head, layerkv"));
  made = made_model_profile(BasisBlock::kHead);
  made.tensors.clear();
  EXPECT_THAT(error_of(made), HasSubstr("has no `layer.N.shape`"));
}

TEST(ModelProfile, EveryTensorThatIsMissingOrOfAnotherShapeIsNamed) {
  for (const char* part : {"means", "scales", "basis"}) {
    const std::string name = std::string("layer.7.") + part;
    MadeModelProfile made = made_model_profile(BasisBlock::kHead);
    made.tensor(name).name = "layer.7.other";
    EXPECT_THAT(error_of(made), HasSubstr("has no `" + name + "`"));
    made = made_model_profile(BasisBlock::kHead);
    made.tensor(name).shape.push_back(1);
    EXPECT_THAT(error_of(made), HasSubstr("tensor `" + name + "` is not "));
  }
  MadeModelProfile made = made_model_profile(BasisBlock::kHead);
  made.tensor("layer.7.shape").dtype = "F32";
  EXPECT_THAT(error_of(made), HasSubstr("`layer.7.shape` is not 4 numbers of I32"));
  made = made_model_profile(BasisBlock::kHead);
  made.metadata["block"] = "diag";
  EXPECT_THAT(error_of(made), HasSubstr("`layer.0.basis` stands in a profile of block `diag`"));
}

TEST(ModelProfile, AFileOfManyTensorsIsReadInTimeThatGrowsWithIt) {
  // 60 000 tensors: found by comparing all names they would cost 1.8e9 comparisons.
  MadeModelProfile made = made_model_profile(BasisBlock::kDiagonal);
  const MadeModelProfile one = made;
  made.tensors.clear();
  for (int layer = 0; layer < 20'000; ++layer)
    for (const char* part : {"shape", "means", "scales"}) {
      made.tensors.push_back(MadeModelProfile(one).tensor(std::string("layer.7.") + part));
      made.tensors.back().name = "layer." + std::to_string(layer) + "." + part;
    }
  const auto profile = read_made(made);
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ((*profile)->layers.size(), 20'000U);
}

TEST(ModelProfile, LayersAreCountedInOneWayOnly) {
  for (const char* name : {"layer.07.shape", "layer.-1.shape", "layer..shape", "layer.65536.shape",
                           "layer.99999999999999999999.shape", "layer.7x.shape"}) {
    MadeModelProfile made = made_model_profile(BasisBlock::kHead);
    made.tensor("layer.7.shape").name = name;
    EXPECT_THAT(error_of(made), HasSubstr("names no layer")) << name;
  }
}

TEST(ModelProfile, CountsOutOfRangeAreRefusedBeforeAnythingIsAllocated) {
  using Counts = std::vector<std::int32_t>;
  for (const Counts& counts : {Counts{0, 2, 1, 3}, Counts{2, -2, 1, 3}, Counts{65537, 2, 1, 3}}) {
    MadeModelProfile made = made_model_profile(BasisBlock::kHead);
    made.tensor("layer.7.shape").set(counts);
    EXPECT_THAT(error_of(made), HasSubstr("`layer.7.shape` has a count out of range"));
  }
  MadeModelProfile made = made_model_profile(BasisBlock::kHead);
  made.tensor("layer.7.shape").set(Counts{65536, 65536, 65536, 65536});
  EXPECT_THAT(error_of(made), HasSubstr("`layer.7.shape` has too many channels"));
}

TEST(ModelProfile, NumbersThatWouldPoisonArithmeticAreRefused) {
  for (const float number :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 2e6F}) {
    MadeModelProfile made = made_model_profile(BasisBlock::kHead);
    made.tensor("layer.7.means").set(std::vector<float>(7, number));
    EXPECT_THAT(error_of(made), HasSubstr("`layer.7.means` holds a number that is not finite"));
  }
  for (const float scale : {0.0F, -1.0F, 1e-13F}) {
    MadeModelProfile made = made_model_profile(BasisBlock::kHead);
    made.tensor("layer.7.scales").set(std::vector<float>(7, scale));
    EXPECT_THAT(error_of(made), HasSubstr("`layer.7.scales` holds a scale below 1e-12"));
  }
}

TEST(ModelProfile, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto profile = find_model_profile("smollm2-135m-daig");
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error().to_line(), HasSubstr("smollm2-135m-diag"));
}

// The three blocks of SmolLM2: 30 layers, 3 heads of 64 for keys and for values.
TEST(ShippedModelProfiles, AreThoseOfTheCommittedSamplesModelAndFoundByTheirHashes) {
  const auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok()) << sample.error().to_line();
  for (const char* block : {"diag", "head", "layerkv"}) {
    const auto profile = find_model_profile(std::string("smollm2-135m-") + block);
    ASSERT_TRUE(profile.ok()) << profile.error().to_line();
    EXPECT_EQ(to_text((*profile)->block), block);
    EXPECT_EQ((*profile)->model, sample->cache.view().facts.model);
    EXPECT_EQ((*profile)->revision, sample->cache.view().facts.revision);
    ASSERT_EQ((*profile)->layers.size(), 30U);
    EXPECT_EQ((*profile)->layers[29].layer, 29);
    EXPECT_EQ((*profile)->layers[29].channels(), 384);
    const auto found = shipped_model_profile((*profile)->sha256);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name, (*profile)->name);
  }
}

TEST(ShippedModelProfiles, HaveBasesThatInvertInFp32ToOneThousandth) {
  for (const std::string& name : model_profile_names()) {
    const auto profile = find_model_profile(name);
    ASSERT_TRUE(profile.ok()) << profile.error().to_line();
    for (std::size_t i = 0; i < (*profile)->layers.size(); ++i) {
      const LayerProfile& layer = (*profile)->layers[i];
      const std::span<const std::int8_t> basis(layer.basis);
      const std::span<const float> inverse = (*profile)->inverse(i);
      ASSERT_EQ(inverse.size(), basis.size());
      std::size_t begin = 0;
      for (const std::int64_t width : layer.widths) {
        if (basis.empty()) break;
        const auto side = static_cast<std::size_t>(width);
        EXPECT_LT(distance_from_inverse(basis.subspan(begin, side * side),
                                        inverse.subspan(begin, side * side), side),
                  1e-3)
            << name << ", layer " << layer.layer;
        begin += side * side;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
