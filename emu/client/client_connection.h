// One connection to a server that heals itself: it is made when something is asked for, made again
// when it breaks, and what was asked for goes on where it stopped.
// Where in the flow: between the frames of emu/protocol and SocketNetwork.
// Surprises: requests are numbered by the caller; a server that is silent for too long counts as a
// broken connection; a server that refuses the connection for good is not asked again.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>  // before Boost 1.74's asio, which forgets it
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "emu/client/client_socket.h"
#include "emu/clock/real_clock.h"
#include "emu/protocol/frames.h"
#include "emu/protocol/handshake.h"
#include "emu/protocol/messages.h"
#include "sim/net/network.h"

namespace sluice {

// Without one byte of an answer.
struct PatienceLimits {
  // Silence of a connection until it is given up for a new one; longer than any outage that a run
  // shall live through.
  Duration stall_time = std::chrono::seconds{2};
  Duration backoff_first = std::chrono::milliseconds{10};  // doubled after each attempt
  Duration backoff_max = std::chrono::milliseconds{500};
  int attempts = 10;                                // of connecting, in a row
  Duration give_up_time = std::chrono::seconds{8};  // of all of them
};

// Who asked. Called from the clock's thread, never from inside ask(), cancel() or close().
class ReplyReceiver {
 public:
  virtual ~ReplyReceiver() = default;
  // In order and without gaps, within the range asked for.
  virtual void on_reply_bytes(std::uint64_t request, std::uint64_t offset,
                              std::span<const std::byte> bytes) = 0;
  // The reply ended; it may be shorter than what was asked for.
  virtual void on_reply_end(std::uint64_t request, std::uint64_t selection_bytes) = 0;
  virtual void on_reply_lost(std::uint64_t request, TransferFailure why,
                             const std::string& words) = 0;
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  ClientConnection(RealClock& clock, ServerPlace server, PatienceLimits limits,
                   ReplyReceiver& receiver);
  // `request` > 0, used once.
  void ask(std::uint64_t request, const Get& get);
  // Nothing more comes of it. Unknown ones: nothing happens.
  void cancel(std::uint64_t request);
  // For good: nothing more comes of anything.
  void close();
  [[nodiscard]] std::optional<Duration> round_trip() const;

 private:
  enum class State { kIdle, kConnecting, kGreeting, kOpen, kPausing, kClosed };
  struct Asked {
    std::uint64_t request = 0;
    Get get;
    std::uint64_t received = 0;
    bool sent = false;
  };

  void connect();
  void on_connected();
  void receive();
  void handle_frames();
  [[nodiscard]] Status handle(const Frame& frame);
  [[nodiscard]] Status on_ping(const Frame& frame);
  [[nodiscard]] Status on_data(const Frame& frame);
  [[nodiscard]] Status on_done(const Frame& frame);
  [[nodiscard]] Status on_fail(const Frame& frame);
  void send_requests();
  void flush();
  void watch();
  void break_off(TransferFailure why, std::string words);
  void lose_all(TransferFailure why, const std::string& words);
  void drop_socket();
  void note_progress();
  [[nodiscard]] std::deque<Asked>::iterator find(std::uint64_t request);

  RealClock& clock_;
  ServerPlace server_;
  PatienceLimits limits_;
  ReplyReceiver& receiver_;

  State state_ = State::kIdle;
  std::uint64_t generation_ = 0;  // of the socket: handlers of an older one do nothing
  std::optional<boost::asio::ip::tcp::socket> socket_;
  std::optional<FrameReader> reader_;
  FrameWriter writer_;
  std::optional<ClientHandshake> handshake_;
  std::vector<std::byte> to_send_, sending_;

  std::deque<Asked> asked_;            // in order; those that were sent come first
  std::set<std::uint64_t> cancelled_;  // on this socket, and not yet answered
  int attempts_ = 0;                   // without progress
  Instant last_heard_, last_progress_;
  std::optional<TimerId> watch_, pause_;
};

}  // namespace sluice
