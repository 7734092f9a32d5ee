#include "policies/delivery_rate.h"

#include <algorithm>

namespace sluice {
namespace {

// Shorter intervals hold too few packets to say anything.
constexpr Duration kIntervalMin = std::chrono::milliseconds{5};

DataSize delivered_so_far(const Observation& o) {
  DataSize sum;
  for (const PastTransfer& past : o.past) sum += past.size;
  for (const ChunkView& chunk : o.chunks) sum += chunk.fetched;
  return sum;
}

}  // namespace

void DeliveryRate::note(const Observation& o) {
  const DataSize delivered = delivered_so_far(o);
  if (!since_) {
    if (delivered == DataSize::zero()) return;
    since_ = o.now;
    delivered_ = delivered;
    // Requests go out on arrival, and their bytes begin to come a round trip later.
    const Duration time = o.now - o.arrived_at - o.round_trip;
    if (time > Duration::zero()) keep(mean_rate(delivered, time));
    return;
  }
  const Duration time = o.now - *since_;
  if (time < kIntervalMin) return;
  // What a cancelled transfer had brought is gone from the sum.
  if (delivered >= delivered_) keep(mean_rate(delivered - delivered_, time));
  since_ = o.now;
  delivered_ = delivered;
}

void DeliveryRate::keep(DataRate rate) {
  rates_[num_rates_ % kKept] = rate;
  ++num_rates_;
}

std::optional<DataRate> DeliveryRate::quantile(double q) const {
  const std::size_t count = std::min(num_rates_, kKept);
  if (count == 0) return std::nullopt;
  std::array<DataRate, kKept> sorted = rates_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return sorted[static_cast<std::size_t>(q * static_cast<double>(count - 1))];
}

}  // namespace sluice
