// What passes between the two halves of a connection: segments, and acknowledgements of them.
// Where in the flow: under ConnectionSender and ConnectionReceiver.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace sluice {

// What the tier `burst` sends in one piece at most, and into how many pieces the smallest queue of
// a path is cut, so that a queue means something to a burst.
inline constexpr DataSize kBurstSegment = DataSize::bytes(64 << 10);
inline constexpr std::int64_t kSegmentsPerQueue = 8;

// A receiver keeps the acknowledgement of a single packet back for this long at most, as Linux
// does; RFC 9293 allows half a second.
inline constexpr Duration kAckDelayMax = std::chrono::milliseconds{40};

// A stretch of one transfer's payload, as it was first sent.
struct Segment {
  std::uint64_t transfer = 0;
  std::uint64_t sequence = 0;  // on its connection, from zero
  DataSize payload;
  bool is_last = false;  // of its transfer; acknowledged at once
};

struct NumberedSegment {
  Segment segment;
  std::uint64_t number = 0;  // of this copy, on its connection, from zero
};

struct Acknowledgement {
  std::uint64_t first = 0, last = 0;  // numbers of the newest copies that arrived without a gap
  std::uint64_t next_expected = 0;    // every segment before this sequence has arrived
  bool is_late = false;               // the receiver had kept it back: its time is no round trip
};

}  // namespace sluice
