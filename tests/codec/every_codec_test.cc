// What every registered codec must hold to, at every level, on every odd cache. A new codec is
// picked up by itself.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "tests/codec/every_level.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;

class EveryCodec : public testing::TestWithParam<CodecLevel> {
 protected:
  [[nodiscard]] static bool is_lossless() { return GetParam().codec->info.lossless; }
  [[nodiscard]] static Bytes encoded(const KvView& cache) {
    auto file = encode_container(cache, GetParam(), {.layers_per_section = 2});
    EXPECT_TRUE(file.ok()) << file.error().to_line();
    return file.ok() ? *file : Bytes{};
  }
  [[nodiscard]] static KvCache decoded(const Bytes& file) {
    auto cache = decode_container(file, "made.kvb");
    EXPECT_TRUE(cache.ok()) << cache.error().to_line();
    return cache.ok() ? *cache : KvCache::allocate({});
  }
  // check(view) for every odd cache; a failure names the cache.
  template <typename Check>
  static void for_each_cache(Check check) {
    for (const NamedCache& made : odd_caches()) {
      SCOPED_TRACE(made.name);
      check(made.cache.view());
      if (HasFatalFailure()) return;
    }
  }
  // check(file, header, entry, payload) for every section of every odd cache.
  template <typename Check>
  static void for_each_section(Check check) {
    for_each_cache([&](const KvView& view) {
      const Bytes file = encoded(view);
      const auto header = parse_header(file, "made.kvb");
      ASSERT_TRUE(header.ok());
      for (const SectionEntry& section : header->sections) {
        const auto begin = file.begin() + section.offset;
        check(file, *header, section, Bytes(begin, begin + section.size.bytes()));
      }
    });
  }
  // Decodes `payload` as if it were the section's bytes, with a checksum that fits. `file` holds
  // the sections that it refines.
  static Status decode_alone(const Bytes& file, const ContainerHeader& header, SectionEntry section,
                             const Bytes& payload) {
    Bytes longer = file;
    section.offset = static_cast<std::int64_t>(longer.size());
    section.size = DataSize::bytes(static_cast<std::int64_t>(payload.size()));
    section.crc32 = crc32_of(payload);
    longer.insert(longer.end(), payload.begin(), payload.end());
    KvCache cache = KvCache::allocate(header.shape);
    return decode_one_section(longer, header, section, cache, "made.kvb");
  }
};

TEST_P(EveryCodec, GivesBackTheShapeAndALosslessOneEveryBit) {
  for_each_cache([](const KvView& view) {
    const KvCache result = decoded(encoded(view));
    expect_same_shape(shape_of(view), shape_of(result.view()));
    if (is_lossless()) expect_same(view, result.view());
  });
}

TEST_P(EveryCodec, DoesNotSeeHowTheSourceLiesInMemory) {
  for_each_cache(
      [](const KvView& view) { EXPECT_EQ(encoded(view), encoded(token_major_copy(view).view())); });
}

TEST_P(EveryCodec, GivesTheSameBytesAndTheSameElementsTwice) {
  for_each_cache([](const KvView& view) {
    const Bytes file = encoded(view);
    EXPECT_EQ(file, encoded(view));
    expect_same(decoded(file).view(), decoded(file).view());
  });
}

TEST_P(EveryCodec, GivesTheSameBytesAndTheSameElementsOnEveryBackend) {
  for_each_cache([](const KvView& view) {
    const auto encode = [&](Backend backend) {
      auto file = encode_container(view, GetParam(), {.layers_per_section = 2, .backend = backend});
      EXPECT_TRUE(file.ok()) << file.error().to_line();
      return file.ok() ? *file : Bytes{};
    };
    const Bytes file = encode(Backend::kScalar);
    const auto oracle = decode_container(file, "made.kvb", {.backend = Backend::kScalar});
    ASSERT_TRUE(oracle.ok());
    for (const Backend backend : available_backends()) {
      SCOPED_TRACE(to_text(backend));
      EXPECT_EQ(file, encode(backend));
      const auto cache = decode_container(file, "made.kvb", {.backend = backend});
      ASSERT_TRUE(cache.ok()) << cache.error().to_line();
      expect_same(oracle->view(), cache->view());
    }
  });
}

TEST_P(EveryCodec, DecodesToFiniteNumbersUnlessLossless) {
  if (is_lossless()) return;  // NaN comes back as NaN
  for_each_cache([](const KvView& view) {
    const KvCache result = decoded(encoded(view));
    for (const auto& layer : result.view().layers) {
      for (const TensorKind kind : kTensorKinds) {
        const TensorView* tensor = layer.find(kind);
        if (tensor == nullptr || tensor->shape.elements() == 0) continue;
        std::vector<float> channels(static_cast<std::size_t>(tensor->shape.channels()));
        for (std::int64_t token = 0; token < tensor->shape.tokens; ++token) {
          tensor->read_token(token, channels);
          for (const float value : channels) ASSERT_TRUE(std::isfinite(value));
        }
      }
    }
  });
}

TEST_P(EveryCodec, DecodesEachSectionWithNothingButTheOnesThatItRefines) {
  for_each_cache([](const KvView& view) {
    const Bytes file = encoded(view);
    const auto header = parse_header(file, "made.kvb");
    ASSERT_TRUE(header.ok());
    KvCache parts = KvCache::allocate(header->shape);
    for (const SectionEntry& section : header->sections) {
      Bytes alone(file.size());  // the other sections are zeros
      for (const SectionEntry& part : header->sections) {
        if (part.first_entry != section.first_entry || part.kind != section.kind ||
            part.refinement > section.refinement)
          continue;
        std::copy_n(file.begin() + part.offset, part.size.bytes(), alone.begin() + part.offset);
      }
      ASSERT_TRUE(decode_one_section(alone, *header, section, parts, "made.kvb").ok());
    }
    expect_same(decoded(file).view(), parts.view());
  });
}

TEST_P(EveryCodec, RefusesAPayloadThatIsOneByteShorterOrLonger) {
  for_each_section([](const Bytes& file, const ContainerHeader& header, const SectionEntry& section,
                      const Bytes& payload) {
    Bytes longer = payload;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_alone(file, header, section, longer).ok());
    if (payload.empty()) {
      EXPECT_GT(section.refinement, 0);  // nothing left to refine
      return;
    }
    EXPECT_FALSE(
        decode_alone(file, header, section, Bytes(payload.begin(), payload.end() - 1)).ok());
  });
}

TEST_P(EveryCodec, SurvivesRandomBytes) {
  RandomStream random(7);
  for_each_section([&](const Bytes& file, const ContainerHeader& header,
                       const SectionEntry& section, const Bytes& payload) {
    for (int round = 0; round < 30; ++round) {
      Bytes changed = payload;
      for (std::byte& b : changed) {
        if (round % 2 == 0 || random.below(20) == 0) b = static_cast<std::byte>(random.below(256));
      }
      if (round % 3 == 2) changed.resize(random.below(2 * payload.size() + 2));
      const Status status =
          decode_alone(file, header, section, changed);  // an error, or other elements
      if (!status) {
        EXPECT_FALSE(status.error().what.empty());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryCodec, testing::ValuesIn(every_level()), level_name);

}  // namespace
}  // namespace sluice
