#include "sim/ns3/tcp_connection.h"

#include <ns3/packet.h>

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

// Takes all that is there in order.
DataSize drain(ns3::Ptr<ns3::Socket> socket) {
  DataSize taken;
  while (socket->GetRxAvailable() > 0) {
    const ns3::Ptr<ns3::Packet> packet = socket->Recv();
    if (!packet || packet->GetSize() == 0) break;
    taken += DataSize::bytes(packet->GetSize());
  }
  return taken;
}

void send(ns3::TcpSocketBase& socket, DataSize bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.bytes());
  const int taken = socket.Send(ns3::Create<ns3::Packet>(size), 0);
  SLUICE_ASSERT(taken == static_cast<int>(size), "ns-3's socket took less than it has room for");
}

void forget_callbacks(ns3::Socket& socket) {
  using SocketCallback = ns3::Callback<void, ns3::Ptr<ns3::Socket>>;
  socket.SetConnectCallback(SocketCallback(), SocketCallback());
  socket.SetCloseCallbacks(SocketCallback(), SocketCallback());
  socket.SetRecvCallback(SocketCallback());
  socket.SetDataSentCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>, std::uint32_t>());
}

}  // namespace

TcpConnection::TcpConnection(const Clock& clock, ns3::Ptr<ns3::TcpSocketBase> client, Events events)
    : clock_(clock), client_(client), events_(std::move(events)) {
  client_->SetConnectCallback(ns3::MakeCallback(&TcpConnection::on_connected, this),
                              ns3::MakeCallback(&TcpConnection::on_failed, this));
  client_->SetCloseCallbacks(ns3::Callback<void, ns3::Ptr<ns3::Socket>>(),
                             ns3::MakeCallback(&TcpConnection::on_failed, this));
  client_->SetRecvCallback(ns3::MakeCallback(&TcpConnection::on_client_data, this));
  client_->TraceConnectWithoutContext("State",
                                      ns3::MakeCallback(&TcpConnection::on_client_state, this));
}

TcpConnection::~TcpConnection() {
  client_->TraceDisconnectWithoutContext("State",
                                         ns3::MakeCallback(&TcpConnection::on_client_state, this));
  forget_callbacks(*client_);
  if (!server_) return;
  server_->TraceDisconnectWithoutContext("State",
                                         ns3::MakeCallback(&TcpConnection::on_server_state, this));
  forget_callbacks(*server_);
}

void TcpConnection::connect(const ns3::InetSocketAddress& own,
                            const ns3::InetSocketAddress& server) {
  client_->Bind(own);
  const int begun = client_->Connect(server);
  SLUICE_ASSERT(begun == 0, "ns-3 found no route for a connection");
}

void TcpConnection::accept(ns3::Ptr<ns3::TcpSocketBase> server, const SenderSetting& setting) {
  server_ = server;
  is_serving_ = true;
  window_ = set_congestion_control(*server, setting);
  server->SetCloseCallbacks(ns3::MakeCallback(&TcpConnection::on_server_told_to_close, this),
                            ns3::MakeCallback(&TcpConnection::on_failed, this));
  server->SetRecvCallback(ns3::MakeCallback(&TcpConnection::on_server_data, this));
  server->SetDataSentCallback(ns3::MakeCallback(&TcpConnection::on_sent, this));
  server->TraceConnectWithoutContext("State",
                                     ns3::MakeCallback(&TcpConnection::on_server_state, this));
  last_sent_ = clock_.now();
  on_server_data(server);  // a request may have come with the handshake's end
  events_.on_room();
}

void TcpConnection::send_request(DataSize bytes) {
  if (!is_broken_) send(*client_, bytes);
}

void TcpConnection::send_data(DataSize bytes) {
  unsent_ += bytes;
  send(*server_, bytes);
}

void TcpConnection::close() {
  client_->Close();
}

void TcpConnection::restart_after(Duration round_trip, Duration idle_timeout) {
  if (!window_ || unsent_ > DataSize::zero() || window_->m_bytesInFlight.Get() > 0) return;
  const Duration measured{window_->m_lastRtt.Get().GetNanoSeconds()};
  const Duration timeout = std::max(round_trip, measured) + idle_timeout;
  if (timeout > Duration::zero()) restart_window(*window_, (clock_.now() - last_sent_) / timeout);
}

void TcpConnection::on_connected(ns3::Ptr<ns3::Socket> /*socket*/) {
  events_.on_open();
}

void TcpConnection::on_failed(ns3::Ptr<ns3::Socket> socket) {
  is_broken_ = true;
  is_serving_ = false;
  (socket == client_ ? client_closed_ : server_closed_) = true;
  events_.on_broken();
  if (is_finished()) events_.on_finished();
}

void TcpConnection::on_client_data(ns3::Ptr<ns3::Socket> socket) {
  const DataSize taken = drain(socket);
  if (taken > DataSize::zero()) events_.on_data(taken);
}

void TcpConnection::on_server_data(ns3::Ptr<ns3::Socket> socket) {
  const DataSize taken = drain(socket);
  if (taken > DataSize::zero()) events_.on_request_bytes(taken);
}

void TcpConnection::on_sent(ns3::Ptr<ns3::Socket> /*socket*/, std::uint32_t bytes) {
  unsent_ -= std::min(unsent_, DataSize::bytes(bytes));  // the closing FIN counts as one more
  last_sent_ = clock_.now();
  if (unsent_ * 2 <= kUnsentMax) events_.on_room();
}

void TcpConnection::on_server_told_to_close(ns3::Ptr<ns3::Socket> socket) {
  is_serving_ = false;
  socket->Close();
}

void TcpConnection::on_client_state(ns3::TcpSocket::TcpStates_t /*before*/,
                                    ns3::TcpSocket::TcpStates_t now) {
  if (now != ns3::TcpSocket::CLOSED) return;
  client_closed_ = true;
  if (is_finished()) events_.on_finished();
}

void TcpConnection::on_server_state(ns3::TcpSocket::TcpStates_t /*before*/,
                                    ns3::TcpSocket::TcpStates_t now) {
  if (now != ns3::TcpSocket::CLOSED) return;
  server_closed_ = true;
  if (is_finished()) events_.on_finished();
}

}  // namespace sluice
