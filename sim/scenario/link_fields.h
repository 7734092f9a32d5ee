// A link mapping (its keys are in README.md) and the `transport` mapping of a scenario. Private to
// sim/scenario.
#pragma once

#include <filesystem>

#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// Relative trace files are looked for beside the scenario file. Leaves finish() to the caller,
// whose mapping may hold more.
[[nodiscard]] LinkSetting read_link(Fields& fields, const std::filesystem::path& folder);
// A rate, or a mapping of `generator: ID` and its parameters.
[[nodiscard]] GeneratorSpec read_rate(Fields& fields, const std::string& key);
// "delay" or "loss" where the link takes it from its traces and they do not say it.
[[nodiscard]] std::optional<std::string> missing_in_traces(const LinkSetting& link);
// A generator that cannot fill its trace is a fault of the file, not of a run.
void check_generated(Fields& fields, const std::string& key, const GeneratorSpec& spec,
                     Duration trace_length);
[[nodiscard]] TransportSpec read_transport(Fields fields);

}  // namespace sluice
