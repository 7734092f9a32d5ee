// The sending half of one connection: what is in flight, what was lost, what may go next.
// Where in the flow: the burst tier gives it payload and acknowledgements; it has no clock, time is
// an argument.
// Surprises: a segment keeps its sequence for good but every copy of it gets a new packet number
// (as in QUIC), so loss is seen from numbers alone, even of a copy; each acknowledgement costs
// constant work, whatever the window.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/units.h"
#include "sim/net/transport/congestion_window.h"
#include "sim/net/transport/round_trip_estimate.h"

namespace sluice {

// A stretch of one transfer's payload, as it was first sent.
struct Segment {
  std::uint64_t transfer = 0;
  std::uint64_t sequence = 0;  // on its connection, from zero
  DataSize payload;
};

struct NumberedSegment {
  Segment segment;
  std::uint64_t number = 0;  // of this copy, on its connection, from zero
};

class ConnectionSender {
 public:
  // `segment_max` is what goes in one piece, whole packets.
  ConnectionSender(const CongestionLimits& limits, DataSize segment_max);

  // Payload of the next new segment out of `remaining`; nullopt when the window has no room for it.
  // Segments are at most an eighth of the window, so that acknowledgements keep coming while data
  // leave.
  [[nodiscard]] std::optional<DataSize> room(DataSize remaining) const;
  [[nodiscard]] NumberedSegment send(Instant now, std::uint64_t transfer, DataSize payload);
  // A copy of a lost segment, when there is one and the window has room.
  [[nodiscard]] std::optional<NumberedSegment> send_lost(Instant now);
  // Copy `number` arrived, and every segment before sequence `next_expected`.
  void on_ack(Instant now, std::uint64_t number, std::uint64_t next_expected);
  // When to stop waiting for an acknowledgement; nullopt with nothing in flight.
  [[nodiscard]] std::optional<Instant> probe_at() const;
  // At probe_at(): a copy of the oldest segment in flight.
  [[nodiscard]] NumberedSegment probe(Instant now);
  // Before new data: puts the window back if nothing was sent for longer than `silence_max`.
  void restart_after(Duration silence_max, Instant now);

  [[nodiscard]] bool is_idle() const { return sent_.empty() && lost_.empty(); }
  [[nodiscard]] DataSize window() const { return window_.size(); }

 private:
  struct Sent {
    Segment segment;
    Instant at;
    bool in_flight = true;
  };
  NumberedSegment put_in_flight(Instant now, const Segment& segment);
  void settle(Sent& sent);
  [[nodiscard]] bool fits(DataSize payload) const { return in_flight_ + payload <= window_.size(); }
  void find_losses(Instant now, std::uint64_t acked_number);

  CongestionWindow window_;
  RoundTripEstimate round_trip_;
  DataSize packet_, segment_max_;
  std::deque<Sent> sent_;  // by packet number, from first_number_; settled ones leave at the front
  std::uint64_t first_number_ = 0, next_number_ = 0, next_sequence_ = 0;
  std::deque<Segment> lost_;          // to be sent again
  std::uint64_t next_expected_ = 0;   // by the receiver: everything before has arrived
  std::uint64_t recovery_until_ = 0;  // losses of lower numbers are of a round already answered
  DataSize in_flight_;                // payload
  std::int32_t num_probes_ = 0;       // since the last acknowledgement
  Instant last_sent_, last_acked_;
};

}  // namespace sluice
