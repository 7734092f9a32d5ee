// A cable between two namespaces: a veth pair with addresses, up.
#pragma once

#include "base/units.h"
#include "emu/host/namespace.h"

namespace sluice {

inline constexpr const char* kVethNear = "10.77.0.1";
inline constexpr const char* kVethFar = "10.77.0.2";

// How one end is set up. `largest_segment` is what TCP may hand down as one (segmentation offload).
struct VethEnd {
  const NetworkNamespace* space;
  DataSize mtu;
  DataSize largest_segment;
};
// In each namespace the interface is `link`.
[[nodiscard]] Status make_veth(const VethEnd& near, const VethEnd& far);

// The interface's number; inside its namespace only.
[[nodiscard]] int veth_index();

}  // namespace sluice
