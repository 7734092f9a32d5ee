// Frequency tables, and the two faces that the loops want: 2^11 decoding slots, symbols to encode.
// Where in the flow: built once (class family, a model profile's tables) or per tile (shipped
// tables), then read by the kernels.
// Surprise: a table whose symbols all lie in -16 to 15 has a second one, for two rows at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/entropy/kernel.h"

namespace sluice::entropy {

// Frequencies of the symbols first, first + 1, … They sum to kTableSlots; some may be 0.
// -512 <= first and first + counts.size() <= 512.
struct Frequencies {
  std::int32_t first = 0;
  std::vector<std::uint16_t> counts;

  [[nodiscard]] std::int32_t last() const {
    return first + static_cast<std::int32_t>(counts.size()) - 1;
  }
  [[nodiscard]] bool has(std::int32_t symbol) const {
    return symbol >= first && symbol <= last() &&
           counts[static_cast<std::size_t>(symbol - first)] > 0;
  }
  [[nodiscard]] std::int32_t mode() const;  // the first of the most frequent symbols
  [[nodiscard]] double mean() const;
};

// Of two rows' symbols (s, t), both from -16 to 15: [32 * (s + 16) + t + 16]. `table` lies in that
// range. spec.md, section 4.
[[nodiscard]] std::vector<std::uint16_t> pair_frequencies(const Frequencies& table);

// Scales counts to frequencies that sum to kTableSlots: rounded to nearest, at least 1 where the
// count is not 0; what is missing or too much goes to the first of the largest. Some count is
// positive, and at most 1024 are.
[[nodiscard]] std::vector<std::uint16_t> to_frequencies(std::span<const std::int64_t> counts);

// Tables side by side in memory, so that lanes name them by an offset.
class TableSet {
 public:
  // Holds table 0 only, the identity: it codes a 0, or a pair of them, without touching the state.
  TableSet();

  // The number of the new table.
  int add(const Frequencies& table);
  // With a table for pairs, if all symbols lie in -16 to 15.
  int add_with_pairs(const Frequencies& table);
  [[nodiscard]] int size() const { return static_cast<int>(tables_.size()); }

  [[nodiscard]] const Frequencies& frequencies(int table) const { return at(table).frequencies; }
  [[nodiscard]] bool has_pairs(int table) const { return at(table).pair_slots >= 0; }

  [[nodiscard]] const Slot* slots() const { return slots_.data(); }
  [[nodiscard]] std::size_t num_slots() const { return slots_.size(); }
  // Where the table starts in slots().
  [[nodiscard]] std::uint32_t slot_offset(int table, bool paired) const {
    return static_cast<std::uint32_t>(paired ? at(table).pair_slots : at(table).slots);
  }
  [[nodiscard]] const EncodingSymbol* symbols() const { return symbols_.data(); }
  [[nodiscard]] std::size_t num_symbols() const { return symbols_.size(); }
  // Where symbol 0, or the pair (0, 0), of the table stands in symbols() (or would stand).
  [[nodiscard]] std::int32_t symbol_offset(int table, bool paired) const {
    return paired ? at(table).pair_symbols : at(table).symbols;
  }

 private:
  struct Entry {
    Frequencies frequencies;
    std::int32_t slots = 0, symbols = 0;
    std::int32_t pair_slots = -1, pair_symbols = 0;
  };
  [[nodiscard]] const Entry& at(int table) const {
    return tables_[static_cast<std::size_t>(table)];
  }
  // symbol_at(i): what slots say of the symbol at place i of `counts`.
  template <typename SymbolAt>
  void add_faces(std::span<const std::uint16_t> counts, SymbolAt symbol_at);

  std::vector<Entry> tables_;
  std::vector<Slot> slots_;
  std::vector<EncodingSymbol> symbols_;
};

}  // namespace sluice::entropy
