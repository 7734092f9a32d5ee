#include "codec/lossless/models.h"

#include <algorithm>
#include <numeric>

#include "codec/damage.h"
#include "codec/lossless/column_classes.h"

namespace sluice::lossless {
namespace {

constexpr std::int64_t kReadableColumns = 32;
constexpr std::uint32_t kLongFrequency = 0x80;  // from here on two bytes

// Bits into bytes, the lowest first.
class BitWriter {
 public:
  explicit BitWriter(ByteWriter& out) : out_(out) {}
  void put(std::uint32_t value, int bits) {
    window_ |= std::uint64_t{value} << used_;
    for (used_ += bits; used_ >= 8; used_ -= 8, window_ >>= 8)
      out_.put(static_cast<std::uint8_t>(window_ & 0xFF));
  }
  void finish() {
    if (used_ > 0) out_.put(static_cast<std::uint8_t>(window_));
  }

 private:
  ByteWriter& out_;
  std::uint64_t window_ = 0;
  int used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : in_(bytes) {}
  std::uint32_t get(int bits) {
    for (; left_ < bits; left_ += 8) window_ |= std::uint64_t{in_.get<std::uint8_t>()} << left_;
    const auto value = static_cast<std::uint32_t>(window_ & ((std::uint64_t{1} << bits) - 1));
    window_ >>= bits;
    left_ -= bits;
    return value;
  }
  // The bits of the last byte that were not asked for.
  [[nodiscard]] bool rest_is_zero() const { return window_ == 0; }

 private:
  ByteReader in_;
  std::uint64_t window_ = 0;
  int left_ = 0;
};

void put_frequencies(std::span<const std::uint16_t> counts, ByteWriter& out) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t count = counts[i];
    if (count >= kLongFrequency) {
      out.put(static_cast<std::uint8_t>(kLongFrequency | (count & 0x7F)));
      out.put(static_cast<std::uint8_t>(count >> 7));
      continue;
    }
    out.put(static_cast<std::uint8_t>(count));
    if (count > 0) continue;
    std::size_t more = 0;
    while (i + 1 + more < counts.size() && counts[i + 1 + more] == 0) ++more;
    out.put(static_cast<std::uint8_t>(more));
    i += more;
  }
}

bool read_frequencies(ByteReader& in, std::size_t size, std::vector<std::uint16_t>& counts) {
  while (counts.size() < size && in.ok()) {
    std::uint32_t count = in.get<std::uint8_t>();
    if (count >= kLongFrequency)
      count = (count & 0x7F) | std::uint32_t{in.get<std::uint8_t>()} << 7;
    const std::size_t times = count == 0 ? 1U + in.get<std::uint8_t>() : 1U;
    counts.insert(counts.end(), times, static_cast<std::uint16_t>(count));
  }
  return in.ok() && counts.size() == size &&
         std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) == entropy::kTableSlots;
}

}  // namespace

ColumnModels::ColumnModels(std::int64_t channels)
    : tables(static_cast<std::size_t>(channels)),
      tops(static_cast<std::size_t>(channels + kReadableColumns)),
      flips(tops.size()) {}

entropy::ProfileTables plane_tables(const ColumnModels& columns) {
  entropy::ProfileTables tables;
  for (const int table : columns.tables) tables.table_of_column.push_back(table + 1);
  tables.centres.resize(columns.tables.size());
  return tables;
}

void put_tables(std::span<const entropy::Frequencies> tables, ByteWriter& out) {
  out.put(static_cast<std::uint8_t>(tables.size()));
  for (const entropy::Frequencies& table : tables) {
    out.put(static_cast<std::uint8_t>(table.first - kFirstSymbol));
    out.put(static_cast<std::uint8_t>(table.counts.size()));
    put_frequencies(table.counts, out);
  }
}

Result<std::vector<entropy::Frequencies>> read_tables(ByteReader& in) {
  const std::size_t num_tables = in.get<std::uint8_t>();
  if (num_tables < 1 || num_tables > kMaxTables)
    return damaged("a section with an impossible number of tables");
  std::vector<entropy::Frequencies> tables(num_tables);
  for (entropy::Frequencies& table : tables) {
    const std::int32_t first = in.get<std::uint8_t>();
    const std::size_t size = in.get<std::uint8_t>();
    table.first = first + kFirstSymbol;
    if (first + static_cast<std::int32_t>(size) > kNumSymbols ||
        !read_frequencies(in, size, table.counts))
      return damaged("a table of exponents whose frequencies are not 2048 together");
  }
  return tables;
}

void put_columns(const ColumnModels& columns, std::size_t num_tables, ByteWriter& out) {
  const std::size_t channels = columns.tables.size();
  const auto [least, most] =
      std::minmax_element(columns.tops.data(), columns.tops.data() + channels);
  const std::int32_t lowest = *least;
  const int top_bits = class_bits(static_cast<std::size_t>(*most - lowest) + 1);
  out.put(static_cast<std::uint8_t>(lowest));
  out.put(static_cast<std::uint8_t>(top_bits));
  BitWriter bits(out);
  for (std::size_t i = 0; i < channels; ++i) {
    bits.put(static_cast<std::uint32_t>(columns.tables[i]), class_bits(num_tables));
    bits.put(columns.flips[i] != 0 ? 1 : 0, 1);
    bits.put(static_cast<std::uint32_t>(columns.tops[i] - lowest), top_bits);
  }
  bits.finish();
}

Result<ColumnModels> read_columns(std::int64_t channels, std::size_t num_tables, ByteReader& in) {
  const std::int32_t lowest = in.get<std::uint8_t>();
  const int top_bits = in.get<std::uint8_t>();
  if (top_bits > 8) return damaged("a section with a column model of too many bits");
  const std::int64_t num_bits = channels * (class_bits(num_tables) + 1 + top_bits);
  BitReader bits(in.get_bytes(static_cast<std::size_t>((num_bits + 7) / 8)));
  if (!in.ok()) return damaged("a section that ends in its column models");
  ColumnModels columns(channels);
  for (std::size_t i = 0; i < columns.tables.size(); ++i) {
    columns.tables[i] = static_cast<int>(bits.get(class_bits(num_tables)));
    columns.flips[i] = static_cast<std::int16_t>(-static_cast<std::int32_t>(bits.get(1)));
    columns.tops[i] =
        static_cast<std::int16_t>((lowest + static_cast<std::int32_t>(bits.get(top_bits))) & 0xFF);
    if (static_cast<std::size_t>(columns.tables[i]) >= num_tables)
      return damaged("a column that names a table its section does not have");
  }
  if (!bits.rest_is_zero()) return damaged("padding bits are not zero");
  return columns;
}

}  // namespace sluice::lossless
