// A results store as one self-contained HTML page: verdicts, distributions, one load's timeline,
// how to make it again.
// Where in the flow: step 8, after the store (7) and the score (6). `sluice report` and `sluice sim
// --report` write it.
// Surprise: the page loads nothing: no script, no font, no picture from anywhere.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "analysis/store/facts.h"
#include "base/result.h"

namespace sluice {

// One load, named by a run of it: `--load RUN/INDEX`.
struct LoadName {
  RunId run;
  std::int64_t index = 0;
};

struct ReportOptions {
  // What to show; an empty field does not restrict.
  std::optional<std::string> scenario, scenario_sha256, tier;
  // Pairs against this policy only; absent: all pairs, drawn against the policy that violates
  // least.
  std::optional<std::string> baseline;
  double delta = 0.01;  // as ScoreOptions::delta
  std::string title = "Sluice: context loading under a fluctuating link";
  // Whose timeline to draw, in the block that it belongs to; absent: chosen by a rule that the page
  // states.
  std::optional<LoadName> load;
};

// "RUN/INDEX", as in "12/3".
[[nodiscard]] Result<LoadName> parse_load_name(const std::string& text);

// Writes the page to `out`, whole or not at all. Errors: a store that cannot be read or holds
// nothing to show, an unknown baseline or load, a page that cannot be written.
[[nodiscard]] Status write_report(const std::filesystem::path& store, const ReportOptions& options,
                                  const std::filesystem::path& out);

}  // namespace sluice
