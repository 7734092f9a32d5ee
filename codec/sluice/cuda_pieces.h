// What a section holds, read by the host: heads of units, and the tiles of their planes.
// Where in the flow: under cuda_plan.cc. Surprise: the host decodes the small planes of classes and
// offsets itself, since classes order the rows of all others.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "codec/device/device_codec.h"
#include "codec/entropy/cuda_symbol_plan.h"
#include "codec/sluice/rungs.h"
#include "codec/sluice/unit_head.h"

namespace sluice::ladder {

using DeviceUnit = UnitOf<DeviceTensor>;

// A unit whose head could be read. Its symbols are matrix number i of the lister, i counting units.
struct UnitPieces {
  DeviceUnit unit;
  UnitHead head;
  std::vector<std::int8_t> shifts;   // of rows, where it has classes
  std::vector<std::int64_t> raw_at;  // [tensor] byte of the payloads; empty without raw tokens
};

struct SectionPieces {
  std::deque<UnitPieces> units;  // the lister points to their shifts
  entropy::SymbolTileLister tiles;
  unsigned num_stages = 1;  // symbols, then each layer of digits
  float step = 1;           // of the rung that all payloads together decode to
  std::size_t payload_bytes = 0;
  Status status;  // what is wrong behind all units and tiles that are listed
};

// Any payloads: `payload` and those of context.lower_payloads. Tiles are listed in the order in
// which decode_section decodes them.
[[nodiscard]] SectionPieces read_pieces(const SectionContext& context,
                                        std::span<const std::byte> payload,
                                        std::span<const DeviceSectionTensor> tensors);

}  // namespace sluice::ladder
