#include "emu/link/kernel/kernel_link.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include "emu/host/descriptor.h"
#include "emu/host/lateness.h"
#include "emu/link/check_spec.h"
#include "emu/link/kernel/rate_steps.h"
#include "emu/link/kernel/shaper.h"
#include "emu/link/kernel/veth.h"

namespace sluice {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr DataRate kFastest = DataRate::bits_per_sec(100'000'000'000);
constexpr Duration kOnTime = std::chrono::milliseconds{1};

Error cannot(const std::string& what) {
  return error_in("kernel", what, "use --emulator tun");
}

Status check_direction(const LinkSpec& link) {
  if (!std::holds_alternative<DropTail>(link.queue.discipline))
    return cannot("it has a drop-tail queue only");
  if (link.jitter > Duration::zero()) return cannot("jitter by netem would reorder packets");
  if (link.delay_trace) return cannot("it cannot replay a delay trace");
  if (!std::holds_alternative<NoLoss>(link.loss) && !std::holds_alternative<RandomLoss>(link.loss))
    return cannot("of loss it knows only the one that is random for each packet");
  for (const RateStep& step : link.capacity.steps) {
    if (step.rate > kFastest) return cannot("it takes rates up to 100 Gbit/s");
  }
  return {};
}

// One direction: its spec, its shaper, and where its schedule stands.
struct Direction {
  Direction(const LinkSpec& link, Shaper at_sender)
      : spec(link), shaper(std::move(at_sender)), steps(spec, kShortestRateStep) {}
  // Installs what the trace says of its first instant.
  [[nodiscard]] Status arm() {
    next = steps.next(kRunStart);
    return shaper.install(spec, steps.rate(kRunStart));
  }
  void respecify(const LinkSpec& link) {
    spec = link;
    steps = RateSteps(spec, kShortestRateStep);
  }

  LinkSpec spec;
  Shaper shaper;
  RateSteps steps;
  std::optional<Instant> next;  // when its rate changes
};

class KernelLink final : public EmulatedLink {
 public:
  KernelLink(NetworkNamespace near, NetworkNamespace far, Direction down, Direction up)
      : near_space_(std::move(near)),
        far_space_(std::move(far)),
        near_{&near_space_, kVethNear},
        far_{&far_space_, kVethFar},
        down_(down.spec, std::move(down.shaper)),
        up_(up.spec, std::move(up.shaper)) {}
  ~KernelLink() override { halt(); }

  [[nodiscard]] const LinkEnd& near_end() const override { return near_; }
  [[nodiscard]] const LinkEnd& far_end() const override { return far_; }
  [[nodiscard]] Status rearm(const EmulatedLinkSpec& spec) override;
  [[nodiscard]] Status start();
  [[nodiscard]] std::optional<SteadyClock::time_point> began_at() const override {
    const std::scoped_lock lock(mutex_);
    return began_;
  }
  [[nodiscard]] LinkUsage usage_down() const override { return usage(down_); }
  [[nodiscard]] LinkUsage usage_up() const override { return usage(up_); }
  [[nodiscard]] LinkHealth health() const override;

 private:
  void halt();
  void replay();
  [[nodiscard]] std::optional<SteadyClock::time_point> wait_for_packet();
  [[nodiscard]] bool sleep_until(SteadyClock::time_point instant) const;
  void change(Direction& direction, Instant due, SteadyClock::time_point began);
  [[nodiscard]] LinkUsage usage(Direction& direction) const;

  NetworkNamespace near_space_, far_space_;
  LinkEnd near_, far_;
  mutable std::mutex mutex_;
  mutable Direction down_, up_;  // reading the kernel's counts goes through their sockets
  std::optional<SteadyClock::time_point> began_;
  LatenessHistogram lateness_;
  std::int64_t changes_on_time_ = 0;
  Descriptor stop_, timer_, tap_;
  std::thread thread_;
};

// When the waiting packet passed, by the kernel's stamp: this thread may have woken up late.
SteadyClock::time_point time_of_packet(int tap) {
  using WallClock = std::chrono::system_clock;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec))];
  char byte = 0;
  iovec data{.iov_base = &byte, .iov_len = 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t received = ::recvmsg(tap, &message, MSG_DONTWAIT);
  const SteadyClock::time_point now = SteadyClock::now();
  const cmsghdr* stamp = received < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (!stamp || stamp->cmsg_type != SCM_TIMESTAMPNS) return now;
  timespec at{};
  std::memcpy(&at, CMSG_DATA(stamp), sizeof at);
  const auto ago = WallClock::now().time_since_epoch() - std::chrono::seconds{at.tv_sec} -
                   nanoseconds(at.tv_nsec);
  return now - std::max(ago, Duration::zero());
}

// Sees every packet at the near end of the cable.
Result<Descriptor> open_tap(const NetworkNamespace& space) {
  Descriptor tap;
  const Status opened = space.run([&]() -> Status {
    tap = Descriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL)));
    const int yes = 1;
    if (!tap || ::setsockopt(tap.get(), SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) != 0)
      return cannot(std::string("no packet socket: ") + std::strerror(errno));
    return {};
  });
  if (!opened) return opened.error();
  return tap;
}

Status KernelLink::start() {
  for (Direction* direction : {&down_, &up_}) {
    if (Status armed = direction->arm(); !armed) return armed;
  }
  Result<Descriptor> tap = open_tap(near_space_);
  if (!tap) return tap.error();
  tap_ = std::move(*tap);
  stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  timer_ = Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!stop_ || !timer_) return cannot(std::string("no timer: ") + std::strerror(errno));
  thread_ = std::thread([this] { replay(); });
  return {};
}

