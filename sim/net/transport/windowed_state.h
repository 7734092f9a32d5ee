// What the windowed transport remembers of a transfer (Stream), a connection and a set of them
// (Channel).
// Where in the flow: inside the transport only. What belongs to which end is said, since both ends
// are here.
#pragma once

#include "sim/net/transport/windowed_network.h"

namespace sluice {

struct WindowedNetwork::Stream {
  std::uint64_t id = 0;
  Transfer transfer;
  std::uint64_t channel = 0;

  // Of the receiver.
  TransferListener* listener = nullptr;  // none: cancelled
  DataSize in_order;                     // payload that arrived
  DataSize told;                         // of it, by on_progress
  bool first_byte_told = false;
  bool is_asked = false;
  TimerId patience;  // to ask again
  Instant stop_sent_at;

  // Of the sender.
  bool is_requested = false;
  DataSize unsent;  // not yet given to a connection
};

struct WindowedNetwork::Connection {
  Connection(const CongestionLimits& limits, DataSize segment_max, bool is_paced)
      : sender(limits, segment_max, is_paced), receiver(limits.packet) {}

  ConnectionSender sender;
  std::optional<Instant> watched_until;  // a timer is set for then
  TimerId watch;
  bool awaits_pace = false;  // a timer is set

  ConnectionReceiver receiver;
  bool awaits_ack = false;  // a timer is set
  TimerId ack_timer;
  Instant ack_due;  // of what is kept back
};

struct WindowedNetwork::Channel {
  std::uint64_t number = 0;
  ChannelKey key;
  const Path* path = nullptr;
  std::int32_t route = 0, route_back = 0;
  DataSize segment_max;
  // Of the transfer asked for last; control packets travel at its rate.
  std::int64_t chunk_index = 0;

  // Of the receiver.
  std::int32_t num_opened = 0, num_asked = 0;  // connections
  std::deque<std::uint64_t> waiting;           // transfers, until enough connections are open
  Instant heard_at;                            // anything from the sender
  std::int64_t num_streams = 0;                // not yet over
  bool is_closed = false;

  // Of the sender.
  std::deque<std::uint64_t> queue;  // transfers to answer, in order
  Instant opened_at;                // when kOpened was sent last
  std::size_t num_measured = 0;     // connections that know the time of their handshake

  std::vector<Connection> connections;  // both halves
};

}  // namespace sluice
