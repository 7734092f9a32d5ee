// Network namespaces of our own, without names: they are gone when the last process, socket or
// descriptor in them is, so that nothing is left behind even after SIGKILL.
// Surprise: without root, a user namespace (where the host allows it) gives the right to make them;
// the kernel lets only programs without threads enter one, so ask here before starting threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "emu/host/descriptor.h"

namespace sluice {

class NetworkNamespace {
 public:
  // A new one with its loopback up, TCP's memory large enough for 3 Gbit/s at 40 ms, and no metrics
  // kept between connections. Errors: the host does not allow it, with what is missing.
  [[nodiscard]] static Result<NetworkNamespace> make();

  // Runs `job` on a thread inside the namespace, and waits for it. Sockets and interfaces made
  // there stay there, whoever uses them later.
  [[nodiscard]] Status run(const std::function<Status()>& job) const;
  [[nodiscard]] int descriptor() const {
    return descriptor_.get();
  }  // for setns() of a child process

 private:
  explicit NetworkNamespace(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

// nullopt where namespaces, veth and TUN can be made; else the one line that says what is missing.
[[nodiscard]] std::optional<std::string> why_no_namespaces();

}  // namespace sluice
