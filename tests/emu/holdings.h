// What this process holds that can be leaked.
#pragma once

#include <cstddef>
#include <string>

namespace sluice {

struct Holdings {
  std::size_t descriptors = 0, threads = 0;
  std::size_t processes = 0;  // children, of any thread, ended ones that nobody waited for included
  std::size_t namespaces = 0;  // network namespaces: our own, and those open or run in by us
  bool operator==(const Holdings&) const = default;
};

// Now. Source: /proc/self, proc(5).
[[nodiscard]] Holdings current_holdings();
// As soon as they are `expected`, else after two seconds: a thread that was joined stays in /proc
// for a moment.
[[nodiscard]] Holdings settled_holdings(const Holdings& expected);
[[nodiscard]] std::string to_text(const Holdings& holdings);

}  // namespace sluice
