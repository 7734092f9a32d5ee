// What one server gives at most, to all clients and to each.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/units.h"
#include "emu/protocol/frames.h"

namespace sluice {

// Of a reply's first Data frame: it fits into TCP's initial window (RFC 6928), so that the first
// byte is not told a round trip late.
inline constexpr std::size_t kFirstDataBytes = std::size_t{8} << 10;

struct ServerLimits {
  std::size_t connections = 64;               // further ones are closed at once
  std::size_t requests_per_connection = 256;  // not answered yet; further ones fail, "too many"
  // Bytes of Data that wait in this process for one connection; the rest stays where it is stored.
  std::size_t bytes_ahead = std::size_t{64} << 10;
  std::size_t data_bytes = std::size_t{32} << 10;      // of one Data frame; <= kDataBytesMax
  std::size_t control_bytes = std::size_t{256} << 10;  // of unread answers that are not Data
  // Without one byte moving, either way: a client that sends a byte now and then keeps its place.
  Duration handshake_time = std::chrono::seconds{5};  // until the handshake is over
  Duration idle_time = std::chrono::seconds{60};      // after it
  Duration stall_time = std::chrono::seconds{60};     // with bytes to send and none taken
};

}  // namespace sluice
