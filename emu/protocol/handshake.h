// The first frames of a connection: versions, and with a key a mutual proof and the session's keys.
// Where in the flow: before any request; afterwards reader and writer are switched to sealed
// records. What is proven against whom: spec.md.
// Surprise: without a key a client may send requests right behind its Hello, so the handshake costs
// no round trip; with one it waits for the reply, checks it, and sends them behind its proof.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "codec/container/seal.h"
#include "emu/protocol/messages.h"

namespace sluice {

class ClientHandshake {
 public:
  // `nonce` is random_bytes() of codec/container/seal.h, new for each connection.
  ClientHandshake(std::optional<SealKey> key, const Bytes32& nonce);
  // The bytes to be sent first.
  [[nodiscard]] std::vector<std::byte> hello() const;
  // The server's first frame. With a key appends the proof to `out`, to be sent next, and switches
  // `reader` and `writer` to sealed records. Errors: not a HelloReply (a Fail: its words), another
  // version, a server that has not this key, one that asks for a key which we lack, one that asks
  // for none although we have one.
  [[nodiscard]] Status on_reply(const Frame& frame, FrameReader& reader, FrameWriter& writer,
                                std::vector<std::byte>& out);
  [[nodiscard]] bool done() const { return done_; }

 private:
  std::optional<SealKey> key_;
  Bytes32 nonce_;
  MessageBytes hello_;
  bool done_ = false;
};

class ServerHandshake {
 public:
  ServerHandshake(std::optional<SealKey> key, const Bytes32& nonce);
  // A client's frame as long as !done(): Hello, then with a key Prove. Appends to `out` what to
  // answer. After an Error the connection ends, with `out` sent first.
  [[nodiscard]] Status on_frame(const Frame& frame, FrameReader& reader, FrameWriter& writer,
                                std::vector<std::byte>& out);
  [[nodiscard]] bool done() const { return done_; }

 private:
  [[nodiscard]] Status on_hello(const Frame& frame, FrameWriter& writer,
                                std::vector<std::byte>& out);
  [[nodiscard]] Status on_prove(const Frame& frame, FrameReader& reader, FrameWriter& writer);

  std::optional<SealKey> key_;
  Bytes32 nonce_, client_nonce_{};
  MessageBytes transcript_;  // Hello and HelloReply without its proof; empty before the Hello
  bool done_ = false;
};

}  // namespace sluice
