// The coding loops of every backend against a decoder written from codec/entropy/spec.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "codec/entropy/class_family.h"
#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {
namespace {

using Symbols = std::vector<std::int16_t>;  // [row][kLanes]

struct Stream {
  DecodeState state;
  std::vector<std::byte> words;
};

// One group of columns: its tables, their numbers and centres.
struct Group {
  explicit Group(const TableSet& set) : tables(set), lanes(set) {}
  void add(int table, std::int16_t centre) {
    lanes.add(table, centre);
    numbers.push_back(table);
    centres.push_back(centre);
  }
  const TableSet& tables;
  LaneTables lanes;
  std::vector<int> numbers;
  Symbols centres;
};

Stream encode(const Group& group, std::int64_t rows, bool paired, const Symbols& symbols,
              Backend backend) {
  const Kernels& kernels = kernels_of(backend);
  std::vector<std::byte> room(symbols.size() * kWordBytes + 64);
  EncodeState state;
  std::fill(std::begin(state.lanes), std::end(state.lanes), kLowerBound);
  state.words = room.data() + room.size();
  if (paired) {
    kernels.encode_pairs(state, group.lanes.encode_lanes(true), rows / 2, symbols.data());
  } else {
    kernels.encode_singles(state, group.lanes.encode_lanes(false), rows, symbols.data());
  }
  Stream stream;
  std::copy(std::begin(state.lanes), std::end(state.lanes), std::begin(stream.state.lanes));
  stream.words.assign(state.words, room.data() + room.size());
  return stream;
}

bool decode(const Group& group, std::int64_t rows, bool paired, const Stream& stream,
            Backend backend, Symbols& symbols, DecodeState& end) {
  const Kernels& kernels = kernels_of(backend);
  // A copy of exactly these bytes, so that a sanitizer sees a read past them.
  const std::vector<std::byte> words = stream.words;
  DecodeState state = stream.state;
  state.words = words.data();
  state.words_end = words.data() + words.size();
  symbols.assign(static_cast<std::size_t>(rows * kLanes), 99);
  const bool ok =
      paired ? kernels.decode_pairs(state, group.lanes.decode_lanes(true), rows / 2, symbols.data())
             : kernels.decode_singles(state, group.lanes.decode_lanes(false), rows, symbols.data());
  EXPECT_TRUE(!ok || state.words == state.words_end);
  end = state;
  return ok;
}

void expect_round_trip(const Group& group, std::int64_t rows, bool paired, const Symbols& symbols) {
  const Stream oracle = encode(group, rows, paired, symbols, Backend::kScalar);
  for (const Backend backend : available_backends()) {
    SCOPED_TRACE(to_text(backend));
    const Stream stream = encode(group, rows, paired, symbols, backend);
    ASSERT_EQ(stream.words, oracle.words);
    ASSERT_TRUE(std::equal(std::begin(stream.state.lanes), std::end(stream.state.lanes),
                           std::begin(oracle.state.lanes)));
    Symbols decoded;
    DecodeState end;
    ASSERT_TRUE(decode(group, rows, paired, stream, backend, decoded, end));
    ASSERT_EQ(decoded, symbols);
    for (const std::uint32_t lane : end.lanes) ASSERT_EQ(lane, kLowerBound);
  }
}

std::int16_t draw(const Frequencies& table, RandomStream& random) {
  std::int64_t slot = static_cast<std::int64_t>(random.below(kTableSlots));
  std::int32_t symbol = table.first;
  for (const std::uint16_t count : table.counts) {
    if ((slot -= count) < 0) break;
    ++symbol;
  }
  return static_cast<std::int16_t>(symbol);
}

Symbols draw_rows(const Group& group, std::int64_t rows, RandomStream& random) {
  Symbols symbols(static_cast<std::size_t>(rows * kLanes));
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::size_t lane = i % kLanes;
    if (lane >= group.numbers.size()) continue;
    symbols[i] = static_cast<std::int16_t>(
        draw(group.tables.frequencies(group.numbers[lane]), random) + group.centres[lane]);
  }
  return symbols;
}

