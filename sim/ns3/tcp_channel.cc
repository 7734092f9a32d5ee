#include "sim/ns3/tcp_channel.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

// Two addresses per channel, from 128.0.0.0 on: room for 800 million channels below the multicast
// addresses, and none of it is the loopback's.
constexpr std::uint32_t kFirstAddress = 0x80000000;
constexpr std::uint32_t kLastAddress = 0xDFFFFFFF;
constexpr std::uint16_t kServerPort = 443;
constexpr std::uint16_t kFirstClientPort = 1024;
constexpr std::int32_t kConnectionsMax = 60'000;
constexpr DataSize kMessage = DataSize::bytes(16);  // a transfer's number and the word

ns3::Ipv4Address address(std::uint64_t channel, std::uint32_t end) {
  const std::uint64_t number = kFirstAddress + channel * 2 + end;
  SLUICE_ASSERT(number <= kLastAddress, "more channels than addresses");
  return ns3::Ipv4Address(static_cast<std::uint32_t>(number));
}

}  // namespace

TcpChannel::TcpChannel(const Clock& clock, IpFabric& fabric, const TransportSpec& transport,
                       const Ends& ends, Owner& owner)
    : clock_(clock),
      fabric_(fabric),
      transport_(transport),
      ends_(ends),
      owner_(owner),
      receiver_address_(address(ends.number, 0)),
      sender_address_(address(ends.number, 1)) {
  fabric_.add_address(receiver_address_, sender_address_, ends_.path->links);
  fabric_.add_address(sender_address_, receiver_address_, ends_.path->back);
  listener_ = make_tcp_socket(*fabric_.tcp(ends_.sender), transport_, ends_.path->framing.payload);
  listener_->Bind(ns3::InetSocketAddress(sender_address_, kServerPort));
  listener_->Listen();
  listener_->SetAcceptCallback(ns3::Callback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                               ns3::MakeCallback(&TcpChannel::on_accept, this));
}

TcpChannel::~TcpChannel() {
  listener_->SetAcceptCallback(ns3::Callback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                               ns3::Callback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>());
  listener_->Close();
  fabric_.remove_address(receiver_address_, ends_.path->links);
  fabric_.remove_address(sender_address_, ends_.path->back);
}

void TcpChannel::open_connection() {
  const std::size_t lane = lanes_.size();
  TcpConnection::Events events;
  events.on_open = [this, lane] { on_open(lane); };
  events.on_request_bytes = [this](DataSize bytes) { on_request_bytes(bytes); };
  events.on_room = [this] { pump(); };
  events.on_data = [this, lane](DataSize bytes) { on_data(lane, bytes); };
  events.on_broken = [this] {
    if (!is_closed_) owner_.on_broken(ends_.number);
  };
  events.on_finished = [this] { on_finished(); };
  const auto socket =
      make_tcp_socket(*fabric_.tcp(ends_.receiver), transport_, ends_.path->framing.payload);
  lanes_.emplace_back().connection =
      std::make_unique<TcpConnection>(clock_, socket, std::move(events));
  const auto port = static_cast<std::uint16_t>(kFirstClientPort + lane);
  lanes_.back().connection->connect(ns3::InetSocketAddress(receiver_address_, port),
                                    ns3::InetSocketAddress(sender_address_, kServerPort));
}

void TcpChannel::on_accept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from) {
  const std::uint16_t port = ns3::InetSocketAddress::ConvertFrom(from).GetPort();
  const std::size_t lane = static_cast<std::size_t>(port) - kFirstClientPort;
  const SenderSetting setting{.congestion = transport_.congestion,
                              .hystart = transport_.hystart,
                              .round_trip = ends_.path->round_trip(),
                              .stream = static_cast<std::uint32_t>(ends_.number * 256 + lane)};
  lanes_[lane].connection->accept(ns3::DynamicCast<ns3::TcpSocketBase>(socket), setting);
}

