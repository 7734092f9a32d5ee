// Which process made a claim, and whether it still lives. Linux: /proc.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// "host boot-id pid start-time" of this process. A pid alone is reused; with its start time and the
// boot it is unique.
[[nodiscard]] std::string this_worker();

// False when the process has ended, or ran before this machine's last boot or on another machine: a
// store in WAL mode is only ever used from one running machine at a time
// (https://sqlite.org/wal.html).
[[nodiscard]] bool is_alive(std::string_view worker);

}  // namespace sluice
