// Requests to the kernel's network configuration (rtnetlink(7)), one at a time, each acknowledged.
// Where in the flow: under the emulator `kernel`; carried by libnl.
#pragma once

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace sluice {

class NetlinkRequest {
 public:
  // `header` is what RTM_* messages begin with: ifinfomsg, ifaddrmsg or tcmsg.
  template <typename Header>
  NetlinkRequest(int type, int flags, const Header& header)
      : message_(nlmsg_alloc_simple(type, flags), nlmsg_free) {
    append(header);
  }
  template <typename Header>
  void append(const Header& header) {
    nlmsg_append(message_.get(), const_cast<Header*>(&header), sizeof header, NLMSG_ALIGNTO);
  }
  void put(int attribute, std::uint32_t value) { nla_put_u32(message_.get(), attribute, value); }
  void put64(int attribute, std::uint64_t value) { nla_put_u64(message_.get(), attribute, value); }
  void put(int attribute, const std::string& text) {
    nla_put_string(message_.get(), attribute, text.c_str());
  }
  template <typename Struct>
  void put_struct(int attribute, const Struct& value) {
    nla_put(message_.get(), attribute, sizeof value, &value);
  }
  // Puts attributes inside `attribute`.
  void nest(int attribute, const std::function<void()>& fill) {
    nlattr* start = nla_nest_start(message_.get(), attribute);
    fill();
    nla_nest_end(message_.get(), start);
  }
  [[nodiscard]] nl_msg* release() { return message_.release(); }
  [[nodiscard]] nl_msg* get() const { return message_.get(); }

 private:
  std::unique_ptr<nl_msg, void (*)(nl_msg*)> message_;
};

// Speaks of the namespace of the thread that opened it.
class NetlinkSocket {
 public:
  [[nodiscard]] static Result<NetlinkSocket> open();
  // `what` completes "cannot ...".
  [[nodiscard]] Status request(NetlinkRequest request, const std::string& what);
  // Calls `see` with each message of a dump.
  [[nodiscard]] Status dump(NetlinkRequest request, const std::function<void(nlmsghdr*)>& see);

 private:
  explicit NetlinkSocket(nl_sock* socket) : socket_(socket, nl_socket_free) {}
  std::unique_ptr<nl_sock, void (*)(nl_sock*)> socket_;
};

}  // namespace sluice
