// Carries the transport's packets over ns-3: a device per link, forwarding by route, and the
// topology's steady flows beside them.
// Where in the flow: below the transport of sim/net/transport; the only part that knows ns-3's
// devices.
#pragma once

#include <memory>

#include "sim/net/transport/carrier.h"

namespace sluice {

class Ns3Carrier final : public Carrier {
 public:
  // Builds the links in ns-3's simulator, which an Ns3Clock must hold.
  explicit Ns3Carrier(const TopologySpec& topology);
  ~Ns3Carrier() override;
  Ns3Carrier(const Ns3Carrier&) = delete;
  Ns3Carrier& operator=(const Ns3Carrier&) = delete;

  std::int32_t add_route(const Route& links) override;
  void send(const PacketFields& fields, DataSize wire) override;
  void set_receiver(PacketReceiver& receiver) override;
  [[nodiscard]] LinkUsage usage(LinkId link) const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;  // keeps ns-3's headers out of this one
};

}  // namespace sluice
