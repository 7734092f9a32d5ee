// The network contract: nodes, links, and transfers between nodes.
// Where in the flow: step 2; the session starts transfers and listens, whatever tier is behind.
// Surprises:
// (1) a rate change in the middle of a transfer (and of a packet, in our tiers) re-times its rest;
// (2) transfers of one ConnectionGroup share warm connections, so only the first pays the start-up
//     of the window;
// (3) on a chunk-clocked link the rate belongs to the chunk, not to the time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "sim/net/link_effects.h"
#include "traces/link_trace.h"

namespace sluice {

struct NodeId {
  std::int32_t value = 0;
  auto operator<=>(const NodeId&) const = default;
};
struct LinkId {
  std::int32_t value = 0;
  auto operator<=>(const LinkId&) const = default;
};
struct TransferId {
  std::uint64_t value = 0;
  auto operator<=>(const TransferId&) const = default;
};
// Transfers with the same group (one context load) use the same connections.
struct ConnectionGroup {
  std::uint64_t value = 0;
  auto operator<=>(const ConnectionGroup&) const = default;
};

// One direction of a link. Both directions of a cable are two of these.
struct LinkSpec {
  std::string name;
  NodeId from, to;
  LinkTrace capacity;       // a constant is a trace of one step
  Duration trace_offset{};  // where in the trace the run begins
  Duration delay{};         // one-way propagation
  // In place of `delay`, read from trace_offset on: a packet takes the delay of the instant at
  // which it leaves. Packets stay in order: one that could overtake arrives with the one before it.
  std::optional<DelayTrace> delay_trace;
  // Each packet's delay is longer by up to this, uniformly; packets stay in order.
  Duration jitter{};
  LossSpec loss;                         // on the wire, after the queue
  QueueSpec queue;                       // the fluid tier has none
  DataSize mtu = DataSize::bytes(1500);  // IP packet
};

// Traffic that nobody waits for and that does not yield: packets of `packet` on the wire at the
// rate of a trace (constant, on and off, recorded).
struct SteadyFlow {
  std::string name;
  NodeId from, to;
  LinkTrace rate;
  Duration trace_offset{};
  DataSize packet = DataSize::bytes(1500);
};

struct TopologySpec {
  std::vector<std::string> nodes;  // NodeId indexes this
  // LinkId indexes this. Routes are shortest by hops; among equal ones a group of connections takes
  // one by a hash of its number, its ends and the seed (ECMP, RFC 2992).
  std::vector<LinkSpec> links;
  std::vector<SteadyFlow> steady_flows;
  std::uint64_t seed = 0;  // of routes, loss and jitter
};

// Adds `forward` and its way back (same capacity, delay, queue and MTU). Requests and
// acknowledgements need a way back.
void add_cable(TopologySpec& topology, LinkSpec forward);

// Who decides how much is in flight. Our transport knows CUBIC only; the others are ns-3's, in the
// tier `tcp`. DCTCP acts on marks and needs a queue that marks (Red::ecn).
enum class CongestionControl { kCubic, kBbr, kDctcp, kLinuxReno };

struct TransportSpec {
  CongestionControl congestion = CongestionControl::kCubic;
  // Packets leave evenly over a round trip instead of as soon as the window allows.
  bool pacing = false;
  bool handshake = true;   // one round trip before the first request of each connection group
  bool slow_start = true;  // false: the window is never the limit
  // Slow start ends when acknowledgements show that the path is full (HyStart), as in Linux; false:
  // with the first loss.
  bool hystart = true;
  std::int32_t initial_window_segments = 10;        // RFC 6928
  DataSize max_window = DataSize::bytes(64 << 20);  // of each connection
  // Each silence of RTT (with its time in queues) + idle_timeout halves the window, down to its
  // first size (RFC 2861, as Linux does).
  bool idle_reset = true;
  Duration idle_timeout = std::chrono::milliseconds{200};
  DataSize header = DataSize::bytes(52);  // IPv4 + TCP + timestamps, in each packet of `mtu`
  bool count_headers = true;              // false: the payload alone occupies the link
};

// What a transfer carries. Only networks that move real bytes look at it.
struct TransferContent {
  std::int32_t chunk = 0;
  // nullopt: the chunk's text, to recompute it.
  std::optional<std::int32_t> level;
  // That is here already: only what `level` adds to it travels.
  std::optional<std::int32_t> beyond;
};

struct Transfer {
  NodeId from, to;  // the data flows from `from` to `to`; the request travels the other way first
  DataSize size;
  ConnectionGroup group;
  std::int32_t connections = 1;
  // Needed on a chunk-clocked link: which step of its trace holds.
  std::optional<std::int64_t> chunk_index;
  DataSize progress_every;  // on_progress each time this much more has arrived; zero: never
  std::optional<TransferContent> content;
};

enum class TransferFailure {
  kNoRoute,       // unknown nodes, the same node twice, or no links there and back
  kNoChunkIndex,  // a chunk-clocked link on the route, but the transfer names no chunk
  // Only where real sockets are. The first three may go better another time.
  kLinkDown,  // no connection could be had, or all of them broke again and again
  kStalled,   // nothing came for too long
  kCorrupt,   // what came is not what was sent
  kRefused,   // the server does not have it, or does not give it
};

// Told what happens to a transfer; called from the clock's callbacks, never from inside start() or
// cancel(). Bytes are payload delivered in order. Inside on_complete, delivered(id) is still the
// whole size.
class TransferListener {
 public:
  virtual ~TransferListener() = default;
  virtual void on_first_byte(TransferId /*id*/) {}
  virtual void on_progress(TransferId /*id*/, DataSize /*delivered*/) {}
  virtual void on_complete(TransferId id) = 0;
  virtual void on_failure(TransferId id, TransferFailure why) = 0;
};

// What one link carried since the run began, steady flows included. Conservation, at any instant:
// sent = delivered + dropped + in flight.
struct LinkUsage {
  DataSize wire_sent;       // payload and headers offered to the link
  DataSize wire_delivered;  // arrived at the other end
  DataSize wire_dropped;    // by the queue or lost on the wire
  DataSize wire_in_flight;  // counted where it is: in the queue, being sent, or on the wire
  DataSize capacity;  // what the link could have carried; on a chunk-clocked link what it did carry
};

// Not thread-safe; lives on its clock's thread.
class Network {
 public:
  virtual ~Network() = default;
  // Begins with the request at `now`. `listener` must outlive the transfer. Size zero completes
  // after the round trip. Transfers of one group between the same nodes are answered one after the
  // other, in the order of their requests.
  virtual TransferId start(const Transfer& transfer, TransferListener& listener) = 0;
  // Stops a transfer; its listener is not called again. Returns the payload bytes that had been
  // delivered; zero when it is over. The sender hears of it half a round trip later and sends until
  // then.
  virtual DataSize cancel(TransferId id) = 0;
  // Payload that has arrived in order; zero when the transfer is over. Inside on_failure of a
  // network with real sockets what had come until then.
  [[nodiscard]] virtual DataSize delivered(TransferId id) const = 0;
  // The load is over: its transfers are cancelled, its connections closed, its windows forgotten.
  virtual void close(ConnectionGroup group) = 0;
  // Propagation there and back on the group's route (mean_delay), without queueing. nullopt without
  // a route.
  [[nodiscard]] virtual std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                           ConnectionGroup group) const = 0;
  // What is ahead on the route's narrowest link: only for policies that declare `clairvoyant`.
  [[nodiscard]] virtual DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                                std::optional<std::int64_t> chunk_index) const = 0;
  [[nodiscard]] virtual LinkUsage usage(LinkId link) const = 0;
};

// Refuses no nodes or links, a node named twice, unknown nodes, a link from a node to itself, a
// delay or jitter that is negative or above one minute, a bad delay trace, an MTU that does not
// pass the header or passes 65535 bytes, a negative queue, a bad trace, a negative offset, an
// initial window of no segments or one above the largest window.
[[nodiscard]] Status check_topology(const TopologySpec& topology, const TransportSpec& transport);

using Route = std::vector<LinkId>;  // in order

// One-way propagation, of a delay trace its mean; jitter not counted.
[[nodiscard]] Duration mean_delay(const LinkSpec& link);

// Of equally long routes more than this are not told apart.
inline constexpr std::size_t kMaxEqualRoutes = 64;

// All shortest routes by hops, in the order of their link ids; none without a way.
[[nodiscard]] std::vector<Route> shortest_routes(const TopologySpec& topology, NodeId from,
                                                 NodeId to);

}  // namespace sluice
