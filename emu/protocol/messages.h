// What the frames of emulation say, as plain values. The bytes: spec.md.
// Where in the flow: above frames.h; server and client each write some and parse the others.
// Surprise: parse functions prove lengths and ranges of the message alone; whether a chunk exists
// is the server's business.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"
#include "emu/protocol/frames.h"

namespace sluice {

inline constexpr std::uint16_t kProtocolVersion = 1;

// Client, request 0.
struct Hello {
  std::uint16_t version_min = kProtocolVersion;
  std::uint16_t version_max = kProtocolVersion;
  Bytes32 nonce{};
};

// Server, request 0.
struct HelloReply {
  std::uint16_t version = kProtocolVersion;
  bool needs_key = false;
  Bytes32 nonce{};
  Bytes32 proof{};  // that the server has the key; zeros without one
};

enum class GetWhat : std::uint8_t {
  kCatalogue = 0,  // of the context, as text (emu/contents/catalogue.h)
  kChunk = 1,      // a .kvb container, or a part of it
  kText = 2,       // the chunk's text, to recompute it
};

struct LayerRange {
  std::uint32_t first = 0;  // number in the model
  std::uint32_t count = 0;  // > 0
};

// What a client asks for. The reply is the selection's bytes [offset, offset + length), cut at its
// end. The selection of a chunk is the container's header and its sections; with `beyond` only the
// refinements that level `beyond` does not have, with `layers` only sections with one of these.
struct Get {
  std::uint64_t context = 0;
  GetWhat what = GetWhat::kChunk;
  std::uint32_t chunk = 0;
  std::uint32_t level = 0;
  std::optional<std::uint32_t> beyond;
  std::optional<LayerRange> layers;
  std::uint64_t offset = 0;
  std::uint64_t length = std::numeric_limits<std::uint64_t>::max();
};

// Bytes of a reply; frames of one reply come in order and without gaps.
struct Data {
  std::uint64_t offset = 0;  // in the selection
  std::span<const std::byte> bytes;
};
inline constexpr std::size_t kDataPrefixBytes = 8;

// The reply is complete.
struct Done {
  std::uint64_t selection_bytes = 0;  // all of the selection, of which the reply may be a part
};

enum class FailCode : std::uint16_t {
  kProtocol = 1,   // what came is not this protocol; the connection ends
  kVersion = 2,    // no common version; the connection ends
  kNotFound = 3,   // no such context, chunk or level
  kBadRange = 4,   // offset behind the end, layers that are not there, `beyond` that fits no level
  kTooMany = 5,    // more requests than the server holds for a connection
  kStorage = 6,    // the server cannot read what it has
  kRefused = 7,    // not now
  kCancelled = 8,  // as the client wished
};
[[nodiscard]] std::string_view to_text(FailCode code);

struct Fail {
  FailCode code = FailCode::kProtocol;
  std::string words;  // one line, at most kFailWordsMax bytes; longer ones are cut
};
inline constexpr std::size_t kFailWordsMax = 200;

using MessageBytes = std::vector<std::byte>;
[[nodiscard]] MessageBytes to_bytes(const Hello& hello);
[[nodiscard]] MessageBytes to_bytes(const HelloReply& reply);
[[nodiscard]] MessageBytes to_bytes(const Get& get);
[[nodiscard]] MessageBytes to_bytes(const Done& done);
[[nodiscard]] MessageBytes to_bytes(const Fail& fail);
// Into a payload of kDataPrefixBytes + as many bytes as follow, which the caller writes behind it.
void write_data_prefix(std::uint64_t offset, std::span<std::byte> payload);

// The error has no file: the caller adds the peer's name.
[[nodiscard]] Result<Hello> parse_hello(std::span<const std::byte> payload);
[[nodiscard]] Result<HelloReply> parse_hello_reply(std::span<const std::byte> payload);
[[nodiscard]] Result<Get> parse_get(std::span<const std::byte> payload);
[[nodiscard]] Result<Data> parse_data(std::span<const std::byte> payload);
[[nodiscard]] Result<Done> parse_done(std::span<const std::byte> payload);
[[nodiscard]] Result<Fail> parse_fail(std::span<const std::byte> payload);
// Ping and Pong: 8 bytes that come back as they went; Cancel and Close: none.
[[nodiscard]] Result<std::uint64_t> parse_ping(std::span<const std::byte> payload);
[[nodiscard]] MessageBytes ping_bytes(std::uint64_t token);

}  // namespace sluice
