// Packets cut out of a super-segment: 20 bytes of IPv4, 32 of TCP with timestamps, then a payload.
#include "emu/link/tun/ip_frame.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

constexpr std::size_t kTcp = kVnetHeader + 20, kPayload = kTcp + 32;
constexpr int kFin = 0x01, kPsh = 0x08, kEce = 0x40, kCwr = 0x80;

using Bytes = std::vector<std::byte>;

void put(Bytes& frame, std::size_t offset, std::uint64_t value, int size) {  // big-endian
  for (int i = 0; i < size; ++i)
    frame[offset + static_cast<std::size_t>(i)] = std::byte(value >> (8 * (size - 1 - i)));
}

std::uint32_t get(const Bytes& frame, std::size_t offset, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value =
        value << 8 | std::to_integer<std::uint32_t>(frame[offset + static_cast<std::size_t>(i)]);
  return value;
}

// From 10.0.0.1 to 10.0.0.2, IP's id 65535, sequence number 2^32 - 1000, ECN-capable.
Bytes super_segment(std::size_t payload, std::uint16_t gso_size) {
  Bytes frame(kPayload + payload);
  const VnetHeader vnet{VnetHeader::kNeedsChecksum, VnetHeader::kTcpV4, 52, gso_size, 20, 16};
  std::copy_n(reinterpret_cast<const std::byte*>(&vnet), kVnetHeader, frame.begin());
  put(frame, kVnetHeader, 0x4502, 2);
  put(frame, kVnetHeader + 2, 52 + payload, 2);
  put(frame, kVnetHeader + 4, 65535, 2);
  put(frame, kVnetHeader + 8, 64, 1);
  put(frame, kVnetHeader + 9, 6, 1);
  put(frame, kVnetHeader + 12, 0x0a000001, 4);
  put(frame, kVnetHeader + 16, 0x0a000002, 4);
  put(frame, kTcp + 4, 0xffffffff - 999, 4);
  put(frame, kTcp + 12, 0x80, 1);
  put(frame, kTcp + 13, kFin | kPsh | kEce | kCwr, 1);
  for (std::size_t i = 0; i < payload; ++i) frame[kPayload + i] = std::byte(i % 251);
  return frame;
}

Bytes cut(const Bytes& frame, std::int32_t first, std::int32_t count, bool is_marked = false) {
  const FramePiece piece = cut_piece(frame, *layout_of(frame), first, count, is_marked);
  Bytes whole(piece.headers.begin(),
              piece.headers.begin() + static_cast<std::ptrdiff_t>(piece.headers_size));
  whole.insert(whole.end(), piece.payload.begin(), piece.payload.end());
  return whole;
}

// RFC 1071: over a header with its sum the ones' complement sum is all ones.
std::uint32_t sum_of(const Bytes& frame, std::size_t offset, std::size_t size) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < size; i += 2) sum += get(frame, offset + i, 2);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

VnetHeader vnet_of(const Bytes& frame) {
  VnetHeader vnet;
  std::copy_n(frame.begin(), kVnetHeader, reinterpret_cast<std::byte*>(&vnet));
  return vnet;
}

TEST(IpFrame, EachPacketOfASuperSegmentCountsItsOwnHeaders) {
  const auto layout = layout_of(super_segment(3000, 1448));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->num_packets, 3);
  EXPECT_EQ(layout->wire_size(0), DataSize::bytes(1500));
  EXPECT_EQ(layout->wire_size(1), DataSize::bytes(1500));
  EXPECT_EQ(layout->wire_size(2), DataSize::bytes(3000 - 2896 + 52));
  EXPECT_TRUE(layout->can_be_marked);
}

TEST(IpFrame, APieceInTheMiddleHasHeadersOfItsOwn) {
  const Bytes frame = super_segment(5000, 1000), piece = cut(frame, 1, 2);
  ASSERT_EQ(piece.size(), kPayload + 2000);
  EXPECT_EQ(get(piece, kVnetHeader + 2, 2), 2052U) << "length";
  EXPECT_EQ(get(piece, kVnetHeader + 4, 2), 0U) << "65535 + 1 wraps";
  EXPECT_EQ(sum_of(piece, kVnetHeader, 20), 0xffffU);
  EXPECT_EQ(get(piece, kTcp + 4, 4), 0U) << "2^32 - 1000 + 1000 wraps";
  EXPECT_EQ(get(piece, kTcp + 13, 1), static_cast<std::uint32_t>(kEce))
      << "FIN, PSH: last; CWR: first";
  EXPECT_EQ(get(piece, kTcp + 16, 2), 0x0a00U + 1 + 0x0a00 + 2 + 6 + 2032) << "the pseudo-header's";
  EXPECT_TRUE(std::equal(piece.begin() + kPayload, piece.end(), frame.begin() + kPayload + 1000));
  EXPECT_EQ(vnet_of(piece).gso_type, VnetHeader::kTcpV4);
  EXPECT_EQ(vnet_of(piece).gso_size, 1000);
}

TEST(IpFrame, TheFirstPieceKeepsCwrAndTheLastOneFinAndPsh) {
  const Bytes frame = super_segment(5000, 1000);
  EXPECT_EQ(get(cut(frame, 0, 1), kTcp + 13, 1), static_cast<std::uint32_t>(kEce | kCwr));
  EXPECT_EQ(get(cut(frame, 4, 1), kTcp + 13, 1), static_cast<std::uint32_t>(kEce | kFin | kPsh));
}

TEST(IpFrame, ASinglePacketIsNoSuperSegmentAnyMore) {
  const Bytes piece = cut(super_segment(2500, 1000), 2, 1);
  EXPECT_EQ(piece.size(), kPayload + 500);
  EXPECT_EQ(vnet_of(piece).gso_type, VnetHeader::kNoGso);
  EXPECT_EQ(vnet_of(piece).gso_size, 0);
  EXPECT_EQ(vnet_of(piece).flags, VnetHeader::kNeedsChecksum);
}

TEST(IpFrame, TheWholeIsLeftAsItIs) {
  const Bytes frame = super_segment(5000, 1000);
  EXPECT_EQ(cut(frame, 0, 5), frame);
}

TEST(IpFrame, AMarkSaysThatCongestionWasExperienced) {
  const Bytes piece = cut(super_segment(900, 1000), 0, 1, true);
  EXPECT_EQ(get(piece, kVnetHeader + 1, 1), 3U);
  EXPECT_EQ(sum_of(piece, kVnetHeader, 20), 0xffffU);
}

TEST(IpFrame, WhatIsNoSoundFrameIsRefused) {
  const Bytes good = super_segment(2500, 1000);
  for (std::size_t size = 0; size <= kPayload; ++size)
    EXPECT_FALSE(layout_of(std::span(good).first(size))) << size << " bytes";
  const auto with = [&](std::size_t offset, int value) {
    Bytes bad = good;
    bad[offset] = std::byte(value);
    return layout_of(bad).has_value();
  };
  EXPECT_FALSE(with(kVnetHeader, 0x65)) << "IPv6";
  EXPECT_FALSE(with(kVnetHeader, 0x44)) << "a header of 16 bytes";
  EXPECT_FALSE(with(kVnetHeader + 9, 17)) << "UDP";
  EXPECT_FALSE(with(kTcp + 12, 0x40)) << "a TCP header of 16 bytes";
  EXPECT_FALSE(with(1, 3)) << "a super-segment of UDP";
  EXPECT_FALSE(layout_of(super_segment(2500, 0))) << "packets without payload";
}

}  // namespace
}  // namespace sluice
