// What both sides of a plane may know beforehand: shifts of the scale per row, tables of a model
// profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/class_family.h"

namespace sluice::entropy {
namespace {

using Symbols = std::vector<std::int16_t>;

// Rows whose sigma is 2^(shift / 4) times the column's.
Symbols shifted_symbols(std::int64_t columns, const std::vector<std::int8_t>& shifts,
                        double sigma) {
  RandomStream random(11, "shifts", 0);
  Symbols symbols;
  for (const std::int8_t shift : shifts) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const double row_sigma = sigma * std::exp2(shift / 4.0);
      symbols.push_back(static_cast<std::int16_t>(std::lround(random.normal(0, row_sigma))));
    }
  }
  return symbols;
}

std::vector<std::int8_t> mixed_shifts(std::int64_t rows) {
  RandomStream random(12, "shifts", 0);
  std::vector<std::int8_t> shifts;
  for (std::int64_t row = 0; row < rows; ++row) {
    shifts.push_back(static_cast<std::int8_t>(4 * static_cast<int>(random.below(4)) - 8));
  }
  return shifts;
}

void expect_round_trip(const Symbols& symbols, std::int64_t rows, std::int64_t columns,
                       PlaneOptions options) {
  options.backend = Backend::kScalar;
  const auto bytes = encode_plane({rows, columns, symbols}, options).bytes;
  for (const Backend backend : available_backends()) {
    options.backend = backend;
    EXPECT_EQ(encode_plane({rows, columns, symbols}, options).bytes, bytes);
    Symbols decoded(symbols.size(), 99);
    const auto taken = decode_plane(bytes, rows, columns, options, decoded);
    ASSERT_TRUE(taken.ok()) << taken.error().to_line();
    EXPECT_EQ(*taken, bytes.size());
    EXPECT_EQ(decoded, symbols);
  }
}

TEST(EntropyRowShifts, EveryShapeComesBack) {
  for (const std::int64_t rows : {1, 2, 3, 31, 256, 300}) {
    const auto shifts = mixed_shifts(rows);
    for (const std::int64_t columns : {1, 31, 32, 33, 192, 257}) {
      expect_round_trip(shifted_symbols(columns, shifts, 1.0), rows, columns,
                        {.row_shifts = shifts});
    }
  }
}

TEST(EntropyRowShifts, KnowingTheShiftIsWorthWhatMixingScalesCosts) {
  // Sigmas 0.5 to 4 in equal parts. Coded with each row's own scale, a symbol costs the mean of
  // their entropies; coded alike, that of the mixture, which is at least a tenth of a bit more.
  const auto shifts = mixed_shifts(1024);
  const Symbols symbols = shifted_symbols(192, shifts, 2.0);
  const auto known = encode_plane({1024, 192, symbols}, {.row_shifts = shifts}).stats;
  const auto unknown = encode_plane({1024, 192, symbols}, {}).stats;
  EXPECT_LT(static_cast<double>(known.coded_bytes),
            0.96 * static_cast<double>(unknown.coded_bytes));
}

TEST(EntropyRowShifts, ShiftsBeyondTheGridStayOnIt) {
  const std::vector<std::int8_t> shifts = {-128, 127, -128, 127, 0, 1, -1};
  expect_round_trip(shifted_symbols(40, {0, 0, 0, 0, 0, 0, 0}, 3.0), 7, 40, {.row_shifts = shifts});
}

TEST(EntropyRowShifts, ADecoderWithOtherShiftsNoticesOrGetsOtherSymbols) {
  const auto shifts = mixed_shifts(64);
  const Symbols symbols = shifted_symbols(40, shifts, 2.0);
  const auto bytes = encode_plane({64, 40, symbols}, {.row_shifts = shifts}).bytes;
  Symbols decoded(symbols.size());
  const auto taken = decode_plane(bytes, 64, 40, {}, decoded);
  EXPECT_TRUE(!taken.ok() || decoded != symbols);
}

// Two tables, one of them too wide for pairs.
ProfileTables two_tables(std::size_t columns) {
  ProfileTables profile;
  const ClassFamily& family = class_family();
  const int narrow = profile.tables.add_with_pairs(family.tables.frequencies(family.table(14, 0)));
  const int wide = profile.tables.add_with_pairs(family.tables.frequencies(family.table(26, 0)));
  for (std::size_t column = 0; column < columns; ++column) {
    profile.table_of_column.push_back(column % 64 < 40 ? narrow : wide);
    profile.centres.push_back(static_cast<std::int16_t>(column % 5));
  }
  return profile;
}

TEST(EntropyProfileTables, EveryShapeAndOutlierComesBack) {
  for (const std::int64_t rows : {1, 2, 77, 300}) {
    for (const std::int64_t columns : {1, 33, 64, 300}) {
      const ProfileTables profile = two_tables(static_cast<std::size_t>(columns));
      Symbols symbols =
          shifted_symbols(columns, std::vector<std::int8_t>(static_cast<std::size_t>(rows)), 1.5);
      symbols[symbols.size() / 2] = 32'767;
      expect_round_trip(symbols, rows, columns,
                        {.model = PlaneModel::kProfile, .profile = &profile});
    }
  }
}

TEST(EntropyProfileTables, AColumnCostsNothingButItsSymbols) {
  const ProfileTables profile = two_tables(32);
  const Symbols symbols = shifted_symbols(32, std::vector<std::int8_t>(512), 1.36);
  const auto stats =
      encode_plane({512, 32, symbols}, {.model = PlaneModel::kProfile, .profile = &profile}).stats;
  // Header and one tile length, an exception count, 32 states, and what exceptions there are.
  EXPECT_GE(stats.side_bytes(), 12 + 4 + 32 * 4);
  EXPECT_EQ((stats.side_bytes() - (12 + 4 + 32 * 4)) % 4, 0);
}

TEST(EntropyProfileTables, WithoutTheProfileThePlaneIsRefused) {
  const ProfileTables profile = two_tables(32);
  const Symbols symbols(320);
  const auto bytes =
      encode_plane({10, 32, symbols}, {.model = PlaneModel::kProfile, .profile = &profile}).bytes;
  Symbols decoded(symbols.size());
  const auto taken = decode_plane(bytes, 10, 32, {}, decoded);
  ASSERT_FALSE(taken.ok());
  EXPECT_THAT(taken.error().what, ::testing::HasSubstr("model profile"));
}

}  // namespace
}  // namespace sluice::entropy
