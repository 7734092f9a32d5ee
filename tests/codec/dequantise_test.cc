// Symbols to elements: every way of writing them gives the same bytes.
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "codec/dequantise/element_sink.h"
#include "codec/kv_cache.h"

namespace sluice {
namespace {

// Two heads of 5 tokens with 320 dims, in whole cache lines.
TensorShape shape_of(Dtype dtype) {
  return {.dtype = dtype, .heads = 2, .tokens = 5, .dim = 320};
}

std::vector<std::byte> decoded(const entropy::EncodedPlane& plane, Dtype dtype, Backend backend,
                               bool is_streamed) {
  KvShape shape;
  shape.layers.push_back({.key = shape_of(dtype), .value = shape_of(dtype), .latent = {}});
  KvCache cache = KvCache::allocate(shape);
  const MutableTensorView key = cache.mutable_tensor(0, TensorKind::kKey);
  dequantise::ElementSink sink(key, backend, is_streamed);
  for (std::int64_t token = 0; token < key.shape.tokens; ++token) sink.add_row(token, 0.25F);
  const auto size = entropy::decode_plane(plane.bytes, key.shape.tokens, key.shape.channels(),
                                          {.backend = backend}, sink);
  EXPECT_TRUE(size.ok());
  return {key.data, key.data + key.shape.size().bytes()};
}

// A stranger's stream chooses how wide tiles are, so blocks may begin anywhere in a cache line.
TEST(Dequantise, TilesOfAnyWidthAreWrittenAroundTheCachesAsThroughThem) {
  RandomStream random(1, "dequantise", 0);
  const TensorShape shape = shape_of(Dtype::kFp16);
  std::vector<std::int16_t> symbols(static_cast<std::size_t>(shape.elements()));
  for (std::int16_t& symbol : symbols) symbol = static_cast<std::int16_t>(random.normal(0, 3));
  for (std::int64_t tile_columns = 129; tile_columns <= 256; ++tile_columns) {
    const auto plane = entropy::encode_plane({shape.tokens, shape.channels(), symbols},
                                             {.column_unit = tile_columns});
    for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
      const auto expected = decoded(plane, dtype, Backend::kScalar, false);
      for (const Backend backend : available_backends()) {
        EXPECT_EQ(decoded(plane, dtype, backend, true), expected)
            << tile_columns << " columns, " << to_text(dtype) << ", " << to_text(backend);
      }
    }
  }
}

}  // namespace
}  // namespace sluice
