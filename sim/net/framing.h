// How payload becomes wire bytes: packets of the path's MTU, each with a header. The one definition
// for all tiers.
// Where in the flow: under every network tier. A transfer of `size` takes ceil(size / (MTU -
// header)) packets and size + packets * header bytes of the link; without counting headers it takes
// `size`.
// Surprise: the packets are as large whether or not their headers are counted, so windows and
// bursts do not change.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace sluice {

struct Framing {
  DataSize payload;  // of one full packet: MTU - header, > 0
  DataSize header;   // that each packet adds on the link; zero when headers are not counted

  [[nodiscard]] constexpr std::int64_t packets(DataSize size) const {
    return (size.bytes() + payload.bytes() - 1) / payload.bytes();
  }
  [[nodiscard]] constexpr DataSize wire_size(DataSize size) const {
    return size + header * packets(size);
  }
  // The payload among the first `wire` bytes: headers come before their payload.
  [[nodiscard]] constexpr DataSize payload_within(DataSize wire) const {
    const std::int64_t packet = (payload + header).bytes();
    const DataSize rest = DataSize::bytes(wire.bytes() % packet);
    return payload * (wire.bytes() / packet) + std::max(DataSize::zero(), rest - header);
  }
};

}  // namespace sluice
