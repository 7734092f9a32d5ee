#include "emu/host/namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "emu/host/descriptor.h"

namespace sluice {
namespace {

constexpr const char* kFix = "run as root, or where unprivileged user namespaces are allowed";

Error lacks(const std::string& what, int code) {
  return error_in("namespaces", fmt::format("{}: {}", what, std::strerror(code)), kFix);
}

// Runs `job` on a thread of its own, since a thread may change namespace and a program may not.
Status on_a_thread(const std::function<Status()>& job) {
  Status done;
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      done = job();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
  return done;
}

// Opened by a thread, /proc/sys/net shows the namespace of that thread.
Status write_file(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return lacks(fmt::format("{} cannot be opened", path), errno);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return lacks(fmt::format("{} cannot be set to `{}`", path, text), errno);
  return {};
}

Status raise_loopback() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return lacks("no socket can be made", errno);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    return lacks("the loopback interface cannot be raised", errno);
  return {};
}

// Receive windows grow to half of tcp_rmem's largest value: 3 Gbit/s times 40 ms is 15 MB.
Status tune_tcp() {
  const std::string tcp = "/proc/sys/net/ipv4/tcp_";
  for (const auto& [name, value] : {std::pair{"rmem", "4096 131072 67108864"},
                                    {"wmem", "4096 65536 67108864"},
                                    {"no_metrics_save", "1"}}) {
    if (Status set = write_file(tcp + name, value); !set) return set;
  }
  // New interfaces would otherwise greet their neighbours and so start the link's schedule.
  const std::string silence = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
  if (::access(silence.c_str(), F_OK) != 0) return {};
  return write_file(silence, "1");
}

// The rights of root over new namespaces, for the whole program; the user stays who they are.
Status enter_user_namespace() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) {
    const int code = errno;
    if (code == EINVAL)
      return lacks("a user namespace must be entered before the program has threads", code);
    return lacks("neither network nor user namespaces can be made", code);
  }
  if (Status set = write_file("/proc/self/setgroups", "deny"); !set) return set;
  if (Status set = write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", user)); !set)
    return set;
  return write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

Status unshare_network() {
  if (::unshare(CLONE_NEWNET) == 0) return {};
  return lacks("network namespaces cannot be made", errno);
}

bool may_unshare_network() {
  return on_a_thread(unshare_network).ok();
}

// Once for the program: what is missing for namespaces, having done what can be done about it.
const Status& rights() {
  static const Status kRights = may_unshare_network() ? Status() : enter_user_namespace();
  return kRights;
}

Status make_tun() {
  const Descriptor tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tun) return lacks("/dev/net/tun cannot be opened", errno);
  ifreq request{};
  std::strcpy(request.ifr_name, "probe");
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tun.get(), TUNSETIFF, &request) != 0)
    return lacks("TUN interfaces cannot be made", errno);
  return {};
}

std::optional<std::string> find_what_is_missing() {
  const Result<NetworkNamespace> space = NetworkNamespace::make();
  const Status made = space ? space->run(make_tun) : Status(space.error());
  if (made) return std::nullopt;
  return fmt::format("{} ({})", made.error().what, made.error().fix);
}

}  // namespace

Result<NetworkNamespace> NetworkNamespace::make() {
  if (!rights()) return rights().error();
  Descriptor descriptor;
  const Status made = on_a_thread([&]() -> Status {
    if (Status apart = unshare_network(); !apart) return apart;
    descriptor = Descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!descriptor) return lacks("/proc/thread-self/ns/net cannot be opened", errno);
    if (Status raised = raise_loopback(); !raised) return raised;
    return tune_tcp();
  });
  if (!made) return made.error();
  return NetworkNamespace(std::move(descriptor));
}

Status NetworkNamespace::run(const std::function<Status()>& job) const {
  return on_a_thread([&]() -> Status {
    if (::setns(descriptor_.get(), CLONE_NEWNET) != 0)
      return lacks("a network namespace cannot be entered", errno);
    return job();
  });
}

std::optional<std::string> why_no_namespaces() {
  static const std::optional<std::string> kMissing = find_what_is_missing();
  return kMissing;
}

}  // namespace sluice
