// A TUN interface in a namespace, with TCP's segmentation and checksums left to us.
// Where in the flow: one at each end of the TUN link; it is gone when its descriptor is closed.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "emu/host/descriptor.h"
#include "emu/host/namespace.h"

namespace sluice {

class TunDevice {
 public:
  // Up, with `address` (IPv4, dotted, in a network of four addresses) and `mtu`. `space` must
  // outlive it. Errors: of the kernel, with the step that failed.
  [[nodiscard]] static Result<TunDevice> open(const NetworkNamespace& space,
                                              const std::string& address, DataSize mtu);
  // Reads and writes frames (ip_frame.h); does not block.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] Status set_mtu(DataSize mtu) const;
  // Reads and forgets what waits to be read.
  void drain() const;
  // Packets that the interface has dropped because nobody read them in time, since it was made.
  [[nodiscard]] std::int64_t num_dropped() const;

 private:
  TunDevice(const NetworkNamespace& space, Descriptor descriptor)
      : space_(&space), descriptor_(std::move(descriptor)) {}

  const NetworkNamespace* space_;
  Descriptor descriptor_;
};

}  // namespace sluice