void TcpChannel::ask(const Question& question) {
  SLUICE_ASSERT(question.connections <= kConnectionsMax, "more connections than ports");
  waiting_.push_back(question);
  while (lanes_.size() < static_cast<std::size_t>(question.connections)) open_connection();
  ask_those_ready();
}

void TcpChannel::on_open(std::size_t lane) {
  lanes_[lane].is_open = true;
  ask_those_ready();
}

void TcpChannel::ask_those_ready() {
  const auto closed =
      std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.is_open; });
  while (!waiting_.empty() && waiting_.front().connections <= closed - lanes_.begin()) {
    say({Word::kSend, waiting_.front()});
    waiting_.pop_front();
  }
}

void TcpChannel::say(const Message& message) {
  said_.push_back(message);
  lanes_.front().connection->send_request(kMessage);
}

void TcpChannel::stop(std::uint64_t transfer) {
  const auto is_it = [transfer](const Question& q) { return q.transfer == transfer; };
  if (std::erase_if(waiting_, is_it) > 0) return;
  say({Word::kStop, {.transfer = transfer}});
}

void TcpChannel::close() {
  is_closed_ = true;
  for (const Lane& lane : lanes_) lane.connection->close();
}

void TcpChannel::on_finished() {
  const auto finished = [](const Lane& lane) { return lane.connection->is_finished(); };
  if (is_closed_ && std::all_of(lanes_.begin(), lanes_.end(), finished))
    owner_.on_finished(ends_.number);
}

void TcpChannel::on_data(std::size_t lane, DataSize bytes) {
  while (bytes > DataSize::zero()) {
    Piece& piece = lanes_[lane].pieces.front();
    const DataSize came = std::min(bytes, piece.left);
    const Piece of = piece;
    bytes -= came;
    piece.left -= came;
    if (piece.left == DataSize::zero()) lanes_[lane].pieces.pop_front();
    owner_.on_arrived(of.transfer, of.is_payload ? came : DataSize::zero());
  }
}

void TcpChannel::on_request_bytes(DataSize bytes) {
  heard_ += bytes;
  while (heard_ >= kMessage) {
    heard_ -= kMessage;
    const Message message = said_.front();
    said_.pop_front();
    if (message.word == Word::kSend) {
      begin_answer(message.question);
    } else {
      std::erase_if(answers_, [&message](const Answer& answer) {
        return answer.question.transfer == message.question.transfer;
      });
    }
  }
  pump();
}

void TcpChannel::begin_answer(const Question& question) {
  // BBR keeps its model of the path over a silence, as Linux's does.
  if (answers_.empty() && transport_.idle_reset &&
      transport_.congestion != CongestionControl::kBbr) {
    for (const Lane& lane : lanes_)
      lane.connection->restart_after(ends_.path->round_trip(), transport_.idle_timeout);
  }
  answers_.push_back({question, question.size});
}

// Gives the sockets all that they take, a packet at a time, the connections in turn.
void TcpChannel::pump() {
  while (pump_round()) {
  }
}

bool TcpChannel::pump_round() {
  bool sent_any = false;
  for (std::size_t i = 0; i < lanes_.size() && !answers_.empty(); ++i) {
    Answer& answer = answers_.front();
    if (i >= static_cast<std::size_t>(answer.question.connections)) break;
    const bool is_empty = answer.question.size == DataSize::zero();
    const DataSize size =
        is_empty ? DataSize::bytes(1) : std::min(answer.unsent, ends_.path->framing.payload);
    if (lanes_[i].connection->room() < size) continue;
    lanes_[i].pieces.push_back({answer.question.transfer, size, !is_empty});
    lanes_[i].connection->send_data(size);
    sent_any = true;
    if (!is_empty) answer.unsent -= size;
    if (answer.unsent == DataSize::zero()) answers_.pop_front();
  }
  return sent_any;
}

}  // namespace sluice
