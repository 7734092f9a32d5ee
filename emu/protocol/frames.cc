#include "emu/protocol/frames.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "codec/bytes.h"

namespace sluice {
namespace {

constexpr std::size_t kReservedBytes = 3;
constexpr std::size_t kChecksumAt = 16;
constexpr std::size_t kBufferMin = 4096;
constexpr std::size_t kFramesBuffered = 4;  // the largest ones: few reads when data flows

struct FrameHeader {
  std::size_t payload_bytes = 0;
  FrameType type = FrameType::kClose;
  std::uint64_t request = 0;
  std::uint64_t checksum = 0;
};

std::uint64_t checksum_of(std::span<const std::byte> header, std::span<const std::byte> payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(),
                              XXH3_64bits(header.data(), kChecksumAt));
}

Error broken(const std::string& what) {
  return error_in("", what, "the peer does not speak this protocol, or the connection is damaged");
}

// Of the first kFrameHeaderBytes of a frame.
Result<FrameHeader> parse_frame_header(std::span<const std::byte> bytes, std::size_t payload_max) {
  ByteReader in(bytes);
  FrameHeader header;
  header.payload_bytes = in.get<std::uint32_t>();
  const auto type = in.get<std::uint8_t>();
  for (std::size_t i = 0; i < kReservedBytes; ++i) {
    if (in.get<std::uint8_t>() != 0) return broken("a frame's reserved byte is not 0");
  }
  header.request = in.get<std::uint64_t>();
  header.checksum = in.get<std::uint64_t>();
  if (header.payload_bytes > payload_max) {
    return broken(fmt::format("a frame of {} bytes, above {}", header.payload_bytes, payload_max));
  }
  if (type < static_cast<std::uint8_t>(FrameType::kHello) ||
      type > static_cast<std::uint8_t>(FrameType::kClose)) {
    return broken(fmt::format("a frame of unknown type {}", type));
  }
  header.type = static_cast<FrameType>(type);
  return header;
}

Result<Frame> checked_frame(const FrameHeader& header, std::span<const std::byte> bytes) {
  const auto payload = bytes.subspan(kFrameHeaderBytes, header.payload_bytes);
  if (checksum_of(bytes, payload) != header.checksum) return broken("a frame's checksum is wrong");
  return Frame{.type = header.type, .request = header.request, .payload = payload};
}

std::size_t record_max(std::size_t payload_max) {
  return kRecordLengthBytes + kFrameHeaderBytes + payload_max + kRecordTagBytes;
}

}  // namespace

FrameReader::FrameReader(std::size_t payload_max)
    : payload_max_(payload_max),
      buffer_(std::max(kBufferMin, kFramesBuffered * record_max(payload_max))) {
  SLUICE_ASSERT(payload_max <= kPayloadMax, "frames have no longer payloads");
}

std::span<std::byte> FrameReader::space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ < record_max(payload_max_)) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(buffer_).subspan(end_);
}

void FrameReader::received(std::size_t count) {
  SLUICE_ASSERT(count <= buffer_.size() - end_, "more was received than there was space for");
  end_ += count;
}

Result<std::optional<Frame>> FrameReader::next() {
  return opener_ ? next_sealed() : next_plain();
}

Result<std::optional<Frame>> FrameReader::next_plain() {
  const auto bytes = std::span<const std::byte>(buffer_).subspan(begin_, pending());
  if (bytes.size() < kFrameHeaderBytes) return std::optional<Frame>();
  const auto header = parse_frame_header(bytes, payload_max_);
  if (!header) return header.error();
  const std::size_t size = kFrameHeaderBytes + header->payload_bytes;
  if (bytes.size() < size) return std::optional<Frame>();
  const auto frame = checked_frame(*header, bytes.first(size));
  if (!frame) return frame.error();
  begin_ += size;
  return std::optional<Frame>(*frame);
}

Result<std::optional<Frame>> FrameReader::next_sealed() {
  const auto bytes = std::span(buffer_).subspan(begin_, pending());
  if (bytes.size() < kRecordLengthBytes) return std::optional<Frame>();
  const std::size_t frame_bytes = ByteReader(bytes).get<std::uint32_t>();
  if (frame_bytes < kFrameHeaderBytes || frame_bytes > kFrameHeaderBytes + payload_max_)
    return broken(fmt::format("a sealed frame of {} bytes", frame_bytes));
  const std::size_t size = kRecordLengthBytes + frame_bytes + kRecordTagBytes;
  if (bytes.size() < size) return std::optional<Frame>();
  if (!opener_->open(bytes.first(size))) return broken("a sealed frame does not open");
  begin_ += size;
  const auto plain = bytes.subspan(kRecordLengthBytes, frame_bytes);
  const auto header = parse_frame_header(plain, payload_max_);
  if (!header) return header.error();
  if (kFrameHeaderBytes + header->payload_bytes != frame_bytes)
    return broken("a sealed frame whose lengths differ");
  const auto frame = checked_frame(*header, plain);
  if (!frame) return frame.error();
  return std::optional<Frame>(*frame);
}

std::span<std::byte> FrameWriter::begin(FrameType type, std::uint64_t request,
                                        std::size_t payload_bytes, std::vector<std::byte>& out) {
  SLUICE_ASSERT(payload_bytes <= kPayloadMax, "a frame's payload is too long");
  const std::size_t size = kFrameHeaderBytes + payload_bytes;
  frame_at_ = out.size() + (sealer_ ? kRecordLengthBytes : 0);
  out.resize(frame_at_ + size + (sealer_ ? kRecordTagBytes : 0));
  ByteWriter header;
  header.put(static_cast<std::uint32_t>(payload_bytes));
  header.put(static_cast<std::uint8_t>(type));
  header.put_zeros(kReservedBytes);
  header.put(request);
  std::copy(header.bytes().begin(), header.bytes().end(),
            out.begin() + static_cast<std::ptrdiff_t>(frame_at_));
  return std::span(out).subspan(frame_at_ + kFrameHeaderBytes, payload_bytes);
}

void FrameWriter::finish(std::vector<std::byte>& out) {
  const std::size_t tag_bytes = sealer_ ? kRecordTagBytes : 0;
  const auto frame = std::span(out).subspan(frame_at_, out.size() - frame_at_ - tag_bytes);
  const std::uint64_t checksum = checksum_of(frame, frame.subspan(kFrameHeaderBytes));
  std::memcpy(frame.data() + kChecksumAt, &checksum, sizeof checksum);
  if (sealer_) sealer_->seal(std::span(out).subspan(frame_at_ - kRecordLengthBytes));
}

void FrameWriter::write(FrameType type, std::uint64_t request, std::span<const std::byte> payload,
                        std::vector<std::byte>& out) {
  const auto place = begin(type, request, payload.size(), out);
  std::copy(payload.begin(), payload.end(), place.begin());
  finish(out);
}

}  // namespace sluice
