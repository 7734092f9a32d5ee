// One TCP connection of ns-3, both its ends: bytes of requests one way, bytes of data the other.
// Where in the flow: several of them make a channel (tcp_channel.h), which knows what the bytes
// mean.
// Surprise: ns-3 calls from inside its socket, so this object must not be destroyed from there.
#pragma once

#include <ns3/inet-socket-address.h>

#include <functional>
#include <optional>

#include "base/clock.h"
#include "sim/ns3/tcp_socket.h"

namespace sluice {

class TcpConnection {
 public:
  // Called from events of ns-3's clock.
  struct Events {
    std::function<void()> on_open;                   // at the receiver of data
    std::function<void(DataSize)> on_request_bytes;  // at the sender, in order
    std::function<void()> on_room;                   // at the sender: it takes more again
    std::function<void(DataSize)> on_data;           // at the receiver, in order
    std::function<void()> on_broken;                 // either end gave up
    std::function<void()> on_finished;               // both ends are closed
  };

  TcpConnection(const Clock& clock, ns3::Ptr<ns3::TcpSocketBase> client, Events events);
  ~TcpConnection();
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  // Of the receiver of data, which is the client.
  void connect(const ns3::InetSocketAddress& own, const ns3::InetSocketAddress& server);
  void send_request(DataSize bytes);  // nothing happens on a broken one
  void close();                       // both directions, once what was given has been sent

  // Of the sender of data.
  void accept(ns3::Ptr<ns3::TcpSocketBase> server, const SenderSetting& setting);
  // What it takes now, beyond what it has not sent yet; nothing once it is closing.
  [[nodiscard]] DataSize room() const {
    return server_ && is_serving_ ? kUnsentMax - unsent_ : DataSize::zero();
  }
  void send_data(DataSize bytes);
  // Before new data: puts the window back if nothing was sent for longer than the last round trip
  // measured, or `round_trip` if that is longer, and `idle_timeout`.
  void restart_after(Duration round_trip, Duration idle_timeout);

  [[nodiscard]] bool is_finished() const { return client_closed_ && (!server_ || server_closed_); }

 private:
  void on_connected(ns3::Ptr<ns3::Socket> socket);
  void on_failed(ns3::Ptr<ns3::Socket> socket);
  void on_client_data(ns3::Ptr<ns3::Socket> socket);
  void on_server_data(ns3::Ptr<ns3::Socket> socket);
  void on_sent(ns3::Ptr<ns3::Socket> socket, std::uint32_t bytes);
  void on_server_told_to_close(ns3::Ptr<ns3::Socket> socket);
  void on_client_state(ns3::TcpSocket::TcpStates_t before, ns3::TcpSocket::TcpStates_t now);
  void on_server_state(ns3::TcpSocket::TcpStates_t before, ns3::TcpSocket::TcpStates_t now);

  const Clock& clock_;
  ns3::Ptr<ns3::TcpSocketBase> client_, server_;  // no server before it accepts
  Events events_;
  ns3::Ptr<ns3::TcpSocketState> window_;  // of the server
  DataSize unsent_;                       // given to the server, not on the link yet
  Instant last_sent_;
  bool is_broken_ = false, is_serving_ = false;
  bool client_closed_ = false, server_closed_ = false;
};

}  // namespace sluice
