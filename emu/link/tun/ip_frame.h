// What a TUN interface hands over: an IPv4 packet, or a super-segment of TCP, behind the header of
// virtio that says which; and how to cut packets out of a super-segment.
// Where in the flow: between reading a TUN interface and the schedule, and back.
// Source: Virtual I/O Device 1.2, section 5.1.6 (virtio_net_hdr); RFC 791, 1071, 9293.
// Surprise: a frame of the kernel has only the sum of the pseudo-header where TCP's checksum goes;
// so have the pieces, and the kernel that receives them takes them as checked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/units.h"

namespace sluice {

// virtio_net_hdr, field by field (the kernel's own header is no C++). Offsets count from the first
// byte after it; numbers are in the order of this machine.
struct VnetHeader {
  static constexpr std::uint8_t kNeedsChecksum = 1;                      // flags
  static constexpr std::uint8_t kNoGso = 0, kTcpV4 = 1, kWithEcn = 128;  // gso_type
  std::uint8_t flags = 0, gso_type = kNoGso;
  std::uint16_t header_size = 0, gso_size = 0;  // gso_size: payload of each packet
  std::uint16_t checksum_start = 0, checksum_offset = 0;
};
inline constexpr std::size_t kVnetHeader = sizeof(VnetHeader);  // 10 bytes before each frame
static_assert(kVnetHeader == 10);

// Where the parts of a frame are; offsets from the first byte after the virtio header.
struct FrameLayout {
  std::size_t ip_header = 0;  // bytes
  std::size_t headers = 0;    // bytes before the payload, of a super-segment
  std::size_t payload = 0;    // bytes
  std::size_t segment = 0;    // payload of each packet but the last
  std::int32_t num_packets = 1;
  bool can_be_marked = false;  // ECN-capable

  // Packet `index` with its headers.
  [[nodiscard]] DataSize wire_size(std::int32_t index) const;
};

// `frame` begins with the virtio header. nullopt: not IPv4, or a super-segment that is no sound one
// of TCP; the link does not carry it.
[[nodiscard]] std::optional<FrameLayout> layout_of(std::span<const std::byte> frame);

// Some packets of a frame as one smaller frame: headers of its own, then a slice of the payload.
struct FramePiece {
  std::array<std::byte, kVnetHeader + 60 + 60> headers;  // the largest of IPv4 and of TCP
  std::size_t headers_size = 0;
  std::span<const std::byte> payload;
};

// Packets `first` .. `first + count` of a frame with that layout; `is_marked` puts "congestion
// experienced" (RFC 3168) into their IP header.
[[nodiscard]] FramePiece cut_piece(std::span<const std::byte> frame, const FrameLayout& layout,
                                   std::int32_t first, std::int32_t count, bool is_marked);

}  // namespace sluice
