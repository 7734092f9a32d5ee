// Frequency tables and their two faces: 2^11 decoding slots, and symbols to encode with.
// Where in the flow: built once (class family) or per chunk (shipped tables), then read by the
// kernels.
// Surprise: costs are integers, so that an encoder chooses the same tables on every host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/entropy/kernel.h"

namespace sluice::entropy {

// Costs in 1/4096 bit.
inline constexpr std::int32_t kCostPerBit = 4096;
// A symbol that its column's table lacks is listed with its position: 16 bits each.
inline constexpr std::int32_t kExceptionCost = 32 * kCostPerBit;

class CodingTable {
 public:
  // `frequencies` of the symbols first, first + 1, … sum to kTableSlots; some may be 0.
  // -512 <= first and first + frequencies.size() <= 512.
  CodingTable(std::int32_t first, std::span<const std::uint16_t> frequencies);

  [[nodiscard]] const Slot* slots() const { return slots_.data(); }
  // From first() on.
  [[nodiscard]] const EncodingSymbol* symbols() const { return symbols_.data(); }
  [[nodiscard]] const EncodingSymbol& symbol(std::int32_t symbol) const {
    return symbols_[static_cast<std::size_t>(symbol - first_)];
  }
  [[nodiscard]] std::int32_t first() const { return first_; }
  [[nodiscard]] std::int32_t last() const {
    return first_ + static_cast<std::int32_t>(symbols_.size()) - 1;
  }
  [[nodiscard]] bool has(std::int32_t symbol) const {
    return symbol >= first_ && symbol <= last() &&
           symbols_[static_cast<std::size_t>(symbol - first_)].frequency > 0;
  }
  // The first of the most frequent symbols.
  [[nodiscard]] std::int32_t mode() const { return mode_; }
  [[nodiscard]] double mean() const { return mean_; }
  // Of any symbol; one that is not in the table costs that of the mode and of an exception.
  [[nodiscard]] std::int32_t cost(std::int32_t symbol) const {
    const auto place = static_cast<std::uint32_t>(symbol - first_);
    return place < costs_.size() ? costs_[place] : cost_outside_;
  }

 private:
  std::int32_t first_;
  std::int32_t mode_ = 0;
  double mean_ = 0;
  std::int32_t cost_outside_ = 0;
  std::vector<EncodingSymbol> symbols_;
  std::vector<std::int32_t> costs_;
  std::vector<Slot> slots_;
};

// -log2(frequency / kTableSlots) in 1/4096 bit, rounded to nearest; frequency 1 to kTableSlots.
[[nodiscard]] std::int32_t frequency_cost(std::uint32_t frequency);

// Scales counts to frequencies that sum to kTableSlots: rounded to nearest, at least 1 where the
// count is not 0; what is missing or too much goes to the first of the largest. Some count is
// positive, and at most 1024 are.
[[nodiscard]] std::vector<std::uint16_t> to_frequencies(std::span<const std::int64_t> counts);

// The fixed family of spec.md, section 5: a grid of scales (standard deviation 0.12 * 2^(i/4)
// steps) and kinds (shape and fractional mean). Not every place of the grid has a table of its own.
inline constexpr std::int32_t kNumScales = 38;
inline constexpr std::int32_t kNumKinds = 18;
struct ClassFamily {
  // Total over the grid.
  [[nodiscard]] const CodingTable& table(std::int32_t scale, std::int32_t kind) const {
    return tables[static_cast<std::size_t>(place[scale][kind])];
  }
  // Whether the grid's place has a table of its own; only those are used by encoders.
  [[nodiscard]] bool is_own(std::int32_t scale, std::int32_t kind) const {
    return own[scale][kind];
  }

  std::vector<CodingTable> tables;
  std::int32_t place[kNumScales][kNumKinds];  // index in `tables`
  bool own[kNumScales][kNumKinds];
  double sigma[kNumScales];
};
[[nodiscard]] const ClassFamily& class_family();

// How kinds are coded: frequencies fixed in spec.md.
[[nodiscard]] const CodingTable& kind_table();

}  // namespace sluice::entropy
