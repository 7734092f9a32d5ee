#include "sim/net/link/packet_fate.h"

#include <algorithm>

namespace sluice {
namespace {

std::uint64_t index_of(LinkId id) {
  return static_cast<std::uint64_t>(id.value);
}

}  // namespace

PacketLoss::PacketLoss(const LinkSpec& link, LinkId id, std::uint64_t seed)
    : loss_(&link.loss),
      packets_(seed, "packet loss", index_of(id)),
      states_(seed, "loss state", index_of(id)) {
  if (const auto* trace = std::get_if<LossTrace>(loss_)) trace_.emplace(*trace, link.trace_offset);
  const auto* burst = std::get_if<BurstLoss>(loss_);
  if (!burst) return;
  // The run begins at any time of the process: in either state as often as it is in it.
  const double bad = to_seconds(burst->mean_bad), good = to_seconds(burst->mean_good);
  is_bad_ = !states_.bernoulli(bad / (good + bad));  // change_state() turns it round
  change_state(*burst);
}

void PacketLoss::change_state(const BurstLoss& burst) {
  is_bad_ = !is_bad_;
  const Duration mean = is_bad_ ? burst.mean_bad : burst.mean_good;
  const double ns = states_.exponential(static_cast<double>(to_ns(mean)));
  changes_at_ += std::max(nanoseconds(1), nanoseconds_to_duration(ns));
}

double PacketLoss::burst_probability_at(const BurstLoss& burst, Instant at) {
  while (changes_at_ <= at) change_state(burst);
  return is_bad_ ? burst.loss_bad : burst.loss_good;
}

double PacketLoss::probability_at(Instant at) {
  if (const auto* random = std::get_if<RandomLoss>(loss_)) return random->probability;
  if (const auto* burst = std::get_if<BurstLoss>(loss_)) return burst_probability_at(*burst, at);
  return static_cast<double>(trace_->loss_ppm_at(at)) / static_cast<double>(kAllLostPpm);
}

bool PacketLoss::loses(Instant at) {
  if (std::holds_alternative<NoLoss>(*loss_)) return false;
  return packets_.bernoulli(probability_at(at));
}

PacketDelay::PacketDelay(const LinkSpec& link, LinkId id, std::uint64_t seed)
    : link_(&link), jitter_(seed, "jitter", index_of(id)) {
  if (link.delay_trace) trace_.emplace(*link.delay_trace, link.trace_offset);
}

Instant PacketDelay::arrival(Instant at) {
  Instant arrives = at + (trace_ ? trace_->delay_at(at) : link_->delay);
  if (link_->jitter > Duration::zero()) {
    const auto choices = static_cast<std::uint64_t>(to_ns(link_->jitter)) + 1;
    arrives += nanoseconds(static_cast<std::int64_t>(jitter_.below(choices)));
  }
  return last_arrival_ = std::max(last_arrival_, arrives);
}

}  // namespace sluice
