#include "codec/entropy/tile.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/assert.h"
#include "base/units.h"
#include "codec/entropy/column_models.h"
#include "codec/entropy/shipped_tables.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {
namespace {

constexpr std::int64_t kFields = 3;  // of a column model

struct Exception {
  std::uint16_t position;  // row * columns + column
  std::int16_t symbol;
};

// Lanes that hold a symbol at all; only their states are stored.
std::int64_t used_lanes(std::int64_t longest_part) {
  return std::min(kLanes, longest_part);
}

double cost_bits(std::int64_t cost) {
  return static_cast<double>(cost) / kCostPerBit;
}
double to_bits(std::size_t num_bytes) {
  return static_cast<double>(DataSize::bytes(static_cast<std::int64_t>(num_bytes)).bits());
}

// Tables and centres per column as the kernels want them, for both directions.
struct Columns {
  std::vector<const EncodingSymbol*> encoding;
  std::vector<const Slot*> decoding;
  std::vector<std::int16_t> centres;
  std::vector<std::int32_t> bases;
  void add(const CodingTable& table, std::int16_t centre) {
    encoding.push_back(table.symbols());
    decoding.push_back(table.slots());
    centres.push_back(centre);
    bases.push_back(centre + table.first());
  }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(centres.size()); }
  [[nodiscard]] EncodePart encode_part(std::int64_t rows, const std::int16_t* symbols) const {
    return {rows, count(), encoding.data(), bases.data(), symbols};
  }
  [[nodiscard]] DecodePart decode_part(std::int64_t rows, std::int16_t* symbols) const {
    return {rows, count(), decoding.data(), centres.data(), symbols};
  }
};

Columns field_columns(const FieldModel& fields) {
  Columns columns;
  columns.add(fields.scales(), fields.scale_base);
  columns.add(kind_table(), 0);
  columns.add(fields.centres(), fields.centre_base);
  return columns;
}

// Encodes the parts (given in decoding order) and appends states and words. Returns what the states
// cost beyond the symbols in them, in bits: a lane stores 32 for the log2(state) - 16 it has taken.
double put_stream(std::span<const EncodePart> parts, ByteWriter& out) {
  std::int64_t total = 0, longest = 0;
  for (const EncodePart& part : parts) {
    total += part.rows * part.columns;
    longest = std::max(longest, part.rows * part.columns);
  }
  std::vector<std::byte> room(static_cast<std::size_t>(total * kWordBytes));
  std::byte* const end = room.data() + room.size();
  std::byte* words = end;
  LaneStates states;
  states.fill(kLowerBound);
  for (std::size_t i = parts.size(); i-- > 0;) words = encode_part(parts[i], states, words);
  double state_bits = 0;
  for (std::int64_t lane = 0; lane < used_lanes(longest); ++lane) {
    const std::uint32_t state = states[static_cast<std::size_t>(lane)];
    out.put(state);
    state_bits += 32 - (std::log2(state) - 16);
  }
  out.put_bytes({words, end});
  return state_bits;
}

TileCost encode_with_classes(const SymbolMatrix& tile, ByteWriter& out) {
  const TileModels models = choose_models(tile);
  const Columns fields = field_columns(models.fields);
  Columns columns;
  std::vector<std::int16_t> field_symbols;
  TileCost cost;
  for (const ColumnModel& model : models.columns) {
    columns.add(class_family().table(model.scale, model.kind), model.centre);
    field_symbols.insert(field_symbols.end(), {model.scale, model.kind, model.centre});
    cost.side_bits += cost_bits(models.fields.cost(model));
  }

  // What its table lacks goes out as the mode, to be overwritten by the exception.
  std::vector<std::int16_t> symbols(tile.symbols.begin(), tile.symbols.end());
  std::vector<Exception> exceptions;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ColumnModel& model = models.columns[i % models.columns.size()];
    const CodingTable& table = class_family().table(model.scale, model.kind);
    cost.ideal_bits += cost_bits(table.cost(symbols[i] - model.centre));
    if (table.has(symbols[i] - model.centre)) continue;
    cost.ideal_bits -= cost_bits(kExceptionCost);
    exceptions.push_back({static_cast<std::uint16_t>(i), symbols[i]});
    symbols[i] = static_cast<std::int16_t>(model.centre + table.mode());
  }

  const std::size_t before = out.bytes().size();
  out.put(static_cast<std::uint8_t>(models.fields.scale_table));
  out.put(static_cast<std::uint8_t>(models.fields.scale_base));
  out.put(static_cast<std::uint8_t>(models.fields.centre_table));
  out.put(models.fields.centre_base);
  out.put(static_cast<std::uint16_t>(exceptions.size()));
  for (const Exception& exception : exceptions) {
    out.put(exception.position);
    out.put(exception.symbol);
  }
  cost.side_bits += to_bits(out.bytes().size() - before);
  const EncodePart parts[] = {fields.encode_part(tile.columns, field_symbols.data()),
                              columns.encode_part(tile.rows, symbols.data())};
  cost.side_bits += put_stream(parts, out);
  return cost;
}

