// Frames and messages come back as they went; whatever is cut, flipped, forged or repeated is
// found.
#include <gmock/gmock.h>

#include "emu/protocol/handshake.h"
#include "emu/protocol/messages.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;

Bytes32 filled(int value) {
  Bytes32 bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

Bytes text(std::string_view words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

// A frame kept beyond its reader.
struct Kept {
  FrameType type;
  std::uint64_t request;
  Bytes payload;
  bool operator==(const Kept&) const = default;
};

// All frames of `bytes`, `step` bytes at a time; `error` says what the reader found.
std::vector<Kept> read_frames(FrameReader& reader, std::span<const std::byte> bytes,
                              std::size_t step, std::string* error = nullptr) {
  std::vector<Kept> frames;
  while (!bytes.empty()) {
    const auto space = reader.space();
    const std::size_t count = std::min({step, bytes.size(), space.size()});
    std::copy_n(bytes.begin(), count, space.begin());
    bytes = bytes.subspan(count);
    reader.received(count);
    for (;;) {
      const auto frame = reader.next();
      if (!frame) {
        if (error != nullptr) *error = frame.error().what;
        return frames;
      }
      if (!*frame) break;
      frames.push_back({(*frame)->type, (*frame)->request,
                        Bytes((*frame)->payload.begin(), (*frame)->payload.end())});
    }
  }
  return frames;
}

Bytes some_frames(FrameWriter& writer) {
  Bytes out;
  writer.write(FrameType::kPing, 0, ping_bytes(7), out);
  writer.write(FrameType::kClose, 0, {}, out);
  writer.write(FrameType::kGet, 3, to_bytes(Get{.context = 1, .chunk = 2, .level = 4}), out);
  return out;
}

const std::vector<Kept>& expected_frames() {
  static const std::vector<Kept> frames = {
      {FrameType::kPing, 0, ping_bytes(7)},
      {FrameType::kClose, 0, {}},
      {FrameType::kGet, 3, to_bytes(Get{.context = 1, .chunk = 2, .level = 4})}};
  return frames;
}

TEST(Frames, ComeBackHoweverTheBytesArrive) {
  FrameWriter writer;
  const Bytes bytes = some_frames(writer);
  for (std::size_t step = 1; step <= bytes.size(); ++step) {
    FrameReader reader(kRequestPayloadMax);
    EXPECT_EQ(read_frames(reader, bytes, step), expected_frames()) << step << " bytes at a time";
    EXPECT_EQ(reader.pending(), 0U);
  }
}

TEST(Frames, OfTheLargestSizeFlowThroughABoundedBuffer) {
  FrameWriter writer;
  Bytes bytes;
  const Bytes payload(kPayloadMax, std::byte{5});
  for (std::uint64_t request = 1; request <= 20; ++request)
    writer.write(FrameType::kData, request, payload, bytes);
  FrameReader reader;
  const auto frames = read_frames(reader, bytes, 50'000);
  ASSERT_EQ(frames.size(), 20U);
  EXPECT_EQ(frames[19], (Kept{FrameType::kData, 20, payload}));
}

TEST(Frames, OfAnyCutAreNotAFrameAndNotAnError) {
  FrameWriter writer;
  Bytes bytes;
  writer.write(FrameType::kPing, 0, ping_bytes(7), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FrameReader reader;
    std::string error;
    EXPECT_TRUE(read_frames(reader, std::span(bytes).first(size), size + 1, &error).empty());
    EXPECT_EQ(error, "");
    EXPECT_EQ(reader.pending(), size);
  }
}

TEST(Frames, WithAnyFlippedBitGiveNoFrame) {
  FrameWriter writer;
  Bytes bytes;
  writer.write(FrameType::kPing, 0, ping_bytes(7), bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    FrameReader reader;
    EXPECT_TRUE(read_frames(reader, damaged, damaged.size()).empty()) << "bit " << bit;
  }
}

TEST(Frames, LongerThanTheReaderTakesAreRefusedFromTheirHeader) {
  FrameWriter writer;
  Bytes bytes;
  writer.write(FrameType::kGet, 1, Bytes(kRequestPayloadMax + 1), bytes);
  FrameReader reader(kRequestPayloadMax);
  std::string error;
  read_frames(reader, std::span(bytes).first(kFrameHeaderBytes), 100, &error);
  EXPECT_EQ(error, "a frame of 513 bytes, above 512");
}

TEST(Messages, ComeBackAsTheyWent) {
  const Get get{.context = 9,
                .what = GetWhat::kChunk,
                .chunk = 3,
                .level = 2,
                .beyond = 1,
                .layers = LayerRange{.first = 4, .count = 8},
                .offset = 100,
                .length = 7};
  const auto read = parse_get(to_bytes(get));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_bytes(*read), to_bytes(get));
  EXPECT_EQ(read->layers->count, 8U);
  EXPECT_EQ(parse_hello(to_bytes(Hello{.nonce = filled(3)}))->nonce, filled(3));
  EXPECT_TRUE(parse_hello_reply(to_bytes(HelloReply{.needs_key = true}))->needs_key);
  EXPECT_EQ(parse_done(to_bytes(Done{.selection_bytes = 12}))->selection_bytes, 12U);
  const auto fail = parse_fail(to_bytes(Fail{.code = FailCode::kStorage, .words = "no disk"}));
  EXPECT_EQ(fail->code, FailCode::kStorage);
  EXPECT_EQ(fail->words, "no disk");
}

TEST(Messages, OfAnyOtherLengthAreRefused) {
  const auto refuses = [](const Bytes& sound, const auto& parse) {
    for (std::size_t size = 0; size < sound.size(); ++size) {
      if (parse(std::span(sound).first(size)).ok()) return false;
    }
    Bytes longer = sound;
    longer.push_back({});
    return parse(sound).ok() && !parse(longer).ok();
  };
  EXPECT_TRUE(refuses(to_bytes(Hello{}), parse_hello));
  EXPECT_TRUE(refuses(to_bytes(HelloReply{}), parse_hello_reply));
  EXPECT_TRUE(refuses(to_bytes(Get{}), parse_get));
  EXPECT_TRUE(refuses(to_bytes(Done{}), parse_done));
  EXPECT_TRUE(refuses(ping_bytes(1), parse_ping));
}

TEST(Messages, WithFieldsThatDoNotCountAreRefused) {
  Bytes get = to_bytes(Get{.what = GetWhat::kText, .chunk = 1});
  get[16] = std::byte{1};  // a text has no level
  EXPECT_FALSE(parse_get(get).ok());
  EXPECT_FALSE(parse_get(to_bytes(Get{.layers = LayerRange{}})).ok()) << "no layers";
  EXPECT_FALSE(parse_get(to_bytes(Get{.what = GetWhat::kCatalogue, .beyond = 1})).ok());
}

// Both sides of a handshake, as bytes.
struct Ends {
  FrameReader client_reader, server_reader{kRequestPayloadMax};
  FrameWriter client_writer, server_writer;
  ClientHandshake client;
  ServerHandshake server;
  Bytes hello, reply, proof;

  Ends(std::optional<SealKey> client_key, std::optional<SealKey> server_key,
       const Bytes32& client_nonce = filled(1), const Bytes32& server_nonce = filled(2))
      : client(std::move(client_key), client_nonce), server(std::move(server_key), server_nonce) {}

  static Frame one(FrameReader& reader, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), reader.space().begin());
    reader.received(bytes.size());
    return **reader.next();
  }
  Status say_hello() {
    hello = client.hello();
    return server.on_frame(one(server_reader, hello), server_reader, server_writer, reply);
  }
  Status take_reply() {
    return client.on_reply(one(client_reader, reply), client_reader, client_writer, proof);
  }
  Status prove() {
    Bytes out;
    return server.on_frame(one(server_reader, proof), server_reader, server_writer, out);
  }
};

