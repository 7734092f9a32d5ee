// The coding loops against a decoder written from the text of codec/entropy/spec.md.
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "codec/entropy/kernel.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {
namespace {

// A one-part stream and what was coded.
struct Stream {
  LaneStates states;
  std::vector<std::byte> words;
};

struct Columns {
  std::vector<const CodingTable*> tables;
  std::vector<std::int16_t> centres;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(tables.size()); }
  [[nodiscard]] Stream encode(const std::vector<std::int16_t>& symbols) const {
    std::vector<const EncodingSymbol*> encoding;
    std::vector<std::int32_t> bases;
    for (std::size_t c = 0; c < tables.size(); ++c) {
      encoding.push_back(tables[c]->symbols());
      bases.push_back(centres[c] + tables[c]->first());
    }
    std::vector<std::byte> room(symbols.size() * kWordBytes);
    Stream stream;
    stream.states.fill(kLowerBound);
    const std::byte* const top =
        encode_part({static_cast<std::int64_t>(symbols.size()) / count(), count(), encoding.data(),
                     bases.data(), symbols.data()},
                    stream.states, room.data() + room.size());
    stream.words.assign(top, static_cast<const std::byte*>(room.data() + room.size()));
    return stream;
  }
  // Decodes, and checks that the lanes end where they began and no word is left.
  [[nodiscard]] std::vector<std::int16_t> decode(Stream stream, std::size_t num_symbols) const {
    std::vector<const Slot*> decoding;
    for (const CodingTable* table : tables) decoding.push_back(table->slots());
    std::vector<std::int16_t> symbols(num_symbols);
    const std::byte* const end = stream.words.data() + stream.words.size();
    EXPECT_EQ(decode_part({static_cast<std::int64_t>(num_symbols) / count(), count(),
                           decoding.data(), centres.data(), symbols.data()},
                          stream.states, stream.words.data(), end),
              end);
    for (const std::uint32_t state : stream.states) EXPECT_EQ(state, kLowerBound);
    return symbols;
  }
};

std::int16_t draw(const CodingTable& table, RandomStream& random) {
  const Slot slot = table.slots()[random.below(kTableSlots)];
  return static_cast<std::int16_t>(static_cast<std::int32_t>(slot) >> 22);
}

std::vector<std::int16_t> draw_matrix(const Columns& columns, std::int64_t rows,
                                      RandomStream& random) {
  std::vector<std::int16_t> symbols;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < columns.tables.size(); ++c) {
      symbols.push_back(
          static_cast<std::int16_t>(draw(*columns.tables[c], random) + columns.centres[c]));
    }
  }
  return symbols;
}

TEST(EntropyRans, ASlotOf768InATableOf1536And512IsSymbol0) {
  // The example of spec.md, section 2.
  const std::vector<std::uint16_t> frequencies = {1536, 512};
  const CodingTable table(0, frequencies);
  const Slot* const slots = table.slots();
  const std::int16_t centre = 0;
  std::int16_t symbol = -1;
  LaneStates states{};
  const std::byte words[] = {std::byte{0x34}, std::byte{0x12}};
  states[0] = 99'072;
  EXPECT_EQ(decode_part({1, 1, &slots, &centre, &symbol}, states, words, words), words);
  EXPECT_EQ(symbol, 0);
  EXPECT_EQ(states[0], 74'496U);
  states[0] = 100'096;
  EXPECT_EQ(decode_part({1, 1, &slots, &centre, &symbol}, states, words, words + 2), words + 2);
  EXPECT_EQ(symbol, 1);
  EXPECT_EQ(states[0], 24'832U * 65'536U + 0x1234U);
}

TEST(EntropyRans, EveryTableOfTheFamilyCodesItsOwnSymbols) {
  RandomStream random(1, "rans", 0);
  for (const CodingTable& table : class_family().tables) {
    const Columns columns{{&table}, {0}};
    for (const std::int64_t rows : {0, 1, 2, 31, 32, 33, 1000}) {
      const auto symbols = draw_matrix(columns, rows, random);
      EXPECT_EQ(columns.decode(columns.encode(symbols), symbols.size()), symbols);
    }
    std::vector<std::int16_t> all;
    for (std::int32_t s = table.first(); s <= table.last(); ++s) {
      if (table.has(s)) all.push_back(static_cast<std::int16_t>(s));
    }
    EXPECT_EQ(columns.decode(columns.encode(all), all.size()), all);
  }
}

TEST(EntropyRans, EveryLengthFrom0To2000ComesBack) {
  RandomStream random(2, "rans", 0);
  const auto& tables = class_family().tables;
  for (std::int64_t rows = 0; rows <= 2000; ++rows) {
    const auto& table = tables[static_cast<std::size_t>(rows) % tables.size()];
    const Columns columns{{&table}, {static_cast<std::int16_t>(rows % 7 - 3)}};
    const auto symbols = draw_matrix(columns, rows, random);
    ASSERT_EQ(columns.decode(columns.encode(symbols), symbols.size()), symbols) << rows;
  }
}

// Section 2 of the spec, word for word.
std::vector<std::int16_t> decode_as_specified(const Columns& columns, const Stream& stream,
                                              std::size_t num_symbols) {
  LaneStates x = stream.states;
  std::size_t next_word = 0;
  std::vector<std::int16_t> output;
  for (std::size_t i = 0; i < num_symbols; ++i) {
    const CodingTable& table = *columns.tables[i % columns.tables.size()];
    std::uint32_t& state = x[i % 32];
    const std::uint32_t slot = state % 2048;
    std::int32_t s = table.first();
    while (!table.has(s) || slot >= table.symbol(s).start + table.symbol(s).frequency) ++s;
    state = table.symbol(s).frequency * (state / 2048) + slot - table.symbol(s).start;
    if (state < 65536) {
      const auto low = std::to_integer<std::uint32_t>(stream.words.at(next_word));
      const auto high = std::to_integer<std::uint32_t>(stream.words.at(next_word + 1));
      state = state * 65536 + high * 256 + low;
      next_word += 2;
    }
    output.push_back(static_cast<std::int16_t>(s + columns.centres[i % columns.tables.size()]));
  }
  EXPECT_EQ(next_word, stream.words.size());
  return output;
}

TEST(EntropyRans, ADecoderWrittenFromTheSpecReadsTheSameSymbols) {
  RandomStream random(3, "rans", 0);
  const auto& tables = class_family().tables;
  for (const std::size_t num_columns : {1, 5, 31, 32, 33, 192}) {
    Columns columns;
    for (std::size_t c = 0; c < num_columns; ++c) {
      columns.tables.push_back(&tables[random.below(tables.size())]);
      columns.centres.push_back(static_cast<std::int16_t>(random.below(21)) - 10);
    }
    const auto symbols = draw_matrix(columns, 77, random);
    const Stream stream = columns.encode(symbols);
    EXPECT_EQ(decode_as_specified(columns, stream, symbols.size()), symbols);
    EXPECT_EQ(columns.decode(stream, symbols.size()), symbols);
  }
}

TEST(EntropyRans, TheReciprocalDividesExactly) {
  RandomStream random(4, "rans", 0);
  for (std::uint32_t f = 1; f <= kTableSlots; ++f) {
    const std::uint64_t limit = std::uint64_t{f} << 21;  // states before coding are below
    std::vector<std::uint64_t> samples = {0, 1, f - 1, f, limit - 1, limit - f, limit / 2};
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t multiple = random.below(limit / f) * f;
      samples.insert(samples.end(), {multiple, multiple + f - 1, random.below(limit)});
    }
    for (const std::uint64_t x : samples)
      ASSERT_EQ(x * reciprocal_of(f) >> 43, x / f) << x << " / " << f;
  }
}

