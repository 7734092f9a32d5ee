#include "emu/protocol/handshake.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "emu/protocol/session_keys.h"

namespace sluice {
namespace {

constexpr std::size_t kProofBytes = sizeof(Bytes32);

Error refused(const std::string& what, const std::string& fix) {
  return error_in("", what, fix);
}

// Hello and HelloReply as both sides saw them, without the proof at the reply's end.
MessageBytes transcript_of(const MessageBytes& hello, const MessageBytes& reply) {
  MessageBytes transcript = hello;
  transcript.insert(transcript.end(), reply.begin(), reply.end() - kProofBytes);
  return transcript;
}

void wipe(SessionKeys& keys) {
  OPENSSL_cleanse(&keys, sizeof keys);
}

}  // namespace

ClientHandshake::ClientHandshake(std::optional<SealKey> key, const Bytes32& nonce)
    : key_(std::move(key)), nonce_(nonce), hello_(to_bytes(Hello{.nonce = nonce})) {}

std::vector<std::byte> ClientHandshake::hello() const {
  std::vector<std::byte> out;
  FrameWriter().write(FrameType::kHello, 0, hello_, out);
  return out;
}

Status ClientHandshake::on_reply(const Frame& frame, FrameReader& reader, FrameWriter& writer,
                                 std::vector<std::byte>& out) {
  if (frame.type == FrameType::kFail) {
    const auto fail = parse_fail(frame.payload);
    if (!fail) return fail.error();
    return refused(fmt::format("the server refuses ({}): {}", to_text(fail->code), fail->words),
                   "use a client of the server's version");
  }
  if (frame.type != FrameType::kHelloReply || frame.request != 0)
    return refused("the server does not begin with HelloReply", "check address and port");
  const auto reply = parse_hello_reply(frame.payload);
  if (!reply) return reply.error();
  if (reply->version != kProtocolVersion) {
    return refused(fmt::format("the server speaks version {}", reply->version),
                   "use a client of the server's version");
  }
  if (reply->needs_key != key_.has_value()) {
    return key_ ? refused("the server asks for no key", "connect without --key, if it may be so")
                : refused("the server asks for a key", "give the server's key with --key FILE");
  }
  done_ = true;
  if (!key_) return {};
  const auto transcript =
      transcript_of(hello_, MessageBytes(frame.payload.begin(), frame.payload.end()));
  if (!same_proof(proof_of(*key_, "server", transcript), reply->proof)) {
    done_ = false;
    return refused("the server does not hold this key", "give both sides the same key file");
  }
  writer.write(FrameType::kProve, 0, proof_of(*key_, "client", transcript), out);
  SessionKeys keys = session_keys(*key_, nonce_, reply->nonce, transcript);
  writer.seal_with(RecordSealer(keys.to_server));
  reader.open_with(RecordOpener(keys.to_client));
  wipe(keys);
  return {};
}

ServerHandshake::ServerHandshake(std::optional<SealKey> key, const Bytes32& nonce)
    : key_(std::move(key)), nonce_(nonce) {}

Status ServerHandshake::on_frame(const Frame& frame, FrameReader& reader, FrameWriter& writer,
                                 std::vector<std::byte>& out) {
  if (frame.request != 0)
    return refused("a request before the handshake is over", "say Hello first");
  if (transcript_.empty() && frame.type == FrameType::kHello) return on_hello(frame, writer, out);
  if (!transcript_.empty() && frame.type == FrameType::kProve)
    return on_prove(frame, reader, writer);
  return refused("a frame that has no place in the handshake", "say Hello, then prove the key");
}

Status ServerHandshake::on_hello(const Frame& frame, FrameWriter& writer,
                                 std::vector<std::byte>& out) {
  const auto hello = parse_hello(frame.payload);
  if (!hello) return hello.error();
  if (hello->version_min > kProtocolVersion || hello->version_max < kProtocolVersion) {
    const auto words = fmt::format("this server speaks version {}", kProtocolVersion);
    writer.write(FrameType::kFail, 0, to_bytes(Fail{.code = FailCode::kVersion, .words = words}),
                 out);
    return refused("a client of another version", words);
  }
  client_nonce_ = hello->nonce;
  HelloReply reply{.needs_key = key_.has_value(), .nonce = nonce_};
  transcript_ =
      transcript_of(MessageBytes(frame.payload.begin(), frame.payload.end()), to_bytes(reply));
  if (key_) reply.proof = proof_of(*key_, "server", transcript_);
  writer.write(FrameType::kHelloReply, 0, to_bytes(reply), out);
  done_ = !key_;
  return {};
}

Status ServerHandshake::on_prove(const Frame& frame, FrameReader& reader, FrameWriter& writer) {
  if (!same_proof(proof_of(*key_, "client", transcript_), frame.payload))
    return refused("a client without the key", "give both sides the same key file");
  SessionKeys keys = session_keys(*key_, client_nonce_, nonce_, transcript_);
  writer.seal_with(RecordSealer(keys.to_client));
  reader.open_with(RecordOpener(keys.to_server));
  wipe(keys);
  done_ = true;
  return {};
}

}  // namespace sluice
