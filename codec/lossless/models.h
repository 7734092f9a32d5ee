// What stands in front of a coded section: its tables, and per tensor the columns' classes, signs
// and top exponents.
// Where in the flow: binding.cc writes and reads them around the planes. The bits: spec.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/bytes.h"
#include "codec/entropy/binding.h"
#include "codec/lossless/kernel.h"

namespace sluice::lossless {

// A tensor's columns, as arrays: kernels read 32 from any column on.
struct ColumnModels {
  std::vector<int> tables;          // [column], from 0
  std::vector<std::int16_t> tops;   // [column], then padding
  std::vector<std::int16_t> flips;  // the same

  explicit ColumnModels(std::int64_t channels);
  [[nodiscard]] Column column(std::size_t i) const { return {tops[i], flips[i]}; }
};

// What the plane wants: table 0 of a set is its own. The set itself is the caller's.
[[nodiscard]] entropy::ProfileTables plane_tables(const ColumnModels& columns);

void put_tables(std::span<const entropy::Frequencies> tables, ByteWriter& out);
// Any bytes are safe.
[[nodiscard]] Result<std::vector<entropy::Frequencies>> read_tables(ByteReader& in);

void put_columns(const ColumnModels& columns, std::size_t num_tables, ByteWriter& out);
[[nodiscard]] Result<ColumnModels> read_columns(std::int64_t channels, std::size_t num_tables,
                                                ByteReader& in);

}  // namespace sluice::lossless
