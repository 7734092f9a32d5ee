// sluice codec profile: runs codecs over a captured cache and writes what sessions need to know
// about them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "base/sha256.h"
#include "codec/cli/commands.h"
#include "codec/geometry/geometry.h"
#include "codec/measure/measure.h"

namespace sluice::cli {
namespace {

constexpr std::int64_t kMaxChunkTokens = 10'000'000;

struct Options {
  std::string in, out, model, command_line;
  std::vector<std::string> codecs;
  std::int64_t chunk_tokens = MeasureOptions{}.chunk_tokens;
  int repeats = MeasureOptions{}.repeats;
  std::string model_profile = kAutoModelProfile;
  bool ignores_queries = false;
};

// The checked-out commit, with "-dirty" after it when files differ; empty without git.
std::string commit() {
  const auto home = sluice_home();
  if (!home || !std::filesystem::exists(*home / ".git")) return "";
  std::string quoted = "'";
  for (const char c : home->string())
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  const std::string git =
      "git -C " + quoted + "' describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(git.c_str(), "r"), ::pclose);
  if (pipe == nullptr) return "";
  char line[128] = {};
  std::string text = std::fgets(line, sizeof line, pipe.get()) == nullptr ? "" : line;
  text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
  return text;
}

bool matches(const ModelGeometry& geometry, const KvShape& shape) {
  const auto same_layer = [](const KvLayer<TensorShape>& layer, const LayerGeometry& known) {
    const TensorShape& first = layer.latent ? *layer.latent : *layer.key;
    return known.tensors == (layer.latent ? 1 : 2) && known.kv_heads == first.heads &&
           known.head_dim == first.dim;
  };
  return std::equal(shape.layers.begin(), shape.layers.end(), geometry.layers.begin(),
                    geometry.layers.end(), same_layer);
}

// The shipped geometry of the capture's shape, if there is exactly one.
Result<std::string> model_of(const Options& options, const KvShape& shape) {
  if (!options.model.empty()) return options.model;
  const auto geometries = all_geometries();
  if (!geometries) return geometries.error();
  std::vector<std::string> found;
  for (const ModelGeometry& geometry : *geometries) {
    if (matches(geometry, shape)) found.push_back(geometry.id);
  }
  if (found.size() == 1) return found.front();
  return error_in("--model",
                  fmt::format("{} shipped geometries have the shape of {}",
                              found.empty() ? "no" : "several", options.in),
                  "name the model: --model ID");
}

Result<std::vector<CodecLevel>> chosen_levels(const Options& options) {
  std::vector<std::string> names = options.codecs;
  if (names.empty()) {
    for (const Codec& codec : all_codecs()) names.push_back(codec.info.id);
  }
  std::vector<CodecLevel> chosen;
  for (const std::string& name : names) {
    const auto levels = find_codec_levels(name);
    if (!levels) return levels.error();
    chosen.insert(chosen.end(), levels->begin(), levels->end());
  }
  return chosen;
}

Status profile(const Options& options) {
  const auto levels = chosen_levels(options);
  if (!levels) return levels.error();
  const auto file = read_safetensors(options.in);
  if (!file) return file.error();
  const auto capture = capture_of(*file);
  if (!capture) return capture.error();
  print_notes(capture->notes);
  const KvShape shape = shape_of(capture->cache.view());
  const auto model = model_of(options, shape);
  if (!model) return model.error();
  const auto known = choose_model_profile(options.model_profile, shape.facts);
  if (!known) return known.error();
  auto result =
      measure_codecs(*capture,
                     {.chunk_tokens = options.chunk_tokens,
                      .repeats = options.repeats,
                      .levels = *levels,
                      .model_profile = *known,
                      .uses_importance = !options.ignores_queries},
                     [](const std::string& level) { fmt::print(stderr, "measuring {}\n", level); });
  if (!result) return error_in(options.in, result.error().what, result.error().fix);
  result->model = *model;
  result->command = options.command_line;
  result->commit = commit();
  result->data_sha256 = sha256_hex(*file->bytes);
  result->note = fmt::format(
      "{} layers, {} tokens of {} in chunks of {}; model profile {}; times are CPU times of one "
      "thread, medians of {} runs",
      shape.layers.size(), token_range(shape).tokens(),
      shape.facts.model.empty() ? "an unnamed model" : shape.facts.model, result->chunk_tokens,
      *known ? (*known)->name : "none", options.repeats);
  if (Status written = write_profile(*result, options.out); !written) return written;
  fmt::print(stderr, "wrote {}: {} levels, damage is {}\n", options.out, result->levels.size(),
             result->damage_measure);
  return {};
}

}  // namespace

void add_profile(CLI::App& app, Run& run, const std::string& command_line) {
  CLI::App* command = app.add_subcommand(
      "profile", "measure bytes, times and damage of codecs on a captured KV cache");
  const auto options = std::make_shared<Options>();
  options->command_line = command_line;
  command->add_option("IN", options->in, "capture; with queries, damage is attention-output error")
      ->required();
  command->add_option("--out", options->out, "profile to write (JSON)")->required();
  command->add_option(
      "--codec", options->codecs,
      "only this codec, codec@level, or one with a reducer (int8+h2o); may be given several times");
  command->add_option("--chunk-tokens", options->chunk_tokens, "tokens per container")
      ->check(CLI::Range(std::int64_t{1}, kMaxChunkTokens))
      ->capture_default_str();
  command->add_option("--repeat", options->repeats, "runs per timing; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_coding_options(*command, options->model_profile, options->ignores_queries);
  command->add_option("--model", options->model,
                      "model geometry; without it, the shipped one of the capture's shape");
  command->footer(
      "example: ./sluice codec profile tests/data/smollm2-gettysburg.safetensors --out "
      "/tmp/profile.json --codec int8");
  command->callback([&run, options] { run = [options] { return profile(*options); }; });
}

}  // namespace sluice::cli
