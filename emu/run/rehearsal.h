// How long chunks take to decode while link, server and client use the same processors, and what a
// request takes there beside the round trip.
// Where in the flow: after the chunks exist, before simulation and emulation; both then plan with
// these decode times, and the simulation takes the request time, which the emulation has anyway.
// Surprise: these are runs over the emulated link that nobody scores, in real time; the first load
// warms the machine up and is left out.
#pragma once

#include "emu/run/emulated_runs.h"

namespace sluice {

// Replaces the decode time of each place and length in a context by that of the median decode
// there, at all levels by the same factor; of places where nothing was decoded by the median factor
// of all; and Scenario::request_time by that of the runs. Without any decode or request that tells,
// what `contents` say stays. `runs` are of `contents`, and those that are scored, since a decode's
// speed depends on where its memory lies.
[[nodiscard]] Status rehearse(ScenarioContents& contents, EmulatedRuns& runs,
                              const PolicySpec& policy);

// The same from what a run observed.
[[nodiscard]] MeasuredChunks with_decodes_of(const MeasuredChunks& measured,
                                             const CodecProfile& ladder,
                                             const std::vector<LoadRecord>& loads);

// The median of the times from request to first byte beyond `round_trip`, of requests that waited
// for nothing else: no handshake, as the first of a load does, and no transfer before them. Its
// part is the time of the first frame on the link. nullopt: there was none.
[[nodiscard]] std::optional<Duration> request_time_of(const std::vector<LoadRecord>& loads,
                                                      Duration round_trip);

}  // namespace sluice
