// Traces from the canonical form back to files, in formats that their readers give back unchanged
// where they can.
// Where in the flow: beside step 1; `sluice trace convert` and `synth` call this.
// Surprise: mahimahi knows whole packets per millisecond only. What a millisecond cannot hold is
// carried to the next, so that a lap moves the same bytes to within one packet.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "traces/link_trace.h"

namespace sluice {

struct WriterInfo {
  std::string_view id;  // that of the reader for the same format
  std::string_view summary;
  TraceClock clock;  // the traces it can hold
  bool several;      // in one file
  // As what its reader takes the rates; nullopt: the file says the kind.
  std::optional<TraceKind> kind;
  bool keeps_delay = false;  // none keeps losses
};
[[nodiscard]] std::span<const WriterInfo> writers();

// Writes all of `traces` (each passes check_trace()) to `path`, whole or not at all. Refuses an
// unknown format, a clock the format cannot hold, more traces than it can hold, a trace that ends
// in TraceEnd::kHold (every format repeats), and what writer_mahimahi cannot express.
[[nodiscard]] Status write_traces(const std::filesystem::path& path, std::string_view format,
                                  std::span<const LinkTrace> traces);

}  // namespace sluice
