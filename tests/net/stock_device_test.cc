// Why the burst tier brings a device of its own: ns-3's reads its rate when a packet begins and
// never again.
#include <gtest/gtest.h>
#include <ns3/data-rate.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/node.h>
#include <ns3/nstime.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-channel.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>

#include "sim/ns3/ns3_tiers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

ns3::Ptr<ns3::PointToPointNetDevice> stock_device(ns3::Ptr<ns3::PointToPointChannel> channel) {
  const auto node = ns3::CreateObject<ns3::Node>();
  const auto device = ns3::CreateObject<ns3::PointToPointNetDevice>();
  device->SetQueue(ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>());
  device->SetDataRate(ns3::DataRate("1Gbps"));
  node->AddDevice(device);
  device->Attach(channel);
  return device;
}

// 62 500 bytes, of which 2 are ns-3's own header, are 500 us at 1 Gbit/s; halved after 250 us they
// should take 750 us, which is what Burst.ARateChangeInTheMiddleOfASegmentRetimesTheRest asks of
// our device.
TEST(StockNs3Device, DoesNotRetimeThePacketOnTheWireWhenTheRateChanges) {
  const auto clock = make_ns3_clock();
  const auto channel = ns3::CreateObject<ns3::PointToPointChannel>();
  const auto sending = stock_device(channel);
  const auto receiving = stock_device(channel);
  static Instant arrived_at;
  arrived_at = kRunStart;
  static const RunnableClock* watch;
  watch = clock.get();
  receiving->SetReceiveCallback(
      ns3::MakeCallback(+[](ns3::Ptr<ns3::NetDevice>, ns3::Ptr<const ns3::Packet>, std::uint16_t,
                            const ns3::Address&) {
        arrived_at = watch->now();
        return true;
      }));
  sending->Send(ns3::Create<ns3::Packet>(62'498), receiving->GetAddress(), 0x0800);
  clock->schedule_in(250us, [&] { sending->SetDataRate(ns3::DataRate("500Mbps")); });
  clock->run();
  EXPECT_EQ(arrived_at, kRunStart + 500us);
}

}  // namespace
}  // namespace sluice
