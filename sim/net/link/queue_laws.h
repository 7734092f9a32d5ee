// When a queue drops or marks packets before it is full: CoDel's law and RED's, each by itself.
// Where in the flow: inside the queue of a link (link_queue.h) of every tier with packets.
// Surprise: neither holds packets; they see sizes and times and say yes or no.
#pragma once

#include <optional>

#include "base/random.h"
#include "sim/net/link_effects.h"

namespace sluice {

// RFC 8289, section 5, asked packet by packet.
class CoDelLaw {
 public:
  // `packet_max`: the largest packet; a queue of no more than that is never long.
  CoDelLaw(const CoDel& parameters, DataSize packet_max);
  // Whether to drop the packet that leaves the queue now. Ask for the next one at once if so.
  [[nodiscard]] bool drops(Instant now, Duration waited, DataSize behind);
  // Nothing was left to leave.
  void on_empty();

 private:
  [[nodiscard]] bool is_above(Instant now, Duration waited, DataSize behind);
  [[nodiscard]] Instant next_drop(Instant after) const;

  CoDel parameters_;
  DataSize packet_max_;
  std::optional<Instant> above_until_;  // an interval after the wait first passed the target
  Instant next_drop_;
  std::int64_t count_ = 0, count_before_ = 0;  // drops since dropping began, and of the time before
  bool is_dropping_ = false;
  bool has_begun_ = false;    // the next packet of the same departure goes
  bool has_dropped_ = false;  // in this departure
};

// Floyd and Jacobson 1993, with `gentle` (Floyd 2000). The size of a packet plays no part in its
// fate (RFC 7141).
class RedLaw {
 public:
  RedLaw(const Red& parameters, RandomStream random);
  // Whether to drop the packet that comes, or to mark it, with `queued` waiting before it.
  // `idle_packets`: how many the wire could have sent since it fell idle.
  [[nodiscard]] bool takes(DataSize queued, double idle_packets);
  // What it takes is marked if it can be.
  [[nodiscard]] bool marks() const { return parameters_.ecn; }
  [[nodiscard]] double average_bytes() const { return average_bytes_; }

 private:
  [[nodiscard]] double probability() const;

  Red parameters_;
  RandomStream random_;
  double average_bytes_ = 0;
  std::int64_t num_passed_ = 0;  // since the last one taken, above the lower threshold
};

}  // namespace sluice