Group random_group(std::size_t lanes, bool with_pairs, RandomStream& random) {
  const TableSet& tables = class_family().tables;
  Group group(tables);
  while (group.numbers.size() < lanes) {
    const int table =
        1 + static_cast<int>(random.below(static_cast<std::uint64_t>(tables.size() - 1)));
    if (with_pairs && !tables.has_pairs(table)) continue;
    group.add(table, static_cast<std::int16_t>(static_cast<std::int64_t>(random.below(21)) - 10));
  }
  return group;
}

TEST(EntropyRans, ASlotOf768InATableOf1536And512IsSymbol0) {
  // The example of spec.md, section 3.
  TableSet tables;
  Group group(tables);
  group.add(tables.add({.first = 0, .counts = {1536, 512}}), 0);
  for (const Backend backend : available_backends()) {
    Stream stream;
    std::fill(std::begin(stream.state.lanes), std::end(stream.state.lanes), kLowerBound);
    stream.state.lanes[0] = 99'072;
    Symbols symbols;
    DecodeState end;
    ASSERT_TRUE(decode(group, 1, false, stream, backend, symbols, end));
    EXPECT_EQ(symbols[0], 0);
    EXPECT_EQ(end.lanes[0], 74'496U);
    stream.state.lanes[0] = 100'096;
    stream.words = {std::byte{0x34}, std::byte{0x12}};
    ASSERT_TRUE(decode(group, 1, false, stream, backend, symbols, end));
    EXPECT_EQ(symbols[0], 1);
    EXPECT_EQ(end.lanes[0], 24'832U * 65'536U + 0x1234U);
  }
}

TEST(EntropyRans, EveryTableOfTheFamilyCodesItsOwnSymbolsAloneAndInPairs) {
  RandomStream random(1, "rans", 0);
  const TableSet& tables = class_family().tables;
  for (int table = 0; table < tables.size(); ++table) {
    Group group(tables);
    for (std::int16_t lane = 0; lane < kLanes; ++lane) group.add(table, lane);
    for (const std::int64_t rows : {2, 32, 100}) {
      const Symbols symbols = draw_rows(group, rows, random);
      expect_round_trip(group, rows, false, symbols);
      if (tables.has_pairs(table)) expect_round_trip(group, rows, true, symbols);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(EntropyRans, EveryNumberOfLanesAndRowsComesBack) {
  RandomStream random(2, "rans", 0);
  for (std::size_t lanes = 1; lanes <= kLanes; ++lanes) {
    for (const std::int64_t rows : {0, 1, 2, 3, 30, 77}) {
      const Group any = random_group(lanes, false, random);
      expect_round_trip(any, rows, false, draw_rows(any, rows, random));
      const Group narrow = random_group(lanes, true, random);
      expect_round_trip(narrow, 2 * rows, true, draw_rows(narrow, 2 * rows, random));
      if (HasFatalFailure()) return;
    }
  }
}

// Section 3 of the spec, word for word: the symbols that the lanes of one step output.
class SpecifiedDecoder {
 public:
  explicit SpecifiedDecoder(const Stream& stream) : stream_(stream) {
    std::copy(std::begin(stream.state.lanes), std::end(stream.state.lanes), x_.begin());
  }
  // `frequencies` of place 0, 1, …; returns the place.
  std::size_t next(std::size_t lane, const std::vector<std::uint16_t>& frequencies) {
    std::uint32_t& x = x_[lane];
    const std::uint32_t slot = x % 2048;
    std::size_t s = 0;
    std::uint32_t start = 0;
    while (slot >= start + frequencies[s]) start += frequencies[s++];
    x = frequencies[s] * (x / 2048) + slot - start;
    if (x < 65536) {
      const auto low = std::to_integer<std::uint32_t>(stream_.words.at(next_word_));
      const auto high = std::to_integer<std::uint32_t>(stream_.words.at(next_word_ + 1));
      x = x * 65536 + high * 256 + low;
      next_word_ += 2;
    }
    return s;
  }
  [[nodiscard]] bool is_at_end() const { return next_word_ == stream_.words.size(); }

 private:
  const Stream& stream_;
  std::vector<std::uint32_t> x_ = std::vector<std::uint32_t>(kLanes);
  std::size_t next_word_ = 0;
};

TEST(EntropyRans, ADecoderWrittenFromTheSpecReadsTheSameSymbols) {
  RandomStream random(3, "rans", 0);
  for (const bool paired : {false, true}) {
    for (const std::size_t lanes : {1, 5, 31, 32}) {
      constexpr std::int64_t kRows = 76;
      const Group group = random_group(lanes, paired, random);
      const Symbols symbols = draw_rows(group, kRows, random);
      const Stream stream = encode(group, kRows, paired, symbols, best_backend());
      SpecifiedDecoder decoder(stream);
      for (std::size_t row = 0; row < kRows; row += paired ? 2 : 1) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const Frequencies& table = group.tables.frequencies(group.numbers[lane]);
          const auto at = [&](std::size_t r) {
            return symbols[r * kLanes + lane] - group.centres[lane];
          };
          if (paired) {
            const auto place = static_cast<int>(decoder.next(lane, pair_frequencies(table)));
            ASSERT_EQ(place / 32 - 16, at(row));
            ASSERT_EQ(place % 32 - 16, at(row + 1));
          } else {
            ASSERT_EQ(table.first + static_cast<int>(decoder.next(lane, table.counts)), at(row));
          }
        }
      }
      EXPECT_TRUE(decoder.is_at_end());
    }
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
    const EncodingSymbol symbol = encoding_symbol(f, 0);
    for (const std::uint64_t x : samples) {
      ASSERT_EQ(encode_symbol(static_cast<std::uint32_t>(x), symbol), x / f * 2048 + x % f)
          << x << " / " << f;
    }
  }
}

TEST(EntropyRans, WithoutItsWordsAStreamIsRefused) {
  RandomStream random(5, "rans", 0);
  const Group group = random_group(20, true, random);
  for (const bool paired : {false, true}) {
    const Stream stream = encode(group, 50, paired, draw_rows(group, 50, random), Backend::kScalar);
    for (const Backend backend : available_backends()) {
      for (std::size_t bytes = 0; bytes < stream.words.size(); ++bytes) {
        Stream cut{
            stream.state,
            {stream.words.begin(), stream.words.begin() + static_cast<std::ptrdiff_t>(bytes)}};
        Symbols symbols;
        DecodeState end;
        EXPECT_FALSE(decode(group, 50, paired, cut, backend, symbols, end));
      }
    }
  }
}

TEST(EntropyRans, AnyStatesAndWordsAreSafeAndMeanTheSameToEveryBackend) {
  RandomStream random(6, "rans", 0);
  for (int round = 0; round < 200; ++round) {
    const bool paired = round % 2 == 0;
    const Group group = random_group(1 + random.below(kLanes), paired, random);
    Stream stream;
    for (std::uint32_t& lane : stream.state.lanes) {  // a third of them below 2^16
      const std::uint64_t end_of_states =
          random.below(3) == 0 ? kLowerBound : std::uint64_t{1} << 32;
      lane = static_cast<std::uint32_t>(random.below(end_of_states));
    }
    stream.words.resize(random.below(600));
    for (std::byte& byte : stream.words) byte = static_cast<std::byte>(random.below(256));
    Symbols oracle, symbols;
    DecodeState end, state;
    // Bytes of words left, or -1 when the stream is refused.
    const auto run = [&](Backend backend, Symbols& out, DecodeState& state_after_it) {
      const Kernels& kernels = kernels_of(backend);
      const std::vector<std::byte> words = stream.words;
      state_after_it = stream.state;
      state_after_it.words = words.data();
      state_after_it.words_end = words.data() + words.size();
      out.assign(20 * kLanes, 0);
      const bool ok = paired ? kernels.decode_pairs(state_after_it, group.lanes.decode_lanes(true),
                                                    10, out.data())
                             : kernels.decode_singles(
                                   state_after_it, group.lanes.decode_lanes(false), 20, out.data());
      return ok ? state_after_it.words_end - state_after_it.words : -1;
    };
    const std::ptrdiff_t left = run(Backend::kScalar, oracle, end);
    for (const Backend backend : available_backends()) {
      ASSERT_EQ(run(backend, symbols, state), left);
      if (left < 0) continue;
      ASSERT_EQ(symbols, oracle);
      ASSERT_TRUE(
          std::equal(std::begin(state.lanes), std::end(state.lanes), std::begin(end.lanes)));
    }
  }
}

TEST(EntropyTables, FrequenciesOfUsedSymbolsAreAtLeastOneAndSumTo2048) {
  const std::vector<std::int64_t> counts = {1'000'000, 1, 0, 1, 500'000};
  const auto frequencies = to_frequencies(counts);
  EXPECT_EQ(frequencies, (std::vector<std::uint16_t>{1363, 1, 0, 1, 683}));
  const std::vector<std::int64_t> flat(1024, 7);
  EXPECT_EQ(to_frequencies(flat), std::vector<std::uint16_t>(1024, 2));
}

TEST(EntropyTables, PairsOfThreeQuartersAndOneQuarterShareTheSlotsAsTheirProducts) {
  // 9/16, 3/16, 3/16 and 1/16 of 2048.
  const auto pairs = pair_frequencies({.first = 0, .counts = {1536, 512}});
  const auto at = [&](int s, int t) {
    return pairs[static_cast<std::size_t>(32 * (s + 16) + t + 16)];
  };
  EXPECT_EQ(at(0, 0), 1152);
  EXPECT_EQ(at(0, 1), 384);
  EXPECT_EQ(at(1, 0), 384);
  EXPECT_EQ(at(1, 1), 128);
}

TEST(EntropyTables, APairThatIsTooRareForASlotGetsOneFromWhereItCostsLeast) {
  // (1, 1) has 1/2048 of a slot and gets one: 2046.0005 + 2 * 0.9995 + 0.0005 become 2045, 1, 1, 1.
  const auto pairs = pair_frequencies({.first = 0, .counts = {2047, 1}});
  const auto at = [&](int s, int t) {
    return pairs[static_cast<std::size_t>(32 * (s + 16) + t + 16)];
  };
  EXPECT_EQ(at(0, 0), 2045);
  EXPECT_EQ(at(0, 1), 1);
  EXPECT_EQ(at(1, 0), 1);
  EXPECT_EQ(at(1, 1), 1);
}

TEST(EntropyTables, ThePairTablesOfTheFamilyLoseAtMostTwoPercentWhereGroupsArePaired) {
  const ClassFamily& family = class_family();
  for (std::int32_t scale = 4; scale <= 16; ++scale) {  // sigma 0.24 to 1.92
    const int table = family.table(scale, 0);
    ASSERT_TRUE(family.tables.has_pairs(table));
    double bits = 0;
    for (const std::uint16_t count : family.tables.frequencies(table).counts) {
      bits -= count / 2048.0 * std::log2(count / 2048.0);
    }
    EXPECT_LT(family.pair_loss[static_cast<std::size_t>(table)], 0.02 * 2 * bits * kCostPerBit);
  }
  EXPECT_FALSE(family.tables.has_pairs(family.table(30, 0)));  // sigma 21.7
}

TEST(EntropyTables, ASymbolOfHalfTheSlotsCostsOneBit) {
  const ClassFamily& family = class_family();
  const int table = family.table(0, 0);  // sigma 0.12: hardly anything but zeros
  EXPECT_LE(family.costs(table)[0 - kCostFirst], 1);
  // A symbol that the table lacks costs an exception and the mode in its place.
  EXPECT_EQ(family.costs(table)[100 - kCostFirst],
            kExceptionCost + family.costs(table)[0 - kCostFirst]);
}

TEST(EntropyTables, TheFamilyHas308TablesAndEveryPlaceOfTheGridHasOne) {
  const ClassFamily& family = class_family();
  EXPECT_EQ(family.tables.size(), 308 + 2);  // and the identity and the kinds
  // Fractional means make no difference to a wide table; wide one-sided tables do not exist.
  EXPECT_EQ(family.table(30, 1), family.table(30, 0));
  EXPECT_EQ(family.table(30, 10), family.table(30, 8));
  EXPECT_EQ(family.table(30, 16), family.table(30, 0));
  EXPECT_EQ(family.table(2, 13), family.table(2, 0));
  EXPECT_NEAR(family.tables.frequencies(family.table(14, 2)).mean(), 0.5, 0.01);
  EXPECT_NEAR(family.sigma[4] / family.sigma[0], 2.0, 1e-3);
}

}  // namespace
}  // namespace sluice::entropy
