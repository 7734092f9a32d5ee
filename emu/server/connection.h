// One client's socket: feeds a Conversation and sends what it makes, no faster than the client
// takes it. Private to emu/server. A connection keeps itself alive by its pending operations; when
// there are none left, or the io_context goes, so does it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <utility>  // before Boost 1.74's asio, which forgets it
#include <vector>

#include <boost/asio.hpp>

#include "emu/server/conversation.h"

namespace sluice {

// Shared by all connections of a server.
struct ServerTotals {
  std::atomic<std::int64_t> connections = 0, refused = 0, open = 0, requests = 0,
                            protocol_errors = 0, bytes_sent = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The socket's executor is a strand of its own. `contents` is kept, the others outlive it.
  Connection(boost::asio::ip::tcp::socket socket, std::shared_ptr<const Contents> contents,
             const ServerLimits& limits, std::optional<SealKey> key, const Bytes32& nonce,
             FaultSchedule& faults, ServerTotals& totals);
  ~Connection();
  void start();

 private:
  void read();
  void on_read(const boost::system::error_code& error, std::size_t count);
  void pump();
  void send();
  void on_sent(const boost::system::error_code& error, std::size_t count);
  void wait(Duration time);
  void watch();
  [[nodiscard]] Duration patience() const;
  void leave();
  void drain();
  void reset();
  void close();

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer watchdog_, pause_;
  std::shared_ptr<const Contents> contents_;
  ServerLimits limits_;
  Conversation conversation_;
  ServerTotals& totals_;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  // of out_
  std::array<std::byte, 4096> discarded_;
  bool reading_ = false, sending_ = false;
  bool half_open_ = false, leaving_ = false, closed_ = false;
  std::chrono::steady_clock::time_point active_at_ = std::chrono::steady_clock::now();
};

}  // namespace sluice
