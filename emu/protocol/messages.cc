#include "emu/protocol/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "codec/bytes.h"

namespace sluice {
namespace {

constexpr std::string_view kMagic = "SLUICE\r\n";
constexpr std::uint8_t kBeyondBit = 1, kLayersBit = 2;

Error malformed(const std::string& message, const std::string& what) {
  return error_in("", fmt::format("a {} message {}", message, what),
                  "the peer does not speak this protocol");
}

Bytes32 get_bytes32(ByteReader& in) {
  Bytes32 bytes{};
  const auto read = in.get_bytes(bytes.size());
  std::copy(read.begin(), read.end(), bytes.begin());
  return bytes;
}

bool is_whole(const ByteReader& in) {
  return in.ok() && in.left() == 0;
}

}  // namespace

std::string_view to_text(FailCode code) {
  switch (code) {
    case FailCode::kProtocol:
      return "protocol";
    case FailCode::kVersion:
      return "version";
    case FailCode::kNotFound:
      return "not found";
    case FailCode::kBadRange:
      return "bad range";
    case FailCode::kTooMany:
      return "too many";
    case FailCode::kStorage:
      return "storage";
    case FailCode::kRefused:
      return "refused";
    case FailCode::kCancelled:
      return "cancelled";
  }
  SLUICE_ASSERT(false, "unknown code of a failure");
}

MessageBytes to_bytes(const Hello& hello) {
  ByteWriter out;
  out.put_text(kMagic);
  out.put(hello.version_min);
  out.put(hello.version_max);
  out.put_bytes(hello.nonce);
  return std::move(out).take();
}

Result<Hello> parse_hello(std::span<const std::byte> payload) {
  ByteReader in(payload);
  if (in.get_text(kMagic.size()) != kMagic) return malformed("Hello", "without the magic");
  Hello hello;
  hello.version_min = in.get<std::uint16_t>();
  hello.version_max = in.get<std::uint16_t>();
  hello.nonce = get_bytes32(in);
  if (!is_whole(in)) return malformed("Hello", "of a wrong length");
  if (hello.version_min > hello.version_max)
    return malformed("Hello", "whose lowest version is above its highest");
  return hello;
}

MessageBytes to_bytes(const HelloReply& reply) {
  ByteWriter out;
  out.put_text(kMagic);
  out.put(reply.version);
  out.put(static_cast<std::uint8_t>(reply.needs_key ? 1 : 0));
  out.put(std::uint8_t{0});
  out.put_bytes(reply.nonce);
  out.put_bytes(reply.proof);
  return std::move(out).take();
}

Result<HelloReply> parse_hello_reply(std::span<const std::byte> payload) {
  ByteReader in(payload);
  if (in.get_text(kMagic.size()) != kMagic) return malformed("HelloReply", "without the magic");
  HelloReply reply;
  reply.version = in.get<std::uint16_t>();
  const auto needs_key = in.get<std::uint8_t>();
  const auto reserved = in.get<std::uint8_t>();
  reply.nonce = get_bytes32(in);
  reply.proof = get_bytes32(in);
  if (!is_whole(in)) return malformed("HelloReply", "of a wrong length");
  if (needs_key > 1 || reserved != 0) return malformed("HelloReply", "with unknown bits");
  reply.needs_key = needs_key == 1;
  return reply;
}

MessageBytes to_bytes(const Get& get) {
  const bool of_chunk = get.what != GetWhat::kCatalogue;
  ByteWriter out;
  out.put(get.context);
  out.put(static_cast<std::uint8_t>(get.what));
  out.put(static_cast<std::uint8_t>((get.beyond ? kBeyondBit : 0) | (get.layers ? kLayersBit : 0)));
  out.put(std::uint16_t{0});
  out.put(of_chunk ? get.chunk : 0U);
  out.put(get.what == GetWhat::kChunk ? get.level : 0U);
  out.put(get.beyond.value_or(0));
  const LayerRange layers = get.layers.value_or(LayerRange{});
  out.put(layers.first);
  out.put(layers.count);
  out.put(get.offset);
  out.put(get.length);
  return std::move(out).take();
}

Result<Get> parse_get(std::span<const std::byte> payload) {
  ByteReader in(payload);
  Get get;
  get.context = in.get<std::uint64_t>();
  const auto what = in.get<std::uint8_t>();
  const auto bits = in.get<std::uint8_t>();
  const auto reserved = in.get<std::uint16_t>();
  get.chunk = in.get<std::uint32_t>();
  get.level = in.get<std::uint32_t>();
  const auto beyond = in.get<std::uint32_t>();
  LayerRange layers;
  layers.first = in.get<std::uint32_t>();
  layers.count = in.get<std::uint32_t>();
  get.offset = in.get<std::uint64_t>();
  get.length = in.get<std::uint64_t>();
  if (!is_whole(in)) return malformed("Get", "of a wrong length");
  if (what > static_cast<std::uint8_t>(GetWhat::kText))
    return malformed("Get", "for something unknown");
  if ((bits & ~(kBeyondBit | kLayersBit)) != 0 || reserved != 0)
    return malformed("Get", "with unknown bits");
  get.what = static_cast<GetWhat>(what);
  if ((bits & kBeyondBit) != 0) get.beyond = beyond;
  if ((bits & kLayersBit) != 0) {
    if (layers.count == 0) return malformed("Get", "for no layers");
    get.layers = layers;
  }
  if (const auto sent = to_bytes(get); !std::equal(sent.begin(), sent.end(), payload.begin()))
    return malformed("Get", "with a field that does not count and is not 0");
  if (get.what != GetWhat::kChunk && bits != 0)
    return malformed("Get", "for layers or refinements of what has none");
  return get;
}

void write_data_prefix(std::uint64_t offset, std::span<std::byte> payload) {
  SLUICE_ASSERT(payload.size() > kDataPrefixBytes, "a Data frame without data");
  std::memcpy(payload.data(), &offset, sizeof offset);
}

Result<Data> parse_data(std::span<const std::byte> payload) {
  if (payload.size() <= kDataPrefixBytes || payload.size() > kDataPrefixBytes + kDataBytesMax)
    return malformed("Data", "of a wrong length");
  Data data;
  std::memcpy(&data.offset, payload.data(), sizeof data.offset);
  data.bytes = payload.subspan(kDataPrefixBytes);
  return data;
}

MessageBytes to_bytes(const Done& done) {
  ByteWriter out;
  out.put(done.selection_bytes);
  return std::move(out).take();
}

Result<Done> parse_done(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const Done done{.selection_bytes = in.get<std::uint64_t>()};
  if (!is_whole(in)) return malformed("Done", "of a wrong length");
  return done;
}

MessageBytes to_bytes(const Fail& fail) {
  ByteWriter out;
  out.put(static_cast<std::uint16_t>(fail.code));
  out.put_text(std::string_view(fail.words).substr(0, kFailWordsMax));
  return std::move(out).take();
}

Result<Fail> parse_fail(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const auto code = in.get<std::uint16_t>();
  if (!in.ok() || in.left() > kFailWordsMax) return malformed("Fail", "of a wrong length");
  if (code < static_cast<std::uint16_t>(FailCode::kProtocol) ||
      code > static_cast<std::uint16_t>(FailCode::kCancelled))
    return malformed("Fail", fmt::format("of unknown code {}", code));
  return Fail{.code = static_cast<FailCode>(code), .words = std::string(in.get_text(in.left()))};
}

MessageBytes ping_bytes(std::uint64_t token) {
  ByteWriter out;
  out.put(token);
  return std::move(out).take();
}

Result<std::uint64_t> parse_ping(std::span<const std::byte> payload) {
  ByteReader in(payload);
  const auto token = in.get<std::uint64_t>();
  if (!is_whole(in)) return malformed("Ping", "of a wrong length");
  return token;
}

}  // namespace sluice
