// Reading a command line, the same way in every program: help on stdout, a fault as one line on
// stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace sluice {

inline constexpr int kExitFailed = 1;  // what was asked for could not be done
inline constexpr int kExitUsage = 2;   // what was asked for could not be understood

// Empty: go on with what `app` has read. Else the exit code, with help or error already printed.
// The app's name is what users type ("./sluice store").
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace sluice
