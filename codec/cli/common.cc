#include <algorithm>
#include <cstdio>
#include <thread>

#include "codec/cli/commands.h"

namespace sluice::cli {
namespace {

constexpr int kMaxThreads = 1024;

}  // namespace

Result<CodecLevel> choose_level(const std::string& codec, const std::string& level) {
  if (level.empty()) return find_codec_level(codec);
  if (codec.find('@') != std::string::npos) {
    return error_in("--codec", "`" + codec + "` names a level, and so does --level",
                    "name it once");
  }
  return find_codec_level(codec, level);
}

void add_run_options(CLI::App& command, RunOptions& options, const std::string& seal_help) {
  command.add_option("--threads", options.threads, "threads; without it, one per core")
      ->check(CLI::Range(1, kMaxThreads));
  command.add_option("--backend", options.backend,
                     "scalar or avx2; without it, the fastest that runs here");
  command.add_option("--seal-key", options.seal_key, seal_help);
}

Result<RunChoice> choose_run(const RunOptions& options) {
  RunChoice choice;
  choice.backend = best_backend();
  if (!options.backend.empty()) {
    const auto named = backend_from_text(options.backend);
    if (!named) return error_in("--backend", named.error().what, named.error().fix);
    choice.backend = *named;
  }
  choice.threads = options.threads > 0
                       ? options.threads
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (!options.seal_key.empty()) {
    auto key = read_seal_key(options.seal_key);
    if (!key) return key.error();
    choice.seal_key = *key;
  }
  return choice;
}

Result<std::shared_ptr<const ModelProfile>> choose_model_profile(const std::string& choice,
                                                                 const KvFacts& facts) {
  using Found = std::shared_ptr<const ModelProfile>;
  if (choice == kNoModelProfile) return Found();
  if (choice != kAutoModelProfile)
    return std::filesystem::exists(choice) ? read_model_profile(choice)
                                           : find_model_profile(choice);
  Found chosen;
  for (const std::string& name : model_profile_names()) {
    auto profile = find_model_profile(name);
    if (!profile) return profile.error();
    const bool fits = (*profile)->model == facts.model && (*profile)->revision == facts.revision;
    if (fits && !facts.model.empty() && (!chosen || (*profile)->block < chosen->block))
      chosen = *std::move(profile);
  }
  return chosen;
}

void add_coding_options(CLI::App& command, std::string& model_profile, bool& ignores_queries) {
  command
      .add_option("--model-profile", model_profile,
                  "for codecs that use one: a name, a file, auto (the shipped one of the "
                  "capture's model) or none")
      ->capture_default_str();
  command.add_flag("--ignore-queries", ignores_queries,
                   "code all tokens alike, also where the capture holds queries");
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "%s\n", note.c_str());
}

}  // namespace sluice::cli
