// What the command line says of a context that is to be made.
// Where in the flow: `emu serve --make`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "emu/contents/make_contents.h"

namespace sluice::cli {

struct MakeOptions {
  std::string name;                 // of a model or a scenario; empty: nothing is made
  std::vector<std::string> levels;  // empty: the scenario's, else a usual ladder
  std::string capture, keep;
  std::int64_t tokens = 9490;
  std::optional<std::int64_t> chunk_tokens;  // absent: the scenario's, else 1500
  std::string text_per_token = "4B";
  std::uint64_t context = 0, seed = 1;
};

void add_make_options(CLI::App& command, MakeOptions& options);

// `options` outlive the spec. With a progress line where stderr is a terminal.
[[nodiscard]] Result<ContentsSpec> contents_spec(const MakeOptions& options);

}  // namespace sluice::cli
