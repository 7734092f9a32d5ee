#include "emu/cli/make_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/parse.h"
#include "emu/cli/commands.h"
#include "sim/scenario/scenario.h"

namespace sluice::cli {
namespace {

constexpr std::int64_t kMaxTokens = 1 << 24;
constexpr std::int64_t kChunkTokensDefault = 1500;

// What a name stands for.
struct Subject {
  ModelGeometry model;
  std::vector<std::string> levels = {"int8@token", "cachegen-released@3", "cachegen-released@2",
                                     "cachegen-released@1"};
  std::int64_t chunk_tokens = kChunkTokensDefault;
};

Result<Subject> subject_of(const std::string& name) {
  auto model = find_geometry(name);
  if (model) return Subject{.model = std::move(*model)};
  const auto file = find_scenario(name);
  if (!file) {
    return error_in("--make", fmt::format("`{}` is no model and no scenario", name),
                    model.error().fix + " Scenarios: `ls scenarios`");
  }
  auto scenario = read_scenario(*file, {});
  if (!scenario) return scenario.error();
  Subject subject{.model = std::move(scenario->model), .levels = {}};
  for (const LevelFacts& level : scenario->ladder.levels) subject.levels.push_back(level.id());
  subject.chunk_tokens = scenario->chunk_tokens;
  return subject;
}

void print_progress(std::int64_t done, std::int64_t all) {
  fmt::print(stderr, "\rmaking {}/{}{}", done, all, done == all ? "\n" : "");
  std::fflush(stderr);
}

}  // namespace

Result<ContentsSpec> contents_spec(const MakeOptions& options) {
  auto subject = subject_of(options.name);
  if (!subject) return subject.error();
  ContentsSpec spec{.context = {options.context}, .seed = options.seed};
  spec.model = std::move(subject->model);
  for (const std::string& name : options.levels.empty() ? subject->levels : options.levels) {
    const auto level = find_codec_level(name);
    if (!level) return about("--level", level.error());
    spec.levels.push_back(*level);
  }
  const auto text = parse_size(options.text_per_token, "text per token");
  if (!text) return about("--text-per-token", text.error());
  spec.text_per_token = *text;
  spec.chunk_tokens =
      cut_into_chunks(options.tokens, options.chunk_tokens.value_or(subject->chunk_tokens));
  spec.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!options.capture.empty()) spec.capture = options.capture;
  if (!options.keep.empty()) spec.folder = options.keep;
  if (::isatty(STDERR_FILENO) == 1) spec.on_progress = print_progress;
  return spec;
}

void add_make_options(CLI::App& command, MakeOptions& options) {
  command.add_option("--make", options.name,
                     "make a context of this model, or of the model, ladder and chunk length of "
                     "this scenario; without --capture of made values");
  command.add_option("--capture", options.capture,
                     "real values to be tiled, as `./sluice codec capture` writes them");
  command.add_option("--level", options.levels, "level of the ladder, the best first; repeat it");
  command.add_option("--tokens", options.tokens, "of the context")
      ->check(CLI::Range(std::int64_t{1}, kMaxTokens))
      ->capture_default_str();
  command.add_option("--chunk-tokens", options.chunk_tokens, "of each chunk but the last")
      ->check(CLI::Range(std::int64_t{1}, kMaxTokens));
  command.add_option("--text-per-token", options.text_per_token, "0B: no text is kept")
      ->capture_default_str();
  command.add_option("--context", options.context, "the context's number")->capture_default_str();
  command.add_option("--seed", options.seed, "of made values and text")->capture_default_str();
  command.add_option("--keep", options.keep,
                     "write what is made into this new folder, for --contents; without it, memory");
}

}  // namespace sluice::cli
