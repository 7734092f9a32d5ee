// Tiles of the peaked family and of digits on a warp give what the CPU gives, good or damaged.
#include "tests/device/entropy_tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "codec/device/gpu.h"
#include "codec/entropy/binding.h"
#include "tests/device/kernel_order.h"

namespace sluice {
namespace {

using Symbols = std::vector<std::int16_t>;

// A base and its digits in one payload.
struct Layers {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int8_t> shifts;
  Symbols fine;
  std::vector<std::byte> payload;
};

Layers made_layers(std::int64_t rows, std::int64_t columns, double sigma, bool has_shifts) {
  RandomStream random(41, "tiles", static_cast<std::uint64_t>(rows * 1000 + columns));
  Layers layers{.rows = rows, .columns = columns, .shifts = {}, .fine = {}, .payload = {}};
  Symbols coarse;
  std::vector<std::int8_t> digits;
  for (std::int64_t row = 0; row < rows; ++row) {
    const int shift = has_shifts ? static_cast<int>(random.below(9)) - 4 : 0;
    if (has_shifts) layers.shifts.push_back(static_cast<std::int8_t>(shift));
    for (std::int64_t column = 0; column < columns; ++column) {
      const double width = sigma * std::exp2((static_cast<double>(column % 7) + shift) / 4);
      // One in a hundred is an outlier, beyond its table's escape.
      const double wide = random.below(100) == 0 ? 40 * width + 20 : width;
      const auto fine = static_cast<std::int32_t>(std::lround(random.normal(0, wide)));
      const auto step = static_cast<std::int32_t>(std::lround(fine / 3.0));
      layers.fine.push_back(static_cast<std::int16_t>(fine));
      coarse.push_back(static_cast<std::int16_t>(step));
      digits.push_back(static_cast<std::int8_t>(fine - 3 * step));
    }
  }
  const entropy::PlaneOptions options{.model = entropy::PlaneModel::kPeaked,
                                      .row_shifts = layers.shifts};
  const entropy::SymbolMatrix matrix{rows, columns, coarse};
  layers.payload = entropy::encode_plane(matrix, options).bytes;
  const auto refinement = entropy::encode_digits(matrix, digits, options).bytes;
  layers.payload.insert(layers.payload.end(), refinement.begin(), refinement.end());
  return layers;
}

Result<Symbols> decode_on_cpu(std::span<const std::byte> payload, const Layers& layers) {
  Symbols symbols(layers.fine.size());
  const entropy::PlaneOptions options{.row_shifts = layers.shifts};
  const auto base = entropy::decode_plane(payload, layers.rows, layers.columns, options, symbols);
  if (!base) return base.error();
  const auto digits =
      entropy::decode_digits(payload.subspan(*base), layers.rows, layers.columns, options, symbols);
  if (!digits) return digits.error();
  return symbols;
}

Result<Symbols> decode_on_device(std::span<const std::byte> payload, const Layers& layers) {
  return decode_tiles_on_device(payload, true, layers.rows, layers.columns, layers.shifts);
}

class EntropyTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto gpu = find_gpu(); !gpu) GTEST_SKIP() << gpu.error().to_line();
  }
  void TearDown() override { use_kernel_order(0); }
};

TEST_F(EntropyTiles, EveryShapeGivesTheSymbolsThatWereEncoded) {
  for (const bool has_shifts : {false, true}) {
    for (const std::int64_t rows : {1, 2, 33, 70}) {
      for (const std::int64_t columns : {1, 31, 32, 33, 100}) {
        const Layers layers = made_layers(rows, columns, 1.0, has_shifts);
        const auto symbols = decode_on_device(layers.payload, layers);
        ASSERT_TRUE(symbols.ok()) << symbols.error().to_line();
        ASSERT_EQ(*symbols, layers.fine) << rows << " x " << columns;
      }
    }
  }
}

TEST_F(EntropyTiles, EveryOrderOfThreadsGivesThem) {
  const Layers layers = made_layers(50, 70, 0.7, true);
  for (int order = 0; order < num_kernel_orders(); ++order) {
    use_kernel_order(order);
    const auto symbols = decode_on_device(layers.payload, layers);
    ASSERT_TRUE(symbols.ok()) << symbols.error().to_line();
    ASSERT_EQ(*symbols, layers.fine) << order;
  }
}

TEST_F(EntropyTiles, PairedAndEmptyTilesGiveThem) {
  // Wide enough for pairs to pay; nothing but zeros.
  for (const double sigma : {6.0, 0.0}) {
    Layers layers = made_layers(64, 40, sigma, false);
    if (sigma == 0) {
      layers.fine.assign(layers.fine.size(), 0);
      const entropy::SymbolMatrix zeros{64, 40, layers.fine};
      layers.payload = entropy::encode_plane(zeros, {.model = entropy::PlaneModel::kPeaked}).bytes;
      const auto digits =
          entropy::encode_digits(zeros, std::vector<std::int8_t>(layers.fine.size()), {}).bytes;
      layers.payload.insert(layers.payload.end(), digits.begin(), digits.end());
    }
    const auto symbols = decode_on_device(layers.payload, layers);
    ASSERT_TRUE(symbols.ok()) << symbols.error().to_line();
    EXPECT_EQ(*symbols, layers.fine);
  }
}

TEST_F(EntropyTiles, DamageIsJudgedAsTheCpuDoes) {
  const Layers layers = made_layers(24, 34, 1.0, true);
  RandomStream random(42, "tiles", 0);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> payload = layers.payload;
    if (round % 5 == 0) payload.resize(random.below(payload.size()));
    for (std::uint64_t flips = random.below(3); flips > 0 && !payload.empty(); --flips) {
      payload[random.below(payload.size())] ^= std::byte{1} << random.below(8);
    }
    if (!payload.empty() && payload[0] != std::byte{4}) continue;  // another model
    const auto expected = decode_on_cpu(payload, layers);
    const auto symbols = decode_on_device(payload, layers);
    ASSERT_EQ(symbols.ok(), expected.ok()) << round;
    if (expected.ok()) {
      ASSERT_EQ(*symbols, *expected) << round;
    } else {
      ASSERT_EQ(symbols.error().what, expected.error().what) << round;
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace sluice
