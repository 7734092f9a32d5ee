// What client and server of emulation read from each other: the input is a server's bytes for a
// client, and a client's for a server's conversation over small contents; and a catalogue.
#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "emu/protocol/messages.h"
#include "emu/server/conversation.h"
#include "tests/emu/made_contents.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

constexpr std::size_t kStepsMax = 4096;  // of a conversation

const SealKey& key() {
  static const SealKey kKey(Bytes32{std::byte{1}});
  return kKey;
}

// A message that parses is written as it came.
template <typename Parse>
Finding check_message(const char* name, std::span<const std::byte> payload, Parse parse) {
  const auto message = parse(payload);
  if (!message) return std::nullopt;
  const MessageBytes again = to_bytes(*message);
  if (std::equal(again.begin(), again.end(), payload.begin(), payload.end())) return std::nullopt;
  return fmt::format("{} is not written as it was read", name);
}

Finding check_frame(const Frame& frame) {
  switch (frame.type) {
    case FrameType::kHello:
      return check_message("Hello", frame.payload, parse_hello);
    case FrameType::kHelloReply:
      return check_message("HelloReply", frame.payload, parse_hello_reply);
    case FrameType::kGet:
      return check_message("Get", frame.payload, parse_get);
    case FrameType::kDone:
      return check_message("Done", frame.payload, parse_done);
    case FrameType::kFail:
      return check_message("Fail", frame.payload, parse_fail);
    case FrameType::kData: {
      const auto data = parse_data(frame.payload);
      if (data && (data->bytes.empty() || data->bytes.size() > kDataBytesMax))
        return "a Data frame of a wrong length was taken";
      return std::nullopt;
    }
    default:
      static_cast<void>(parse_ping(frame.payload));
      return std::nullopt;
  }
}

// Frames in pieces of `step` bytes, as a client reads them; and how many there were.
Finding read_as_client(std::span<const std::byte> input, std::size_t step, std::size_t& frames) {
  FrameReader reader;
  for (frames = 0; !input.empty();) {
    const auto space = reader.space();
    if (space.empty()) return "a reader without space";
    const auto piece = input.first(std::min({step, input.size(), space.size()}));
    std::copy(piece.begin(), piece.end(), space.begin());
    reader.received(piece.size());
    input = input.subspan(piece.size());
    for (;;) {
      const auto frame = reader.next();
      if (!frame) return std::nullopt;
      if (!*frame) break;
      ++frames;
      if (auto finding = check_frame(**frame)) return finding;
    }
  }
  return std::nullopt;
}

// What the server says is read by a client: it must be sound frames without exception.
Finding converse(std::span<const std::byte> input, std::optional<SealKey> server_key) {
  FaultSchedule faults;
  ServerLimits limits;
  limits.requests_per_connection = 8;
  const bool is_plain = !server_key;
  Conversation server(*small_contents(), limits, std::move(server_key), Bytes32{}, faults);
  FrameReader client;
  std::vector<std::byte> out;
  for (std::size_t steps = 0; steps < kStepsMax; ++steps) {
    if (!input.empty()) {
      const auto space = server.space();
      if (space.empty()) return "a server without space";
      const auto piece = input.first(std::min(input.size(), space.size()));
      std::copy(piece.begin(), piece.end(), space.begin());
      input = input.subspan(piece.size());
      if (!server.received(piece.size())) input = {};
    }
    out.clear();
    const NextStep next = server.produce(out);
    if (out.size() > limits.bytes_ahead + limits.control_bytes + 4 * kPayloadMax)
      return "the server says more at once than it may";
    for (std::span<const std::byte> said = out; is_plain && !said.empty();) {
      const auto space = client.space();
      const auto piece = said.first(std::min(said.size(), space.size()));
      std::copy(piece.begin(), piece.end(), space.begin());
      client.received(piece.size());
      said = said.subspan(piece.size());
      for (;;) {
        const auto frame = client.next();
        if (!frame) return "the server's frame is broken: " + frame.error().what;
        if (!*frame) break;
        if (auto finding = check_frame(**frame)) return finding;
      }
    }
    if (next == NextStep::kClose || (next == NextStep::kRead && input.empty())) return std::nullopt;
  }
  return "the server does not come to an end";
}

Finding run(std::span<const std::byte> input) {
  std::size_t whole = 0, in_pieces = 0;
  if (auto finding = read_as_client(input, input.size(), whole)) return finding;
  if (auto finding = read_as_client(input, 7, in_pieces)) return finding;
  if (whole != in_pieces) return "frames depend on how their bytes arrive";
  if (auto finding = converse(input, std::nullopt)) return finding;
  if (auto finding = converse(input, key())) return finding;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  if (const auto catalogue = parse_catalogue(text, "input")) {
    const std::string written = to_json(*catalogue);
    const auto again = parse_catalogue(written, "written");
    if (!again || to_json(*again) != written) return "a catalogue is not written as it was read";
  }
  return std::nullopt;
}

