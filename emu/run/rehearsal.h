// How long chunks take to decode while link, server and client use the same processors.
// Where in the flow: after the chunks exist, before simulation and emulation; both then plan with
// these times instead of those of an idle machine.
// Surprise: it is a run over the emulated link that nobody scores, in real time.
#pragma once

#include "emu/run/emulated_runs.h"

namespace sluice {

// Replaces the decode time of each place and length in a context by that of the median decode of
// the run there, at all levels by the same factor; of places where nothing was decoded by the
// median factor of all. Without any decode `contents` stay as they are.
[[nodiscard]] Result<ScenarioContents> rehearse(ScenarioContents contents, const PolicySpec& policy,
                                                const EmulationOptions& options);

// The same from what a run observed.
[[nodiscard]] MeasuredChunks with_decodes_of(const MeasuredChunks& measured,
                                             const CodecProfile& ladder,
                                             const std::vector<LoadRecord>& loads);

}  // namespace sluice
