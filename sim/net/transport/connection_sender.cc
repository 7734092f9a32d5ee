#include "sim/net/transport/connection_sender.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::uint64_t kReorderingMax = 3;  // packets (RFC 9002, section 6.1.1)
constexpr std::int32_t kProbeDoublingsMax = 6;
// A probe for a lost tail, then the time-out that in TCP means that all is lost (RFC 8985, 7).
constexpr std::int32_t kProbesUntilCollapse = 2;
constexpr std::int64_t kSegmentsPerWindow = 8;

}  // namespace

ConnectionSender::ConnectionSender(const CongestionLimits& limits, DataSize segment_max,
                                   bool is_paced)
    : window_(limits),
      hystart_(is_paced),
      is_hystart_on_(limits.hystart && limits.slow_start),
      looks_for_full_path_(is_hystart_on_),
      pace_(is_paced),
      packet_(limits.packet),
      segment_max_(std::max(segment_max, limits.packet)) {}

DataSize ConnectionSender::whole_segment() const {
  const DataSize wanted =
      std::min(segment_max_, DataSize::bytes(window_.size().bytes() / kSegmentsPerWindow));
  return wanted < packet_ * 2 ? packet_ : packet_ * (wanted.bytes() / packet_.bytes());
}

std::optional<DataSize> ConnectionSender::room(Instant now, DataSize remaining) const {
  const DataSize payload = std::min(remaining, whole_segment());
  if (!lost_.empty() || !(sent_.empty() || fits(payload)) || !pace_.allows(now))
    return std::nullopt;
  return payload;
}

NumberedSegment ConnectionSender::put_in_flight(Instant now, Segment segment) {
  if (in_flight_ == DataSize::zero() && next_number_ > 0) window_.on_pause(now - last_sent_);
  sent_.push_back({segment, now, true});
  in_flight_ += segment.payload;
  last_sent_ = now;
  const NumberedSegment copy{segment, next_number_++};
  note_use();
  pace_.on_departure(now, segment.payload, window_.size(), round_trip_.known(),
                     window_.in_slow_start());
  return copy;
}

// Whether the window is in use is known when something is sent, and holds until all that was sent
// by then is acknowledged, so that the last acknowledgements of a transfer let the window grow too
// (Linux's tcp_cwnd_validate(); RFC 7661's concern).
void ConnectionSender::note_use() {
  const bool is_limited = !fits(whole_segment());
  if (acked_until_ < use_until_ && !is_limited && (is_limited_ || in_flight_ <= most_in_flight_))
    return;
  is_limited_ = is_limited;
  most_in_flight_ = in_flight_;
  use_until_ = next_number_;
}

// In slow start half of it is enough.
bool ConnectionSender::is_window_used() const {
  return is_limited_ || (window_.in_slow_start() && window_.size() < most_in_flight_ * 2);
}

NumberedSegment ConnectionSender::send(Instant now, std::uint64_t transfer, DataSize payload,
                                       bool is_last) {
  return put_in_flight(now, {transfer, next_sequence_++, payload, is_last});
}

std::optional<NumberedSegment> ConnectionSender::send_lost(Instant now) {
  while (!lost_.empty() && lost_.front().sequence < next_expected_)
    (void)lost_.pop_front();  // it had arrived after all
  if (lost_.empty() || !(sent_.empty() || fits(lost_.front().payload)) || !pace_.allows(now))
    return std::nullopt;
  return put_in_flight(now, lost_.pop_front());
}

std::optional<Instant> ConnectionSender::resumes_at(Instant now) const {
  if (pace_.allows(now) || !(sent_.empty() || fits(packet_))) return std::nullopt;
  return pace_.next_at();
}

// Returns what leaves the account of payload in flight.
DataSize ConnectionSender::settle(Sent& sent) {
  if (!sent.in_flight) return DataSize::zero();
  sent.in_flight = false;
  in_flight_ -= sent.segment.payload;
  return sent.segment.payload;
}

void ConnectionSender::on_ack(Instant now, const Acknowledgement& ack) {
  SLUICE_ASSERT(ack.last < next_number_, "an acknowledgement of what was never sent");
  next_expected_ = std::max(next_expected_, ack.next_expected);
  const std::optional<Duration> round_trip = sample(now, ack);
  if (round_trip) round_trip_.add(*round_trip);
  DataSize arrived = settle_run(ack);
  acked_until_ = std::max(acked_until_, ack.last + 1);
  last_acked_ = now;
  arrived += settle_front(now);
  num_probes_ = 0;
  if (round_trip && looks_for_full_path_ && window_.in_slow_start())
    look_for_full_path(now, *round_trip, arrived);
  const bool is_recovered = ack.last >= recovery_until_;
  if (arrived > DataSize::zero() && is_recovered && is_window_used())
    window_.on_ack(now, arrived, round_trip_.smoothed());
}

