// The queue of one end of a veth: a token bucket (tbf), under netem where there is delay or loss.
// Where in the flow: each direction of the emulator `kernel` has one, at its sender.
// Surprise: tbf looks at a waiting packet again only when its old rate would have let it go, or
// when another packet comes; so each change of the rate sends a frame that nobody takes.
#pragma once

#include "base/units.h"
#include "emu/host/descriptor.h"
#include "emu/host/namespace.h"
#include "emu/link/kernel/netlink.h"
#include "sim/net/network.h"

namespace sluice {

// How much TCP may hand down at once on this link: a millisecond at its lowest rate above zero.
[[nodiscard]] DataSize largest_segment(const LinkSpec& link);

struct ShaperCounts {
  std::int64_t packets = 0, dropped_packets = 0, waiting_packets = 0;
  DataSize left, waiting;  // IP packets, headers included
};

class Shaper {
 public:
  // At the end of the veth in `space`.
  [[nodiscard]] static Result<Shaper> open(const NetworkNamespace& space);
  // Drops what waits and begins anew, for packets of `link` at `rate`.
  [[nodiscard]] Status install(const LinkSpec& link, DataRate rate);
  [[nodiscard]] Status set_rate(DataRate rate);
  // Since install().
  [[nodiscard]] Result<ShaperCounts> counts();

 private:
  Shaper(NetlinkSocket socket, int interface, Descriptor wake)
      : socket_(std::move(socket)), interface_(interface), wake_(std::move(wake)) {}
  [[nodiscard]] Status put_bucket(DataRate rate, int flags);
  [[nodiscard]] Status put_netem();
  void wake() const;

  NetlinkSocket socket_;
  int interface_;
  Descriptor wake_;
  bool below_netem_ = false;
  bool installed_ = false;
  Duration delay_{};
  double loss_ = 0;
  DataSize mtu_, limit_, largest_;
};

}  // namespace sluice
