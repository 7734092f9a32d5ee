#include "sim/net/fluid/fluid_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr std::int64_t kBillion = 1'000'000'000;
constexpr double kFastest = 4e14;  // bit/s, as the fastest link

// Share of packets that pass all links.
double delivered_share(const TopologySpec& topology, const Route& route) {
  double share = 1;
  for (const LinkId id : route)
    share *= 1 - mean_loss(topology.links[static_cast<std::size_t>(id.value)].loss);
  return share;
}

}  // namespace

DataRate loss_bound(double loss, DataSize packet, Duration round_trip) {
  const double rtt_s = std::max(to_seconds(round_trip), 1e-9);
  const double cubic = 1.054 * std::pow(rtt_s / loss, 0.75), reno = std::sqrt(1.5 / loss);
  const double bits_per_sec = std::max(cubic, reno) * static_cast<double>(packet.bits()) / rtt_s;
  return DataRate::bits_per_sec(static_cast<std::int64_t>(std::min(bits_per_sec, kFastest)));
}

FluidPath::FluidPath(const TopologySpec& topology, const TransportSpec& transport, const Path& of)
    : path(&of),
      forward(topology, of.links),
      backward(topology, of.back),
      window(transport, of.framing, round_trip(kRunStart)),
      delivered_ppb(std::llround(delivered_share(topology, of.links) * kBillion)) {
  if (delivered_ppb == kBillion) return;
  const double loss = 1 - static_cast<double>(delivered_ppb) / kBillion;
  // Where everything is lost nothing ever arrives.
  loss_bound = delivered_ppb == 0 ? DataRate::zero()
                                  : sluice::loss_bound(loss, of.framing.payload + of.framing.header,
                                                       round_trip(kRunStart));
}

Nanobits FluidPath::wire_amount(DataSize size) const {
  const Nanobits once = Nanobits::of(path->framing.wire_size(size));
  if (delivered_ppb == kBillion) return once;
  // Rounded up: what is left of it must hold the last byte.
  const Nanobits least = Nanobits::flown(DataRate::bits_per_sec(1), nanoseconds(1));
  return once * kBillion / std::max<std::int64_t>(1, delivered_ppb) + least;
}

DataSize FluidPath::payload_in(Nanobits arrived) const {
  const Nanobits once = delivered_ppb == kBillion ? arrived : arrived * delivered_ppb / kBillion;
  return path->framing.payload_within(once.whole_bytes());
}

}  // namespace sluice