// Of the newest copy that the acknowledgement names, if it is new and was not kept back.
std::optional<Duration> ConnectionSender::sample(Instant now, const Acknowledgement& ack) const {
  if (ack.is_late || ack.last < std::max(first_number_, acked_until_)) return std::nullopt;
  const Sent& newest = sent_[ack.last - first_number_];
  return newest.in_flight ? std::optional{now - newest.at} : std::nullopt;
}

void ConnectionSender::look_for_full_path(Instant now, Duration sample, DataSize arrived) {
  const HyStart::Ack ack{.now = now,
                         .round_trip = sample,
                         .smoothed = round_trip_.smoothed(),
                         .num_packets = arrived.bytes() / packet_.bytes(),
                         .acked_until = acked_until_,
                         .next_number = next_number_,
                         .window = window_.size(),
                         .window_packets = window_.size().bytes() / packet_.bytes()};
  if (!hystart_.ends_at(ack)) return;
  window_.leave_slow_start();
  looks_for_full_path_ = false;
}

// Packets arrive in the order of their numbers, so that no number is looked at twice.
DataSize ConnectionSender::settle_run(const Acknowledgement& ack) {
  DataSize arrived;
  const std::uint64_t from = std::max({ack.first, acked_until_, first_number_});
  for (std::uint64_t number = from; number <= ack.last; ++number)
    arrived += settle(sent_[number - first_number_]);
  return arrived;
}

bool ConnectionSender::is_lost(const Sent& oldest, Instant now) const {
  return first_number_ + kReorderingMax < acked_until_ ||
         (first_number_ + 1 < acked_until_ && oldest.at + round_trip_.loss_age() <= now);
}

// Settles what is certain at the front: it arrived, or it is lost because later copies arrived.
// Returns the payload that arrived and was not known to.
DataSize ConnectionSender::settle_front(Instant now) {
  bool is_new_loss = false;
  DataSize arrived;
  while (!sent_.empty()) {
    Sent& oldest = sent_.front();
    if (oldest.in_flight && oldest.segment.sequence < next_expected_) {
      arrived += settle(oldest);
    } else if (oldest.in_flight) {
      if (!is_lost(oldest, now)) break;
      lost_.push_back(oldest.segment);
      is_new_loss = is_new_loss || first_number_ >= recovery_until_;
      (void)settle(oldest);
    }
    (void)sent_.pop_front();
    ++first_number_;
  }
  if (is_new_loss) {
    shrink(now);
    recovery_until_ = next_number_;
  }
  return arrived;
}

void ConnectionSender::shrink(Instant now) {
  if (num_probes_ < kProbesUntilCollapse) return window_.on_loss();
  window_.on_collapse();
  hystart_.restart(now, next_number_);
  looks_for_full_path_ = is_hystart_on_;
}

// By its age alone: fewer later copies arrived than tell a loss from reordering (RFC 8985, 6.2).
std::optional<Instant> ConnectionSender::loss_certain_at() const {
  if (sent_.empty() || first_number_ + 1 >= acked_until_) return std::nullopt;
  return sent_.front().at + round_trip_.loss_age();
}

// A single packet's acknowledgement may be kept back by the receiver, unless it ends a transfer.
Instant ConnectionSender::probe_at() const {
  Duration patience = round_trip_.probe_timeout();
  if (sent_.size() == 1 && !sent_.front().segment.is_last) patience += kAckDelayMax;
  return std::max(last_sent_, last_acked_) +
         patience * (1 << std::min(num_probes_, kProbeDoublingsMax));
}

std::optional<Instant> ConnectionSender::gives_up_at() const {
  if (sent_.empty()) return std::nullopt;
  return std::min(probe_at(), loss_certain_at().value_or(Instant::max()));
}

std::optional<NumberedSegment> ConnectionSender::give_up(Instant now) {
  SLUICE_ASSERT(!sent_.empty(), "a probe with nothing in flight");
  if (const auto certain = loss_certain_at(); certain && *certain <= now) {
    (void)settle_front(now);
    return std::nullopt;
  }
  ++num_probes_;
  return put_in_flight(now, sent_.front().segment);
}

void ConnectionSender::restart_after(Duration round_trip, Duration idle_timeout, Instant now) {
  if (!is_idle() || next_number_ == 0) return;
  const Duration timeout = std::max(round_trip, round_trip_.known()) + idle_timeout;
  if (timeout > Duration::zero()) window_.on_silence((now - last_sent_) / timeout);
}

}  // namespace sluice
