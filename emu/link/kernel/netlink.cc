#include "emu/link/kernel/netlink.h"

#include <fmt/format.h>

#include <utility>

namespace sluice {
namespace {

Error refused(const std::string& what, int code) {
  return error_in("kernel", fmt::format("cannot {}: {}", what, nl_geterror(code)),
                  "use another --emulator");
}

int call(nl_msg* message, void* see) {
  (*static_cast<const std::function<void(nlmsghdr*)>*>(see))(nlmsg_hdr(message));
  return NL_OK;
}

}  // namespace

Result<NetlinkSocket> NetlinkSocket::open() {
  NetlinkSocket socket(nl_socket_alloc());
  if (!socket.socket_) return refused("make a netlink socket", -NLE_NOMEM);
  if (const int code = nl_connect(socket.socket_.get(), NETLINK_ROUTE); code < 0)
    return refused("make a netlink socket", code);
  return socket;
}

Status NetlinkSocket::request(NetlinkRequest request, const std::string& what) {
  const int code = nl_send_sync(socket_.get(), request.release());  // frees the message
  if (code < 0) return refused(what, code);
  return {};
}

Status NetlinkSocket::dump(NetlinkRequest request, const std::function<void(nlmsghdr*)>& see) {
  nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, call,
                      const_cast<std::function<void(nlmsghdr*)>*>(&see));
  int code = nl_send_auto(socket_.get(), request.get());
  if (code >= 0) code = nl_recvmsgs_default(socket_.get());
  nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_DEFAULT, nullptr, nullptr);
  if (code < 0) return refused("list its queues", code);
  return {};
}

}  // namespace sluice