TileCost encode_with_shipped(const SymbolMatrix& tile, ByteWriter& out) {
  std::vector<CodingTable> tables;
  tables.reserve(static_cast<std::size_t>(tile.columns));
  Columns columns;
  for (std::int64_t column = 0; column < tile.columns; ++column) {
    const ShippedDistribution distribution = measure_distribution(tile, column);
    for (const std::uint16_t entry : distribution) out.put(entry);
    std::optional<CodingTable> table = to_table(distribution);
    SLUICE_ASSERT(table.has_value(), "a measured distribution is one");
    columns.add(tables.emplace_back(std::move(*table)), 0);
  }
  TileCost cost;
  for (std::size_t i = 0; i < tile.symbols.size(); ++i) {
    cost.ideal_bits += cost_bits(tables[i % tables.size()].cost(tile.symbols[i]));
  }
  cost.side_bits = to_bits(tables.size() * sizeof(ShippedDistribution));
  const EncodePart parts[] = {columns.encode_part(tile.rows, tile.symbols.data())};
  cost.side_bits += put_stream(parts, out);
  return cost;
}

// A stream being decoded: the states, then what is left of the words.
class StreamReader {
 public:
  bool start(ByteReader& in, std::int64_t longest_part) {
    states_.fill(kLowerBound);
    for (std::int64_t lane = 0; lane < used_lanes(longest_part); ++lane) {
      states_[static_cast<std::size_t>(lane)] = in.get<std::uint32_t>();
    }
    if (!in.ok()) return false;
    words_ = in.get_bytes(in.left());
    return true;
  }
  bool decode(const DecodePart& part) {
    const std::byte* const end = words_.data() + words_.size();
    const std::byte* const at = decode_part(part, states_, words_.data(), end);
    if (at == nullptr) return false;
    words_ = {at, end};
    return true;
  }
  // All lanes back where the encoder began, and no word left.
  [[nodiscard]] bool is_at_end() const {
    return words_.empty() && std::all_of(states_.begin(), states_.end(),
                                         [](std::uint32_t state) { return state == kLowerBound; });
  }

 private:
  LaneStates states_{};
  std::span<const std::byte> words_;
};

constexpr const char* kTooShort = "a tile that ends too early";
constexpr const char* kBadEnd = "a tile whose lanes do not end where they began";

const char* decode_with_classes(ByteReader in, std::int64_t rows, std::int64_t num_columns,
                                std::span<std::int16_t> symbols) {
  FieldModel fields;
  fields.scale_table = in.get<std::uint8_t>();
  fields.scale_base = in.get<std::uint8_t>();
  fields.centre_table = in.get<std::uint8_t>();
  fields.centre_base = in.get<std::int16_t>();
  const auto num_exceptions = in.get<std::uint16_t>();
  ByteReader exceptions(in.get_bytes(num_exceptions * sizeof(Exception)));
  StreamReader stream;
  if (!stream.start(in, std::max(num_columns * kFields, rows * num_columns))) return kTooShort;
  if (fields.scale_table >= kNumScales || fields.centre_table >= kNumScales) {
    return "a column model outside the class family";
  }

  std::vector<std::int16_t> field_symbols(static_cast<std::size_t>(num_columns * kFields));
  const Columns field_tables = field_columns(fields);
  if (!stream.decode(field_tables.decode_part(num_columns, field_symbols.data()))) return kTooShort;
  Columns columns;
  for (std::size_t at = 0; at < field_symbols.size(); at += kFields) {
    const std::int16_t scale = field_symbols[at], kind = field_symbols[at + 1];
    if (scale < 0 || scale >= kNumScales) return "a column model outside the class family";
    columns.add(class_family().table(scale, kind), field_symbols[at + 2]);
  }
  if (!stream.decode(columns.decode_part(rows, symbols.data()))) return kTooShort;
  if (!stream.is_at_end()) return kBadEnd;

  std::int64_t previous = -1;
  for (std::int64_t i = 0; i < num_exceptions; ++i) {
    const auto position = exceptions.get<std::uint16_t>();
    if (position <= previous || position >= rows * num_columns) return "an exception out of place";
    symbols[position] = exceptions.get<std::int16_t>();
    previous = position;
  }
  return nullptr;
}

const char* decode_with_shipped(ByteReader in, std::int64_t rows, std::int64_t num_columns,
                                std::span<std::int16_t> symbols) {
  if (in.left() / sizeof(ShippedDistribution) < static_cast<std::size_t>(num_columns))
    return kTooShort;
  std::vector<CodingTable> tables;
  tables.reserve(static_cast<std::size_t>(num_columns));
  Columns columns;
  for (std::int64_t column = 0; column < num_columns; ++column) {
    ShippedDistribution distribution;
    for (std::uint16_t& entry : distribution) entry = in.get<std::uint16_t>();
    std::optional<CodingTable> table = to_table(distribution);
    if (!table) return "a shipped table that is no distribution";
    columns.add(tables.emplace_back(std::move(*table)), 0);
  }
  StreamReader stream;
  if (!stream.start(in, rows * num_columns)) return kTooShort;
  if (!stream.decode(columns.decode_part(rows, symbols.data()))) return kTooShort;
  return stream.is_at_end() ? nullptr : kBadEnd;
}

}  // namespace

TileCost encode_tile(const SymbolMatrix& tile, PlaneModel model, ByteWriter& out) {
  return model == PlaneModel::kShipped ? encode_with_shipped(tile, out)
                                       : encode_with_classes(tile, out);
}

const char* decode_tile(std::span<const std::byte> bytes, PlaneModel model, std::int64_t rows,
                        std::int64_t columns, std::span<std::int16_t> symbols) {
  return model == PlaneModel::kShipped
             ? decode_with_shipped(ByteReader(bytes), rows, columns, symbols)
             : decode_with_classes(ByteReader(bytes), rows, columns, symbols);
}

}  // namespace sluice::entropy
