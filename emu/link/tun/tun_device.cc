#include "emu/link/tun/tun_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sluice {
namespace {

constexpr const char* kName = "sluice0";
// Frames that the kernel keeps for us between two reads; it drops what passes it. A window of
// 64 MB in super-segments is a thousand, acknowledgements of one are more.
constexpr int kFramesInKernel = 10'000;

Error tun_error(const char* step) {
  return error_in("TUN", fmt::format("{}: {}", step, std::strerror(errno)),
                  "run as root, or use the emulator `process`");
}

ifreq request() {
  ifreq made{};
  std::strcpy(made.ifr_name, kName);
  return made;
}

sockaddr internet_address(const char* dotted) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, dotted, &address.sin_addr);
  sockaddr raw{};
  static_assert(sizeof(raw) == sizeof(address));
  std::memcpy(&raw, &address, sizeof(raw));
  return raw;
}

Status configure(int socket, unsigned long what, ifreq to, const char* step) {
  if (::ioctl(socket, what, &to) == 0) return {};
  return tun_error(step);
}

Status set_interface_mtu(int socket, DataSize mtu) {
  ifreq to = request();
  to.ifr_mtu = static_cast<int>(mtu.bytes());
  return configure(socket, SIOCSIFMTU, to, "its MTU cannot be set");
}

// Called inside the namespace.
Status set_up(const std::string& address, DataSize mtu) {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return tun_error("no socket can be made");
  if (Status set = set_interface_mtu(socket.get(), mtu); !set) return set;
  ifreq to = request();
  to.ifr_qlen = kFramesInKernel;
  // In a user namespace the kernel keeps its own 500 frames; what they lose is counted.
  if (::ioctl(socket.get(), SIOCSIFTXQLEN, &to) != 0 && errno != EPERM)
    return tun_error("its queue cannot be set");
  to = request();
  to.ifr_addr = internet_address(address.c_str());
  if (Status set = configure(socket.get(), SIOCSIFADDR, to, "its address cannot be set"); !set)
    return set;
  to = request();
  to.ifr_netmask = internet_address("255.255.255.252");
  if (Status set = configure(socket.get(), SIOCSIFNETMASK, to, "its network cannot be set"); !set)
    return set;
  to = request();
  to.ifr_flags = IFF_UP | IFF_RUNNING;
  return configure(socket.get(), SIOCSIFFLAGS, to, "it cannot be raised");
}

// Called inside the namespace.
Status make_tun(Descriptor& tun) {
  tun = Descriptor(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun) return tun_error("/dev/net/tun cannot be opened");
  ifreq wanted = request();
  wanted.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tun.get(), TUNSETIFF, &wanted) != 0) return tun_error("no interface can be made");
  if (::ioctl(tun.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO_ECN) != 0)
    return tun_error("its offload cannot be set");
  return {};
}

// Of /proc/net/dev: the twelfth number after the name.
std::int64_t dropped_in(std::istream& devices) {
  for (std::string line; std::getline(devices, line);) {
    const std::size_t name = line.find(std::string(kName) + ":");
    if (name == std::string::npos) continue;
    std::istringstream numbers(line.substr(name + std::strlen(kName) + 1));
    std::int64_t number = 0;
    for (int i = 0; i < 12; ++i) numbers >> number;
    return number;
  }
  return 0;
}

}  // namespace

Result<TunDevice> TunDevice::open(const NetworkNamespace& space, const std::string& address,
                                  DataSize mtu) {
  Descriptor tun;
  const Status made = space.run([&]() -> Status {
    if (Status opened = make_tun(tun); !opened) return opened;
    return set_up(address, mtu);
  });
  if (!made) return made.error();
  return TunDevice(space, std::move(tun));
}

Status TunDevice::set_mtu(DataSize mtu) const {
  return space_->run([&]() -> Status {
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return tun_error("no socket can be made");
    return set_interface_mtu(socket.get(), mtu);
  });
}

void TunDevice::drain() const {
  std::array<std::byte, 64> start_of_frame;  // the rest of a frame is cut off
  while (::read(descriptor(), start_of_frame.data(), start_of_frame.size()) > 0) {
  }
}

std::int64_t TunDevice::num_dropped() const {
  std::int64_t dropped = 0;
  const Status read = space_->run([&]() -> Status {
    std::ifstream devices("/proc/thread-self/net/dev");
    dropped = dropped_in(devices);
    return {};
  });
  return read ? dropped : 0;
}

}  // namespace sluice
