// The TCP connections of one group between two nodes: who asks for what, and which bytes are whose.
// Where in the flow: the tier `tcp` has one per group and pair of nodes; it makes connections and
// stripes answers over them.
// Surprise: both ends live here, but only bytes that ns-3's TCP delivers pass between them; which
// transfer a byte belongs to is looked up in the order in which bytes were given to the socket.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/net/path.h"
#include "sim/ns3/ip_fabric.h"
#include "sim/ns3/tcp_connection.h"

namespace sluice {

class TcpChannel {
 public:
  // Called from events of ns-3's clock. The channel must not be destroyed from there.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Payload of a transfer at its receiver, in order on its connection; zero of an empty transfer.
    virtual void on_arrived(std::uint64_t transfer, DataSize payload) = 0;
    // A connection gave up: nothing more will arrive.
    virtual void on_broken(std::uint64_t channel) = 0;
    // After close(): ns-3 holds nothing of it any more.
    virtual void on_finished(std::uint64_t channel) = 0;
  };
  struct Ends {
    std::uint64_t number = 0;  // of the channel, never used again
    NodeId sender, receiver;   // of the data
    const Path* path = nullptr;
  };
  struct Question {
    std::uint64_t transfer = 0;
    DataSize size;
    std::int32_t connections = 1;
  };

  // All must outlive the channel.
  TcpChannel(const Clock& clock, IpFabric& fabric, const TransportSpec& transport, const Ends& ends,
             Owner& owner);
  ~TcpChannel();
  TcpChannel(const TcpChannel&) = delete;
  TcpChannel& operator=(const TcpChannel&) = delete;

  // The receiver of data.
  void ask(const Question& question);  // at once, or when enough connections are open
  void stop(std::uint64_t transfer);
  void close();
  [[nodiscard]] const Ends& ends() const { return ends_; }

 private:
  enum class Word : std::uint8_t { kSend, kStop };
  struct Message {
    Word word = Word::kSend;
    Question question;
  };
  struct Answer {
    Question question;
    DataSize unsent;
  };
  struct Piece {  // of the stream of a connection
    std::uint64_t transfer = 0;
    DataSize left;            // still to arrive
    bool is_payload = false;  // or the one byte that answers an empty transfer
  };
  struct Lane {
    std::unique_ptr<TcpConnection> connection;
    std::deque<Piece> pieces;
    bool is_open = false;
  };

  void open_connection();
  void on_accept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void on_open(std::size_t lane);
  void ask_those_ready();
  void say(const Message& message);
  void on_data(std::size_t lane, DataSize bytes);
  void on_finished();

  // The sender of data.
  void on_request_bytes(DataSize bytes);
  void begin_answer(const Question& question);
  void pump();
  bool pump_round();

  const Clock& clock_;
  IpFabric& fabric_;
  const TransportSpec& transport_;
  const Ends ends_;
  Owner& owner_;
  ns3::Ipv4Address receiver_address_, sender_address_;
  ns3::Ptr<ns3::TcpSocketBase> listener_;
  std::vector<Lane> lanes_;
  bool is_closed_ = false;

  std::deque<Question> waiting_;  // at the receiver, until enough connections are open
  std::deque<Message> said_;      // on the way to the sender
  DataSize heard_;                // bytes of the next message that came
  std::deque<Answer> answers_;    // at the sender, in order
};

}  // namespace sluice
