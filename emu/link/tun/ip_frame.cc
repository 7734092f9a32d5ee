#include "emu/link/tun/ip_frame.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace sluice {
namespace {

template <typename Header>
Header read(std::span<const std::byte> bytes, std::size_t offset) {
  Header header;
  std::memcpy(&header, bytes.data() + offset, sizeof(header));
  return header;
}

// The ones' complement sum of RFC 1071, folded to 16 bits, not inverted.
std::uint16_t ones_sum(std::span<const std::byte> bytes, std::uint64_t sum = 0) {
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += read<std::uint16_t>(bytes, i);
  if (bytes.size() % 2 != 0) sum += std::to_integer<std::uint8_t>(bytes.back());
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint16_t pseudo_header_sum(const iphdr& ip, std::size_t tcp_size) {
  const std::uint64_t fixed =
      std::uint64_t{htons(IPPROTO_TCP)} + htons(static_cast<std::uint16_t>(tcp_size));
  return ones_sum(std::as_bytes(std::span(&ip.saddr, 2)), fixed);
}

std::optional<FrameLayout> super_segment(const VnetHeader& vnet, FrameLayout layout,
                                         std::span<const std::byte> packet) {
  if ((vnet.gso_type & ~VnetHeader::kWithEcn) != VnetHeader::kTcpV4) return std::nullopt;
  if (read<iphdr>(packet, 0).protocol != IPPROTO_TCP) return std::nullopt;
  if (packet.size() < layout.ip_header + sizeof(tcphdr)) return std::nullopt;
  const std::size_t tcp_header = read<tcphdr>(packet, layout.ip_header).doff * std::size_t{4};
  layout.headers = layout.ip_header + tcp_header;
  if (tcp_header < sizeof(tcphdr) || packet.size() <= layout.headers || vnet.gso_size == 0)
    return std::nullopt;
  layout.payload = packet.size() - layout.headers;
  layout.segment = vnet.gso_size;
  layout.num_packets =
      static_cast<std::int32_t>((layout.payload + layout.segment - 1) / layout.segment);
  return layout;
}

}  // namespace

DataSize FrameLayout::wire_size(std::int32_t index) const {
  const std::size_t before = static_cast<std::size_t>(index) * segment;
  return DataSize::bytes(static_cast<std::int64_t>(headers + std::min(segment, payload - before)));
}

std::optional<FrameLayout> layout_of(std::span<const std::byte> frame) {
  if (frame.size() < kVnetHeader + sizeof(iphdr)) return std::nullopt;
  const auto vnet = read<VnetHeader>(frame, 0);
  const std::span<const std::byte> packet = frame.subspan(kVnetHeader);
  const auto ip = read<iphdr>(packet, 0);
  FrameLayout layout;
  layout.ip_header = ip.ihl * std::size_t{4};
  if (ip.version != 4 || layout.ip_header < sizeof(iphdr) || packet.size() < layout.ip_header)
    return std::nullopt;
  layout.can_be_marked = (ip.tos & IPTOS_ECN_MASK) != IPTOS_ECN_NOT_ECT;
  if (vnet.gso_type != VnetHeader::kNoGso) return super_segment(vnet, layout, packet);
  layout.headers = layout.ip_header;
  layout.payload = layout.segment = packet.size() - layout.ip_header;
  return layout;
}

namespace {

void set_ip_header(FramePiece& piece, iphdr& ip, const FrameLayout& layout) {
  ip.check = 0;
  std::byte* const at = piece.headers.data() + kVnetHeader;
  std::memcpy(at, &ip, sizeof(ip));
  ip.check = static_cast<std::uint16_t>(~ones_sum({at, layout.ip_header}));
  std::memcpy(at, &ip, sizeof(ip));
}

void set_tcp_header(FramePiece& piece, const iphdr& ip, const FrameLayout& layout,
                    std::size_t skipped) {
  std::byte* const at = piece.headers.data() + kVnetHeader + layout.ip_header;
  auto tcp = read<tcphdr>(piece.headers, kVnetHeader + layout.ip_header);
  tcp.seq = htonl(ntohl(tcp.seq) + static_cast<std::uint32_t>(skipped));
  if (skipped > 0) tcp.res2 &= 1;  // "congestion window reduced" goes with the first packet
  if (skipped + piece.payload.size() < layout.payload) tcp.fin = tcp.psh = 0;
  tcp.check = pseudo_header_sum(ip, layout.headers - layout.ip_header + piece.payload.size());
  std::memcpy(at, &tcp, sizeof(tcp));
}

}  // namespace

FramePiece cut_piece(std::span<const std::byte> frame, const FrameLayout& layout,
                     std::int32_t first, std::int32_t count, bool is_marked) {
  SLUICE_ASSERT(first >= 0 && count > 0 && first + count <= layout.num_packets,
                "a piece of packets that the frame has not");
  const std::size_t skipped = static_cast<std::size_t>(first) * layout.segment;
  FramePiece piece;
  piece.headers_size = kVnetHeader + layout.headers;
  std::copy_n(frame.begin(), piece.headers_size, piece.headers.begin());
  piece.payload = frame.subspan(
      piece.headers_size + skipped,
      std::min(static_cast<std::size_t>(count) * layout.segment, layout.payload - skipped));
  const bool is_whole = count == layout.num_packets;
  if (is_whole && !is_marked) return piece;

  auto ip = read<iphdr>(frame, kVnetHeader);
  if (is_marked) ip.tos |= IPTOS_ECN_CE;
  ip.tot_len = htons(static_cast<std::uint16_t>(layout.headers + piece.payload.size()));
  ip.id = htons(static_cast<std::uint16_t>(ntohs(ip.id) + first));
  set_ip_header(piece, ip, layout);
  if (is_whole) return piece;

  set_tcp_header(piece, ip, layout, skipped);
  auto vnet = read<VnetHeader>(frame, 0);
  if (count == 1) vnet.gso_type = VnetHeader::kNoGso;
  if (count == 1) vnet.gso_size = 0;
  std::memcpy(piece.headers.data(), &vnet, sizeof(vnet));
  return piece;
}

}  // namespace sluice
