#include "sim/net/transport/connection_sender.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::uint64_t kReorderingMax = 3;  // packets (RFC 9002, section 6.1.1)
constexpr std::int32_t kProbeDoublingsMax = 6;
constexpr std::int64_t kSegmentsPerWindow = 8;

}  // namespace

ConnectionSender::ConnectionSender(const CongestionLimits& limits, DataSize segment_max)
    : window_(limits), packet_(limits.packet), segment_max_(std::max(segment_max, limits.packet)) {}

std::optional<DataSize> ConnectionSender::room(DataSize remaining) const {
  const DataSize wanted =
      std::min(segment_max_, DataSize::bytes(window_.size().bytes() / kSegmentsPerWindow));
  const DataSize whole = packet_ * std::max<std::int64_t>(1, wanted.bytes() / packet_.bytes());
  const DataSize payload = std::min(remaining, whole);
  if (!lost_.empty() || !(sent_.empty() || fits(payload))) return std::nullopt;
  return payload;
}

NumberedSegment ConnectionSender::put_in_flight(Instant now, const Segment& segment) {
  sent_.push_back({segment, now, true});
  in_flight_ += segment.payload;
  last_sent_ = now;
  return {segment, next_number_++};
}

NumberedSegment ConnectionSender::send(Instant now, std::uint64_t transfer, DataSize payload) {
  return put_in_flight(now, {transfer, next_sequence_++, payload});
}

std::optional<NumberedSegment> ConnectionSender::send_lost(Instant now) {
  while (!lost_.empty() && lost_.front().sequence < next_expected_)
    lost_.pop_front();  // it had arrived after all
  if (lost_.empty() || !(sent_.empty() || fits(lost_.front().payload))) return std::nullopt;
  const Segment segment = lost_.front();
  lost_.pop_front();
  return put_in_flight(now, segment);
}

void ConnectionSender::settle(Sent& sent) {
  if (!sent.in_flight) return;
  sent.in_flight = false;
  in_flight_ -= sent.segment.payload;
}

void ConnectionSender::on_ack(Instant now, std::uint64_t number, std::uint64_t next_expected) {
  next_expected_ = std::max(next_expected_, next_expected);
  if (number < first_number_) return;  // settled long ago
  SLUICE_ASSERT(number < next_number_, "an acknowledgement of what was never sent");
  Sent& sent = sent_[number - first_number_];
  const bool is_news = sent.in_flight;
  const DataSize in_flight_before = in_flight_;
  const DataSize acked = sent.segment.payload;
  if (is_news) round_trip_.add(now - sent.at);
  settle(sent);
  num_probes_ = 0;
  last_acked_ = now;
  find_losses(now, number);
  // The window grows only if it was in use: half of it in slow start, whole after (RFC 7661's
  // concern).
  const DataSize used =
      window_.in_slow_start() ? in_flight_before * 2 : in_flight_before + segment_max_;
  if (is_news && number >= recovery_until_ && used >= window_.size()) {
    window_.on_ack(now, acked, round_trip_.smoothed());
  }
}

// Settles what is certain at the front: it arrived, or it is lost because later copies arrived.
void ConnectionSender::find_losses(Instant now, std::uint64_t acked_number) {
  bool is_new_loss = false;
  while (!sent_.empty()) {
    Sent& oldest = sent_.front();
    if (oldest.in_flight) {
      const bool has_arrived = oldest.segment.sequence < next_expected_;
      const bool is_lost =
          first_number_ + kReorderingMax <= acked_number ||
          (first_number_ < acked_number && oldest.at + round_trip_.loss_age() <= now);
      if (!has_arrived && !is_lost) break;
      if (!has_arrived) {
        lost_.push_back(oldest.segment);
        is_new_loss = is_new_loss || first_number_ >= recovery_until_;
      }
      settle(oldest);
    }
    sent_.pop_front();
    ++first_number_;
  }
  if (!is_new_loss) return;
  window_.on_loss();
  recovery_until_ = next_number_;
}

std::optional<Instant> ConnectionSender::probe_at() const {
  if (sent_.empty()) return std::nullopt;
  return std::max(last_sent_, last_acked_) +
         round_trip_.probe_timeout() * (1 << std::min(num_probes_, kProbeDoublingsMax));
}

NumberedSegment ConnectionSender::probe(Instant now) {
  SLUICE_ASSERT(!sent_.empty(), "a probe with nothing in flight");
  ++num_probes_;
  return put_in_flight(now, sent_.front().segment);
}

void ConnectionSender::restart_after(Duration silence_max, Instant now) {
  if (is_idle() && next_number_ > 0 && now - last_sent_ > silence_max) window_.on_silence();
}

}  // namespace sluice
