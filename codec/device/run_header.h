// What host and kernels tell each other about one run, at the start of its memory on both sides.
// Where in the flow: written by plans, read back by finish_*().
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace sluice {

// A damaged payload as a kernel saw it. The earliest counts: that is the one which a decoder that
// reads in order meets first.
struct Fault {
  std::uint64_t position = 0;  // byte of the payload or number of the tile, below 2^40
  std::uint8_t kind = 0;       // the codec's own numbers
  std::uint16_t detail = 0;    // the value seen, where the Error names it
};

inline constexpr std::uint64_t kNoFault = ~std::uint64_t{0};

[[nodiscard]] SLUICE_HOST_DEVICE inline std::uint64_t pack_fault(const Fault& fault) {
  return fault.position << 24 | static_cast<std::uint64_t>(fault.kind) << 16 | fault.detail;
}
[[nodiscard]] inline Fault unpack_fault(std::uint64_t packed) {
  return {.position = packed >> 24,
          .kind = static_cast<std::uint8_t>(packed >> 16),
          .detail = static_cast<std::uint16_t>(packed)};
}

struct alignas(16) RunHeader {
  std::uint64_t first_fault = kNoFault;  // the least pack_fault() of all
  std::uint64_t payload_bytes = 0;       // encoding: how long the payload became
  std::uint64_t side_bytes = 0;          // EncodedSection::side_bytes
  std::uint64_t unused = 0;
};

}  // namespace sluice