const SealKey kKey(filled(7)), kOtherKey(filled(8));

TEST(Authentication, WithTheSameKeySealsBothDirections) {
  Ends ends(kKey, kKey);
  ASSERT_TRUE(ends.say_hello().ok());
  EXPECT_FALSE(ends.server.done());
  ASSERT_TRUE(ends.take_reply().ok());
  ASSERT_TRUE(ends.prove().ok());
  EXPECT_TRUE(ends.client.done() && ends.server.done());
  const Bytes up = some_frames(ends.client_writer), down = some_frames(ends.server_writer);
  EXPECT_EQ(read_frames(ends.server_reader, up, 10), expected_frames());
  EXPECT_EQ(read_frames(ends.client_reader, down, 10), expected_frames());
  EXPECT_EQ(up.size(), 3 * (kRecordLengthBytes + kRecordTagBytes + kFrameHeaderBytes) + 8 + 48);
  EXPECT_NE(up, down) << "each direction has a key of its own";
}

TEST(Authentication, RefusesAServerWithAnotherKeyBeforeAnythingIsProven) {
  Ends ends(kKey, kOtherKey);
  ASSERT_TRUE(ends.say_hello().ok());
  EXPECT_EQ(ends.take_reply().error().what, "the server does not hold this key");
  EXPECT_TRUE(ends.proof.empty());
}