void KernelLink::halt() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
}

Status KernelLink::rearm(const EmulatedLinkSpec& spec) {
  if (Status able = check_kernel_link(spec); !able) return able;
  if (spec.down.mtu != down_.spec.mtu || spec.up.mtu != up_.spec.mtu)
    return cannot("the MTU of an open link stays");
  halt();
  began_.reset();
  lateness_ = {};
  changes_on_time_ = 0;
  down_.respecify(spec.down);
  up_.respecify(spec.up);
  return start();
}

std::optional<SteadyClock::time_point> KernelLink::wait_for_packet() {
  pollfd files[] = {{.fd = tap_.get(), .events = POLLIN}, {.fd = stop_.get(), .events = POLLIN}};
  while (::poll(files, 2, -1) < 0 && errno == EINTR) continue;
  if ((files[1].revents & POLLIN) != 0) return std::nullopt;
  const SteadyClock::time_point came = time_of_packet(tap_.get());
  tap_.reset();  // every packet would pay for it
  return came;
}

bool KernelLink::sleep_until(SteadyClock::time_point instant) const {
  const auto since = instant.time_since_epoch();
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
  itimerspec at{};
  at.it_value = {.tv_sec = whole.count(), .tv_nsec = (since - whole).count()};
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
  pollfd files[] = {{.fd = timer_.get(), .events = POLLIN}, {.fd = stop_.get(), .events = POLLIN}};
  while (::poll(files, 2, -1) < 0 && errno == EINTR) continue;
  return (files[1].revents & POLLIN) == 0;
}

void KernelLink::change(Direction& direction, Instant due, SteadyClock::time_point began) {
  const std::scoped_lock lock(mutex_);
  if (direction.next != due) return;
  // Only a namespace that is gone would refuse; the counts then tell.
  (void)direction.shaper.set_rate(direction.steps.rate(due)).ok();
  direction.next = direction.steps.next(due);
  const Duration late = SteadyClock::now() - (began + due.time_since_epoch());
  lateness_.record(late);
  if (late <= kOnTime) ++changes_on_time_;
}

void KernelLink::replay() {
  const std::optional<SteadyClock::time_point> first = wait_for_packet();
  if (!first) return;
  const SteadyClock::time_point began = *first;
  {
    const std::scoped_lock lock(mutex_);
    began_ = began;
  }
  while (down_.next || up_.next) {
    const Instant due =
        std::min(down_.next.value_or(Instant::max()), up_.next.value_or(Instant::max()));
    if (!sleep_until(began + due.time_since_epoch())) return;
    change(down_, due, began);
    change(up_, due, began);
  }
}

LinkUsage KernelLink::usage(Direction& direction) const {
  const std::scoped_lock lock(mutex_);
  const Result<ShaperCounts> counts = direction.shaper.counts();
  if (!counts) return {};
  LinkUsage usage;
  usage.wire_delivered = counts->left;
  usage.wire_in_flight = counts->waiting;
  // The kernel counts how many were dropped and not how long they were.
  usage.wire_dropped = direction.spec.mtu * counts->dropped_packets;
  usage.wire_sent = usage.wire_delivered + usage.wire_in_flight + usage.wire_dropped;
  if (began_)
    usage.capacity = direction.steps.capacity_until(kRunStart + (SteadyClock::now() - *began_));
  return usage;
}

LinkHealth KernelLink::health() const {
  const std::scoped_lock lock(mutex_);
  LinkHealth health;
  for (Direction* direction : {&down_, &up_}) {
    if (const Result<ShaperCounts> counts = direction->shaper.counts())
      health.num_packets += counts->packets;
  }
  health.lateness_p50 = lateness_.quantile(0.5);
  health.lateness_p99 = lateness_.quantile(0.99);
  health.lateness_max = lateness_.max();
  if (lateness_.count() > 0)
    health.achieved_share =
        static_cast<double>(changes_on_time_) / static_cast<double>(lateness_.count());
  return health;
}

}  // namespace

Status check_kernel_link(const EmulatedLinkSpec& spec) {
  if (Status sound = check_link_spec(spec); !sound) return sound;
  for (const LinkSpec* link : {&spec.down, &spec.up}) {
    if (Status able = check_direction(*link); !able) return able;
  }
  if (const auto missing = why_no_namespaces())
    return error_in("kernel", *missing, "use --emulator process");
  // What the kernel has is found out by asking it to do it.
  const Result<std::unique_ptr<EmulatedLink>> tried = open_kernel_link(spec);
  return tried ? Status() : tried.error();
}

Result<std::unique_ptr<EmulatedLink>> open_kernel_link(const EmulatedLinkSpec& spec) {
  Result<NetworkNamespace> near = NetworkNamespace::make(), far = NetworkNamespace::make();
  if (!near) return near.error();
  if (!far) return far.error();
  const Status made = make_veth({&*near, spec.up.mtu, largest_segment(spec.up)},
                                {&*far, spec.down.mtu, largest_segment(spec.down)});
  if (!made) return made.error();
  Result<Shaper> down = Shaper::open(*far), up = Shaper::open(*near);
  if (!down) return down.error();
  if (!up) return up.error();
  auto link = std::make_unique<KernelLink>(std::move(*near), std::move(*far),
                                           Direction(spec.down, std::move(*down)),
                                           Direction(spec.up, std::move(*up)));
  if (Status started = link->start(); !started) return started.error();
  return std::unique_ptr<EmulatedLink>(std::move(link));
}

}  // namespace sluice
