// The fault soak: whole loads of small real contents, and in each of them one fault, at a random
// moment, as often as is asked for.
// Where in the flow: tests/emu/soak_test.cc runs a few of each, tests/bench/emu_soak.cc a hundred.
// Surprises: a place (link, server, client) serves one load per fault and is then made anew, so
// that what it leaks adds up; some faults never end, and then the load must say that it failed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "emu/client/decode_worker.h"
#include "sim/session/record.h"
#include "tests/emu/holdings.h"

namespace sluice {

enum class SoakFault {
  kServerGone,     // closed in the middle of a load, with all its connections; starts again
  kProcessKilled,  // the same with a `sluice-emu serve` of its own, by SIGKILL
  kReset,
  kStalledDisk,
  kCorruptAtRest,
  kCorruptOnWire,
  kHalfOpen,
  kRefused,
  kLinkOutage,  // needs the emulated link
};

struct SoakOptions {
  std::int64_t times = 100;  // of each fault
  bool over_link = true;     // `tun`; else loopback, without outages
  std::uint64_t seed = 1;
  std::filesystem::path emu_program;  // sluice-emu; empty: kProcessKilled is left out
};

// Of one fault.
struct FaultTally {
  SoakFault fault = SoakFault::kServerGone;
  std::int64_t injected = 0;   // loads that met it
  std::int64_t missed = 0;     // loads that were over before
  std::int64_t completed = 0;  // of the injected ones
  std::int64_t failed = 0;     // said so, with words
  std::int64_t hangs = 0;      // neither, within kLoadBound
  std::int64_t wrong_tensors = 0;
  std::int64_t wordless = 0;  // failed and did not say why
  Duration longest{};         // load
};

struct SoakReport {
  std::vector<FaultTally> faults;
  Holdings before, after;
  Duration took{};
};

inline constexpr Duration kLoadBound = std::chrono::seconds{15};

// Errors: contents, link or server cannot be made; an idle one that cannot be reached. A load that
// does not even give its thread back ends the program.
[[nodiscard]] Result<SoakReport> run_soak(const SoakOptions& options);

[[nodiscard]] const char* to_text(SoakFault fault);
// What is wrong, a line each; empty: nothing.
[[nodiscard]] std::vector<std::string> complaints(const SoakReport& report, std::int64_t times);

// Decoded chunks of this load that are not what was encoded, by a hash of our own reckoning; of a
// completed load also those that are not there.
[[nodiscard]] std::int64_t count_wrong_tensors(const Catalogue& catalogue, const LoadRecord& load,
                                               const DecodeWorker& worker);

}  // namespace sluice
