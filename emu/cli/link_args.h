// The options that describe a link, and the spec that they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "emu/link/emulated_link.h"

namespace sluice::cli {

struct LinkArgs {
  std::vector<std::string> traces;  // up, down
  std::string rate, up, down;
  std::string reader, unit;
  std::string delay = "0s", jitter = "0s", loss = "0%", queue = "16MiB", law = "droptail",
              mtu = "1500B";
  std::uint64_t seed = 0;
};

void add_link_options(CLI::App& command, LinkArgs& args);

// Errors name the option, or file and line of a trace.
[[nodiscard]] Result<EmulatedLinkSpec> spec_of(const LinkArgs& args);

}  // namespace sluice::cli
