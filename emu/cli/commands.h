// The subcommands of `sluice emu`, one file each.
// Where in the flow: main.cc adds every row of the table; the user's choice sets `run`, which
// main.cc calls after parsing and whose value is the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/result.h"

namespace sluice::cli {

using EmuRun = std::function<Result<int>()>;

// The same error, of the option whose value it is about.
[[nodiscard]] inline Error about(const char* option, const Error& error) {
  return error_in(option, error.what, error.fix);
}

void add_link(CLI::App& app, EmuRun& run);
void add_serve(CLI::App& app, EmuRun& run);
void add_load(CLI::App& app, EmuRun& run);
void add_validate(CLI::App& app, EmuRun& run);
void add_record(CLI::App& app, EmuRun& run);

}  // namespace sluice::cli
