// The emulator `process`: no root, no namespaces; TCP connections on loopback go through relays in
// this process, which pass bytes on at the rate and delay of the trace.
// Where in the flow: one row of the table in emu/link/emulators.cc; the last resort.
// Surprises: TCP itself meets loopback and not the link: no packet is lost, none waits in a queue
// that overflows (a sender is held back instead), a handshake takes no round trip, and windows grow
// at once. Results made with it carry its name.
#pragma once

#include <memory>

#include "emu/link/emulated_link.h"

namespace sluice {

// Refuses loss, jitter, delay traces, and queue laws other than drop-tail.
[[nodiscard]] Status check_process_link(const EmulatedLinkSpec& spec);

// Servers listen on 127.0.0.1; clients reach those that relay_to() was told of at the far end's
// address, one of 127.77.0.0/16. rearm() closes what is connected.
[[nodiscard]] Result<std::unique_ptr<EmulatedLink>> open_process_link(const EmulatedLinkSpec& spec);

}  // namespace sluice
