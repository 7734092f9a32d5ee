// The sending half of one connection: what is in flight, what was lost, what may go next and when.
// Where in the flow: the tiers with packets give it payload and acknowledgements; it has no clock,
// time is an argument.
// Surprises: a segment keeps its sequence for good but every copy of it gets a new packet number
// (as in QUIC), so loss is seen from numbers alone, even of a copy; each packet costs constant
// work, whatever the window.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ring.h"
#include "base/units.h"
#include "sim/net/transport/congestion_window.h"
#include "sim/net/transport/departure_pace.h"
#include "sim/net/transport/hystart.h"
#include "sim/net/transport/round_trip_estimate.h"
#include "sim/net/transport/segment.h"

namespace sluice {

class ConnectionSender {
 public:
  // `segment_max` is what goes in one piece, whole packets.
  ConnectionSender(const CongestionLimits& limits, DataSize segment_max, bool is_paced);

  // Payload of the next new segment out of `remaining`; nullopt when the window has no room for it
  // or its time has not come (resumes_at). Segments are at most an eighth of the window, so that
  // acknowledgements keep coming while data leave.
  [[nodiscard]] std::optional<DataSize> room(Instant now, DataSize remaining) const;
  // `is_last`: of its transfer.
  [[nodiscard]] NumberedSegment send(Instant now, std::uint64_t transfer, DataSize payload,
                                     bool is_last);
  // A copy of a lost segment, when there is one, the window has room and its time has come.
  [[nodiscard]] std::optional<NumberedSegment> send_lost(Instant now);
  // With pacing: when room() or send_lost() will answer again although nothing else happens;
  // nullopt when that is not what they wait for.
  [[nodiscard]] std::optional<Instant> resumes_at(Instant now) const;
  void on_ack(Instant now, const Acknowledgement& ack);
  // When to stop waiting for an acknowledgement; nullopt with nothing in flight.
  [[nodiscard]] std::optional<Instant> gives_up_at() const;
  // At gives_up_at(): finds losses, or answers a copy of the oldest segment in flight as a probe.
  [[nodiscard]] std::optional<NumberedSegment> give_up(Instant now);
  // Before new data: halves the window for each retransmission timeout in which nothing was sent:
  // the smoothed round trip, its time in queues included, or `round_trip` if that is longer, and
  // `idle_timeout`.
  void restart_after(Duration round_trip, Duration idle_timeout, Instant now);
  // The time of the handshake, before any data.
  void on_handshake(Duration round_trip) { round_trip_.add(round_trip); }

  [[nodiscard]] bool is_idle() const { return sent_.empty() && lost_.empty(); }
  [[nodiscard]] DataSize window() const { return window_.size(); }

 private:
  struct Sent {
    Segment segment;
    Instant at;
    bool in_flight = true;
  };
  NumberedSegment put_in_flight(Instant now, Segment segment);
  [[nodiscard]] DataSize whole_segment() const;
  void note_use();
  [[nodiscard]] bool is_window_used() const;
  [[nodiscard]] std::optional<Duration> sample(Instant now, const Acknowledgement& ack) const;
  void look_for_full_path(Instant now, Duration sample, DataSize arrived);
  void shrink(Instant now);
  DataSize settle(Sent& sent);
  [[nodiscard]] bool fits(DataSize payload) const { return in_flight_ + payload <= window_.size(); }
  [[nodiscard]] DataSize settle_run(const Acknowledgement& ack);
  [[nodiscard]] DataSize settle_front(Instant now);
  [[nodiscard]] bool is_lost(const Sent& oldest, Instant now) const;
  [[nodiscard]] std::optional<Instant> loss_certain_at() const;
  [[nodiscard]] Instant probe_at() const;

  CongestionWindow window_;
  HyStart hystart_;
  bool is_hystart_on_, looks_for_full_path_;  // the latter until it was found full
  RoundTripEstimate round_trip_;
  DeparturePace pace_;
  DataSize packet_, segment_max_;
  Ring<Sent> sent_;  // by packet number, from first_number_; settled ones leave at the front
  std::uint64_t first_number_ = 0, next_number_ = 0, next_sequence_ = 0;
  std::uint64_t acked_until_ = 0;     // after the highest number that was acknowledged
  Ring<Segment> lost_;                // to be sent again
  std::uint64_t next_expected_ = 0;   // by the receiver: everything before has arrived
  std::uint64_t recovery_until_ = 0;  // losses of lower numbers are of a round already answered
  DataSize in_flight_;                // payload
  std::int32_t num_probes_ = 0;       // since the last acknowledgement
  Instant last_sent_, last_acked_;
  // Whether the window was what limited sending, or the most that was in flight, since ...
  bool is_limited_ = false;
  DataSize most_in_flight_;
  std::uint64_t use_until_ = 0;  // ... this number was the next to be sent
};

}  // namespace sluice
