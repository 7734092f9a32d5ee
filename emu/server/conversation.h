// The server's side of one connection, without the socket: bytes in, bytes out.
// Where in the flow: connection.h feeds it from a socket, the fuzzer from a file.
// Surprise: it makes bytes only when asked for some, so that nothing piles up behind a slow client.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emu/contents/contents.h"
#include "emu/protocol/handshake.h"
#include "emu/server/faults.h"
#include "emu/server/limits.h"
#include "emu/server/reply.h"

namespace sluice {

// What to do next with the connection.
enum class NextStep {
  kRead,      // nothing to say until the client says more
  kSend,      // what was appended, then ask again
  kWait,      // a fault: the disk stalls; after wait_time() say stall_over() and ask again
  kClose,     // all is said
  kReset,     // a fault: with RST
  kHalfOpen,  // a fault: neither read nor write any more
};

class Conversation {
 public:
  // Contents and faults outlive it. `nonce`: random_bytes(), new for each connection.
  Conversation(const Contents& contents, const ServerLimits& limits, std::optional<SealKey> key,
               const Bytes32& nonce, FaultSchedule& faults);

  // As FrameReader::space().
  [[nodiscard]] std::span<std::byte> space() { return reader_.space(); }
  // `count` bytes came. After an Error nothing more is read; what produce() still has is sent.
  [[nodiscard]] Status received(std::size_t count);
  // Not after a Close or an Error: what comes then is not looked at, and space() may be empty.
  [[nodiscard]] bool wants_input() const { return !input_ended_ && !failed_; }
  // The client will send no more.
  void input_ended() { input_ended_ = true; }

  // Appends whole frames to `out`, up to about ServerLimits::bytes_ahead.
  [[nodiscard]] NextStep produce(std::vector<std::byte>& out);
  [[nodiscard]] Duration wait_time() const { return wait_time_; }
  void stall_over();
  [[nodiscard]] bool is_stalled() const { return stall_ == Stall::kUnderWay; }

  [[nodiscard]] bool greeted() const { return handshake_.done(); }
  [[nodiscard]] std::int64_t requests_seen() const { return requests_seen_; }

 private:
  struct Request {
    std::uint64_t id = 0;
    Get get;
    std::optional<ServerFault> fault;
    bool cancelled = false;
  };
  [[nodiscard]] Status on_frame(const Frame& frame);
  [[nodiscard]] Status on_get(const Frame& frame);
  [[nodiscard]] Status on_cancel(const Frame& frame);
  void say_fail(std::uint64_t request, const Fail& fail, std::vector<std::byte>& out);
  void finish_request(FrameType type, const MessageBytes& message, std::vector<std::byte>& out);
  [[nodiscard]] std::optional<NextStep> commit_fault() const;
  [[nodiscard]] std::optional<NextStep> answer(std::vector<std::byte>& out);
  void send_data(std::vector<std::byte>& out);
  [[nodiscard]] bool reaches_fault(FaultKind kind, std::int64_t bytes) const;

  const Contents& contents_;
  ServerLimits limits_;
  FaultSchedule& faults_;
  ServerHandshake handshake_;
  FrameReader reader_;
  FrameWriter writer_;
  std::vector<std::byte> control_;  // frames to be sent before the next of a reply
  std::deque<Request> requests_;    // in order; the first one is being answered
  std::optional<Reply> reply_;      // of the first one, once it was opened
  enum class Stall { kNone, kUnderWay, kOver } stall_ = Stall::kNone;  // of the first one
  bool failed_ = false, input_ended_ = false;
  Duration wait_time_{};
  std::int64_t requests_seen_ = 0;
};

}  // namespace sluice
