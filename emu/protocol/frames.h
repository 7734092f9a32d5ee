// Frames: what travels on a connection of emulation, in and out, with nothing of sockets.
// Where in the flow: between TCP and messages.h; client, server and fuzzer use the same reader and
// writer. The bytes: spec.md.
// Surprise: a peer's bytes are untrusted until next() returns them as a frame; memory is bounded
// by the largest payload that the reader was made for, whatever the peer claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "emu/protocol/record_seal.h"

namespace sluice {

enum class FrameType : std::uint8_t {
  kHello = 1,       // client, first on a connection
  kHelloReply = 2,  // server
  kProve = 3,       // client, where the server asks for a key
  kGet = 4,         // client
  kCancel = 5,      // client; no payload; the header names the request
  kData = 6,        // server
  kDone = 7,        // server
  kFail = 8,        // server; request 0: the connection itself
  kPing = 9,        // either
  kPong = 10,       // either
  kClose = 11,      // either: nothing more comes from here
};

inline constexpr std::size_t kFrameHeaderBytes = 24;
// Of one Data frame: small enough that a cancel takes effect soon.
inline constexpr std::size_t kDataBytesMax = std::size_t{64} << 10;
inline constexpr std::size_t kPayloadMax = kDataBytesMax + 64;
// Clients send nothing longer.
inline constexpr std::size_t kRequestPayloadMax = 512;

struct Frame {
  FrameType type = FrameType::kClose;
  std::uint64_t request = 0;
  std::span<const std::byte> payload;  // valid until the reader's next space() or next()
};

// Bytes to frames, a piece at a time:
//   read into space(); received(n); while next() returns a frame, handle it.
class FrameReader {
 public:
  // Takes payloads up to `payload_max` (<= kPayloadMax).
  explicit FrameReader(std::size_t payload_max = kPayloadMax);
  // From the next frame on, frames come as sealed records.
  void open_with(RecordOpener opener) { opener_.emplace(std::move(opener)); }

  // Where the next bytes go; never empty as long as next() is called until it returns nothing.
  [[nodiscard]] std::span<std::byte> space();
  // `count` bytes were put at the start of space().
  void received(std::size_t count);
  // The next whole frame, nothing when it is not all here, or what the peer did wrong; after an
  // Error nothing more can be read.
  [[nodiscard]] Result<std::optional<Frame>> next();
  // Bytes that came and are not yet returned: of the frame under way.
  [[nodiscard]] std::size_t pending() const { return end_ - begin_; }

 private:
  [[nodiscard]] Result<std::optional<Frame>> next_plain();
  [[nodiscard]] Result<std::optional<Frame>> next_sealed();

  std::size_t payload_max_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::optional<RecordOpener> opener_;
};

// Frames to bytes, appended to a buffer of the caller's.
class FrameWriter {
 public:
  // From the next frame on, frames leave as sealed records.
  void seal_with(RecordSealer sealer) { sealer_.emplace(std::move(sealer)); }
  // `payload` has at most kPayloadMax bytes.
  void write(FrameType type, std::uint64_t request, std::span<const std::byte> payload,
             std::vector<std::byte>& out);
  // In two steps, to have a payload written in place: fill the span, then finish(). `out` is not
  // touched in between.
  [[nodiscard]] std::span<std::byte> begin(FrameType type, std::uint64_t request,
                                           std::size_t payload_bytes, std::vector<std::byte>& out);
  void finish(std::vector<std::byte>& out);

 private:
  std::size_t frame_at_ = 0;  // of the frame begun, in `out`
  std::optional<RecordSealer> sealer_;
};

}  // namespace sluice
