// The subcommands of `sluice codec`, one file each.
// Where in the flow: main.cc adds them all; the user's choice sets `run`, which main.cc calls after
// parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/backend.h"
#include "codec/container/seal.h"
#include "codec/model_profile/model_profile.h"
#include "codec/registry.h"

namespace sluice::cli {

using Run = std::function<Status()>;

void add_list(CLI::App& app, Run& run);
void add_encode(CLI::App& app, Run& run);
void add_decode(CLI::App& app, Run& run);
void add_inspect(CLI::App& app, Run& run);
void add_key(CLI::App& app, Run& run);
void add_profile(CLI::App& app, Run& run, const std::string& command_line);
void add_statistics(CLI::App& app, Run& run);
void add_ladder(CLI::App& app, Run& run);

// `--codec int8 --level token`, or `--codec int8@token`; without a level the codec's default.
[[nodiscard]] Result<CodecLevel> choose_level(const std::string& codec, const std::string& level);
// How encode and decode run: what the user may choose about it.
struct RunOptions {
  std::string backend;   // empty: the fastest here
  int threads = 0;       // 0: one per core
  std::string seal_key;  // file; empty: none
};
void add_run_options(CLI::App& command, RunOptions& options, const std::string& seal_help);
struct RunChoice {
  Backend backend = Backend::kScalar;
  int threads = 1;
  std::optional<SealKey> seal_key;
};
[[nodiscard]] Result<RunChoice> choose_run(const RunOptions& options);

inline constexpr const char* kAutoModelProfile = "auto";
inline constexpr const char* kNoModelProfile = "none";
// A model profile by name or file; "auto": the shipped one of the capture's model, `diag` first; or
// none. Null: none.
[[nodiscard]] Result<std::shared_ptr<const ModelProfile>> choose_model_profile(
    const std::string& choice, const KvFacts& facts);

// What encoders may know besides the tensors: --model-profile and --ignore-queries.
void add_coding_options(CLI::App& command, std::string& model_profile, bool& ignores_queries);

// To stderr, one line each.
void print_notes(const std::vector<std::string>& notes);

}  // namespace sluice::cli