TEST(EntropyRans, WithoutItsWordsAStreamEndsInNull) {
  RandomStream random(5, "rans", 0);
  const Columns columns{{&class_family().table(12, 0)}, {0}};
  const auto symbols = draw_matrix(columns, 500, random);
  Stream stream = columns.encode(symbols);
  const Slot* const slots = columns.tables[0]->slots();
  std::vector<std::int16_t> out(symbols.size());
  for (std::size_t bytes = 0; bytes < stream.words.size(); ++bytes) {
    // A copy of exactly these bytes, so that a sanitizer sees a read past them.
    const std::vector<std::byte> words(stream.words.begin(),
                                       stream.words.begin() + static_cast<std::ptrdiff_t>(bytes));
    LaneStates states = stream.states;
    EXPECT_EQ(decode_part({500, 1, &slots, columns.centres.data(), out.data()}, states,
                          words.data(), words.data() + words.size()),
              nullptr);
  }
}

TEST(EntropyTables, FrequenciesOfUsedSymbolsAreAtLeastOneAndSumTo2048) {
  const std::vector<std::int64_t> counts = {1'000'000, 1, 0, 1, 500'000};
  const auto frequencies = to_frequencies(counts);
  EXPECT_EQ(frequencies, (std::vector<std::uint16_t>{1363, 1, 0, 1, 683}));
  const std::vector<std::int64_t> flat(1024, 7);
  EXPECT_EQ(to_frequencies(flat), std::vector<std::uint16_t>(1024, 2));
}

TEST(EntropyTables, ASymbolOfHalfTheSlotsCostsOneBit) {
  EXPECT_EQ(frequency_cost(1024), kCostPerBit);
  EXPECT_EQ(frequency_cost(2048), 0);
  EXPECT_EQ(frequency_cost(1), 11 * kCostPerBit);
}

TEST(EntropyTables, TheFamilyHas308TablesAndEveryPlaceOfTheGridHasOne) {
  const ClassFamily& family = class_family();
  EXPECT_EQ(family.tables.size(), 308U);
  // Fractional means make no difference to a wide table; wide one-sided tables do not exist.
  EXPECT_EQ(&family.table(30, 1), &family.table(30, 0));
  EXPECT_EQ(&family.table(30, 10), &family.table(30, 8));
  EXPECT_EQ(&family.table(30, 16), &family.table(30, 0));
  EXPECT_EQ(&family.table(2, 13), &family.table(2, 0));
  EXPECT_NEAR(family.table(14, 2).mean(), 0.5, 0.01);
  EXPECT_NEAR(family.sigma[4] / family.sigma[0], 2.0, 1e-3);
}

}  // namespace
}  // namespace sluice::entropy