Bytes bytes_of(std::initializer_list<std::pair<FrameType, MessageBytes>> frames) {
  FrameWriter writer;
  Bytes out;
  std::uint64_t request = 0;
  for (const auto& [type, payload] : frames) {
    const bool is_request = type == FrameType::kGet || type == FrameType::kData ||
                            type == FrameType::kDone || type == FrameType::kCancel;
    if (type == FrameType::kGet || type == FrameType::kData) ++request;
    writer.write(type, is_request ? request : 0, payload, out);
  }
  return out;
}

std::vector<Bytes> seeds() {
  const Get whole{.context = kTestContext, .chunk = 1, .level = 1};
  Get part = whole;
  part.layers = LayerRange{.first = 1, .count = 1};
  part.offset = 10;
  part.length = 100;
  Get beyond = whole;
  beyond.beyond = 0;
  const Get text{.context = kTestContext, .what = GetWhat::kText};
  const Get catalogue{.context = kTestContext, .what = GetWhat::kCatalogue};
  MessageBytes data(kDataPrefixBytes + 20);
  write_data_prefix(5, data);
  Catalogue small = small_contents()->find(ContextId{kTestContext})->catalogue();
  // Measured: another time in every run, and seeds are always the same.
  small.host = "host";
  for (ChunkEntry& chunk : small.chunks) {
    for (ChunkVersion& version : chunk.versions) version.decode_time = nanoseconds(1000);
  }
  const std::string json = to_json(small);
  const auto json_bytes = std::as_bytes(std::span(json));
  return {bytes_of({{FrameType::kHello, to_bytes(Hello{})},
                    {FrameType::kGet, to_bytes(whole)},
                    {FrameType::kGet, to_bytes(part)},
                    {FrameType::kCancel, {}},
                    {FrameType::kPing, ping_bytes(3)},
                    {FrameType::kClose, {}}}),
          bytes_of({{FrameType::kHello, to_bytes(Hello{})},
                    {FrameType::kGet, to_bytes(catalogue)},
                    {FrameType::kGet, to_bytes(text)},
                    {FrameType::kGet, to_bytes(beyond)}}),
          bytes_of({{FrameType::kHello, to_bytes(Hello{})},
                    {FrameType::kProve, MessageBytes(sizeof(Bytes32))}}),
          bytes_of({{FrameType::kHelloReply, to_bytes(HelloReply{})},
                    {FrameType::kData, data},
                    {FrameType::kDone, to_bytes(Done{.selection_bytes = 25})},
                    {FrameType::kFail, to_bytes(Fail{.words = "no"})},
                    {FrameType::kPong, ping_bytes(3)}}),
          Bytes(json_bytes.begin(), json_bytes.end())};
}

// Changes one frame's payload and makes its length and checksum right, so that the message behind
// them is reached; or anything at all.
void mutate(Bytes& input, std::size_t bytes_max, std::uint64_t seed, const MutateBytes& change) {
  RandomStream random(seed);
  FrameReader reader;
  if (input.size() > reader.space().size() || random.bernoulli(0.2))
    return change(input, bytes_max);
  std::copy(input.begin(), input.end(), reader.space().begin());
  reader.received(input.size());
  std::vector<std::pair<Frame, Bytes>> frames;
  for (auto frame = reader.next(); frame && *frame; frame = reader.next())
    frames.emplace_back(**frame, Bytes((*frame)->payload.begin(), (*frame)->payload.end()));
  if (frames.empty()) return change(input, bytes_max);
  auto& [frame, payload] = frames[random.below(frames.size())];
  const auto doubled = frames[random.below(frames.size())];
  if (random.bernoulli(0.7)) change(payload, kRequestPayloadMax);
  if (random.bernoulli(0.2)) frame.request = random.below(4);
  if (random.bernoulli(0.2)) frame.type = static_cast<FrameType>(1 + random.below(11));
  if (random.bernoulli(0.3)) frames.push_back(doubled);
  FrameWriter writer;
  Bytes out;
  for (const auto& [header, bytes] : frames) writer.write(header.type, header.request, bytes, out);
  out.resize(std::min(out.size(), bytes_max));
  input = std::move(out);
}

}  // namespace

Target emu_protocol_target() {
  return {.name = "emu-protocol", .run = run, .seeds = seeds, .mutate = mutate};
}

}  // namespace sluice::fuzz
