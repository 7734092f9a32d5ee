#include "emu/link/tun/tun_link.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "emu/link/check_spec.h"
#include "emu/link/tun/link_direction.h"
#include "emu/link/tun/tun_device.h"

namespace sluice {
namespace {

constexpr LinkId kDown{0}, kUp{1};                 // also what names their random numbers
constexpr DataSize kMtuMin = DataSize::bytes(68);  // RFC 791

class TunLink final : public EmulatedLink {
 public:
  TunLink(NetworkNamespace near_space, NetworkNamespace far_space)
      : near_space_(std::move(near_space)), far_space_(std::move(far_space)) {}

  Status open(const EmulatedLinkSpec& spec) {
    Result<TunDevice> near = TunDevice::open(near_space_, near_.address, spec.up.mtu);
    if (!near) return near.error();
    Result<TunDevice> far = TunDevice::open(far_space_, far_.address, spec.down.mtu);
    if (!far) return far.error();
    near_device_.emplace(std::move(near).value());
    far_device_.emplace(std::move(far).value());
    begin(spec);
    return {};
  }

  const LinkEnd& near_end() const override { return near_; }
  const LinkEnd& far_end() const override { return far_; }

  Status rearm(const EmulatedLinkSpec& spec) override {
    if (Status sound = check_tun_link(spec); !sound) return sound;
    up_.reset();
    down_.reset();
    near_device_->drain();
    far_device_->drain();
    if (Status set = near_device_->set_mtu(spec.up.mtu); !set) return set;
    if (Status set = far_device_->set_mtu(spec.down.mtu); !set) return set;
    begin(spec);
    return {};
  }

  std::optional<std::chrono::steady_clock::time_point> began_at() const override {
    return start_->began_at();
  }
  LinkUsage usage_down() const override { return down_ ? down_->usage() : LinkUsage{}; }
  LinkUsage usage_up() const override { return up_ ? up_->usage() : LinkUsage{}; }

  LinkHealth health() const override {
    DirectionHealth both;
    if (down_) down_->add_to(both);
    if (up_) up_->add_to(both);
    LinkHealth health;
    health.num_packets = both.lateness.count();
    health.lateness_p50 = both.lateness.quantile(0.5);
    health.lateness_p99 = both.lateness.quantile(0.99);
    health.lateness_max = both.lateness.max();
    if (both.released > DataSize::zero())
      health.achieved_share =
          1 - static_cast<double>(both.late.bytes()) / static_cast<double>(both.released.bytes());
    health.num_host_drops = both.num_write_errors + dropped_by_devices() - dropped_before_;
    return health;
  }

 private:
  void begin(const EmulatedLinkSpec& spec) {
    spec_ = spec;
    start_.emplace();
    dropped_before_ = dropped_by_devices();
    down_.emplace(spec_.down, kDown, spec_.seed, *far_device_, *near_device_, *start_);
    up_.emplace(spec_.up, kUp, spec_.seed, *near_device_, *far_device_, *start_);
  }
  std::int64_t dropped_by_devices() const {
    return near_device_->num_dropped() + far_device_->num_dropped();
  }

  NetworkNamespace near_space_, far_space_;
  LinkEnd near_{&near_space_, "10.77.0.1"}, far_{&far_space_, "10.77.0.2"};
  std::optional<TunDevice> near_device_, far_device_;
  EmulatedLinkSpec spec_;
  std::optional<LinkStart> start_;
  std::int64_t dropped_before_ = 0;
  std::optional<LinkDirection> down_, up_;
};

}  // namespace

Status check_tun_link(const EmulatedLinkSpec& spec) {
  if (Status sound = check_link_spec(spec); !sound) return sound;
  if (std::min(spec.down.mtu, spec.up.mtu) < kMtuMin)
    return error_in("emulator `tun`", "an MTU below the 68 bytes that IPv4 needs",
                    "give a larger MTU");
  if (const std::optional<std::string> missing = why_no_namespaces())
    return error_in("emulator `tun`", *missing, "use the emulator `process`");
  return {};
}

Result<std::unique_ptr<EmulatedLink>> open_tun_link(const EmulatedLinkSpec& spec) {
  if (Status sound = check_tun_link(spec); !sound) return sound.error();
  Result<NetworkNamespace> near = NetworkNamespace::make();
  if (!near) return near.error();
  Result<NetworkNamespace> far = NetworkNamespace::make();
  if (!far) return far.error();
  auto link = std::make_unique<TunLink>(std::move(near).value(), std::move(far).value());
  if (Status opened = link->open(spec); !opened) return opened.error();
  return std::unique_ptr<EmulatedLink>(std::move(link));
}

}  // namespace sluice