TEST(Authentication, RefusesAClientWithAnotherKey) {
  Ends ends(kKey, kKey);
  ASSERT_TRUE(ends.say_hello().ok());
  FrameWriter().write(FrameType::kProve, 0, filled(9), ends.proof);
  EXPECT_EQ(ends.prove().error().what, "a client without the key");
  EXPECT_FALSE(ends.server.done());
}

TEST(Authentication, RefusesARecordedProofOnAnotherConnection) {
  Ends recorded(kKey, kKey, filled(1), filled(2));
  ASSERT_TRUE(recorded.say_hello().ok() && recorded.take_reply().ok());
  Ends later(kKey, kKey, filled(1), filled(3));
  ASSERT_TRUE(later.say_hello().ok());
  later.proof = recorded.proof;
  EXPECT_FALSE(later.prove().ok());
}

TEST(Authentication, RefusesTheServersOwnProofSentBack) {
  Ends ends(kKey, kKey);
  ASSERT_TRUE(ends.say_hello().ok());
  const auto reply = parse_hello_reply(std::span(ends.reply).subspan(kFrameHeaderBytes));
  FrameWriter().write(FrameType::kProve, 0, reply->proof, ends.proof);
  EXPECT_FALSE(ends.prove().ok());
}

TEST(Authentication, IsNotTalkedDown) {
  Ends asks_none(kKey, std::nullopt);
  ASSERT_TRUE(asks_none.say_hello().ok());
  EXPECT_EQ(asks_none.take_reply().error().what, "the server asks for no key");
  Ends has_none(std::nullopt, kKey);
  ASSERT_TRUE(has_none.say_hello().ok());
  EXPECT_EQ(has_none.take_reply().error().what, "the server asks for a key");
}

TEST(Authentication, WithoutKeysNeedsNoProof) {
  Ends ends(std::nullopt, std::nullopt);
  ASSERT_TRUE(ends.say_hello().ok() && ends.take_reply().ok());
  EXPECT_TRUE(ends.client.done() && ends.server.done());
  EXPECT_TRUE(ends.proof.empty());
}

TEST(Authentication, AnswersAnotherVersionInWords) {
  ServerHandshake server(std::nullopt, filled(2));
  FrameReader reader;
  FrameWriter writer;
  Bytes hello, out;
  FrameWriter().write(FrameType::kHello, 0, to_bytes(Hello{.version_min = 2, .version_max = 9}),
                      hello);
  EXPECT_FALSE(server.on_frame(Ends::one(reader, hello), reader, writer, out).ok());
  FrameReader answer;
  const auto fail = parse_fail(Ends::one(answer, out).payload);
  EXPECT_EQ(fail->code, FailCode::kVersion);
  EXPECT_EQ(fail->words, "this server speaks version 1");
}

class SealedRecords : public testing::Test {
 protected:
  // Three records of one sealer, as an opener of the same key gets them.
  static std::vector<Kept> read(const Bytes& bytes, std::string* error = nullptr) {
    FrameReader reader;
    reader.open_with(RecordOpener(filled(4)));
    return read_frames(reader, bytes, bytes.size(), error);
  }
  Bytes record(int value) {
    Bytes out;
    writer_.write(FrameType::kPing, 0, ping_bytes(static_cast<std::uint64_t>(value)), out);
    return out;
  }
  void SetUp() override { writer_.seal_with(RecordSealer(filled(4))); }
  static Bytes joined(std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  FrameWriter writer_;
};

TEST_F(SealedRecords, OpenInTheirOrderOnly) {
  const Bytes a = record(1), b = record(2), c = record(3);
  std::string error;
  EXPECT_EQ(read(joined({a, b, c})).size(), 3U);
  EXPECT_EQ(read(joined({a, a}), &error).size(), 1U) << "repeated";
  EXPECT_EQ(error, "a sealed frame does not open");
  EXPECT_EQ(read(joined({a, c})).size(), 1U) << "one left out";
  EXPECT_EQ(read(joined({b, a})).size(), 0U) << "moved";
}

TEST_F(SealedRecords, WithAnyFlippedBitDoNotOpen) {
  const Bytes sound = record(1);
  for (std::size_t bit = 0; bit < sound.size() * 8; ++bit) {
    Bytes damaged = sound;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_TRUE(read(damaged).empty()) << "bit " << bit;
  }
}

TEST_F(SealedRecords, HideWhatTheySay) {
  Bytes out;
  writer_.write(FrameType::kFail, 0, to_bytes(Fail{.words = "a secret of many letters"}), out);
  const Bytes secret = text("secret");
  EXPECT_EQ(std::search(out.begin(), out.end(), secret.begin(), secret.end()), out.end());
}

}  // namespace
}  // namespace sluice
