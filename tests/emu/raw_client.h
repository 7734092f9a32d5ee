// A client with nothing in it: sends what a test says, returns the frames that come, gives up after
// some seconds.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "codec/container/seal.h"
#include "emu/protocol/handshake.h"
#include "emu/protocol/messages.h"

namespace sluice {

// What became of one request.
struct Outcome {
  std::vector<std::byte> bytes;
  std::optional<Done> done;
  std::optional<Fail> fail;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port, std::optional<SealKey> key = std::nullopt)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{.tv_sec = 20};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor_, reinterpret_cast<sockaddr*>(&place), sizeof place) != 0)
      ADD_FAILURE() << "cannot connect";
    handshake_.emplace(key, *random_bytes());
  }
  ~RawClient() { ::close(descriptor_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False when the server went away.
  bool send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }
  bool send(FrameType type, std::uint64_t request, std::span<const std::byte> payload = {}) {
    std::vector<std::byte> out;
    writer_.write(type, request, payload, out);
    return send(out);
  }
  bool get(std::uint64_t request, const Get& wanted) {
    return send(FrameType::kGet, request, to_bytes(wanted));
  }

  // The next frame; nothing when the connection ended, broke or stood still: see `ended`.
  std::optional<Frame> next() {
    for (;;) {
      const auto frame = reader_.next();
      if (!frame) {
        fault = frame.error().what;
        return std::nullopt;
      }
      if (*frame) return **frame;
      const auto space = reader_.space();
      const ssize_t got = ::recv(descriptor_, space.data(), space.size(), 0);
      if (got <= 0) {
        ended = got == 0;
        was_reset = got < 0 && errno == ECONNRESET;
        return std::nullopt;
      }
      reader_.received(static_cast<std::size_t>(got));
    }
  }

  // Hello, its answer, and with a key the proof.
  Status greet() {
    if (!send(handshake_->hello())) return error_in("", "cannot send", "");
    const auto frame = next();
    if (!frame) return error_in("", "no answer", "");
    std::vector<std::byte> out;
    if (const Status done = handshake_->on_reply(*frame, reader_, writer_, out); !done) return done;
    send(out);
    return {};
  }

  // All frames of request `id` until it is over; frames of others are a failure.
  Outcome outcome_of(std::uint64_t id) {
    Outcome outcome;
    while (const auto frame = next()) {
      EXPECT_EQ(frame->request, id);
      if (frame->type == FrameType::kData) {
        const auto data = parse_data(frame->payload);
        outcome.bytes.insert(outcome.bytes.end(), data->bytes.begin(), data->bytes.end());
      } else if (frame->type == FrameType::kDone) {
        outcome.done = *parse_done(frame->payload);
        return outcome;
      } else if (frame->type == FrameType::kFail) {
        outcome.fail = *parse_fail(frame->payload);
        return outcome;
      }
    }
    return outcome;
  }
  Outcome fetch(std::uint64_t id, const Get& wanted) {
    get(id, wanted);
    return outcome_of(id);
  }

  bool ended = false, was_reset = false;  // in order; by RST
  std::string fault;                      // of the frames

 private:
  int descriptor_;
  FrameReader reader_;
  FrameWriter writer_;
  std::optional<ClientHandshake> handshake_;
};

}  // namespace sluice
