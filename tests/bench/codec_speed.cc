// `./sluice codec bench`: how fast codecs encode and decode, next to the machine's memory and to
// library coders, all in one run. Measures, asserts nothing.
// Where in the flow: the codecs of the registry, on a made cache or a capture; the table's columns
// are explained in tests/bench/README.md.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_line.h"
#include "codec/capture_format.h"
#include "codec/model_profile/model_profile.h"
#include "tests/bench/speed_input.h"
#include "tests/bench/speed_run.h"

namespace sluice::bench {
namespace {

struct Options {
  std::vector<std::string> codecs, levels, backends;
  std::vector<int> cores;
  std::int64_t tokens = 256, chunk_tokens = 0;
  int repeats = 3;
  std::string capture, model_profile, clock = "wall", format = "table";
  bool has_no_peers = false;
};

struct Request {
  SpeedPlan plan;
  TableFormat format = TableFormat::kTable;
};

Result<std::vector<CodecLevel>> chosen_levels(const Options& options) {
  std::vector<CodecLevel> chosen;
  for (const std::string& name : options.codecs) {
    const auto level = find_codec_level(name);
    if (!level) return level.error();
    if (level->reducer != nullptr)
      return error_in("--codec", fmt::format("`{}` drops tokens, and coding is timed", name),
                      fmt::format("name the codec: `{}`", level->codec->info.id));
    if (name.find('@') != std::string::npos) chosen.push_back(*level);
  }
  for (const Codec& codec : all_codecs()) {
    const bool is_named = std::count(options.codecs.begin(), options.codecs.end(), codec.info.id);
    if (!options.codecs.empty() && !is_named) continue;
    for (std::size_t i = 0; i < codec.info.levels.size(); ++i) {
      const auto& wanted = options.levels;
      const CodecLevel level{&codec, i};
      if (wanted.empty() || std::count(wanted.begin(), wanted.end(), level.level_name()) > 0)
        chosen.push_back(level);
    }
  }
  if (chosen.empty()) {
    return error_in("--level", "no chosen codec has such a level",
                    "`./sluice codec list` names the levels");
  }
  return chosen;
}

Result<Request> request_of(const Options& options) {
  Request request;
  const auto levels = chosen_levels(options);
  if (!levels) return levels.error();
  request.plan.codec_levels = *levels;
  for (const std::string& name : options.backends) {
    const auto backend = backend_from_text(name);
    if (!backend) return error_in("--backend", backend.error().what, backend.error().fix);
    request.plan.backends.push_back(*backend);
  }
  if (options.backends.empty()) request.plan.backends = available_backends();
  request.plan.cores = options.cores;
  if (request.plan.cores.empty()) request.plan.cores = {1, num_cpus()};
  std::sort(request.plan.cores.begin(), request.plan.cores.end());
  request.plan.cores.erase(std::unique(request.plan.cores.begin(), request.plan.cores.end()),
                           request.plan.cores.end());
  request.plan.timing = {.clock = options.clock == "cpu" ? Clock::kCpu : Clock::kWall,
                         .repeats = options.repeats};
  request.plan.has_peers = !options.has_no_peers;
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  request.format = *format;
  return request;
}

Result<SpeedInput> input_of(const Options& options) {
  if (options.capture.empty()) {
    return SpeedInput{.cache = made_kv_cache(options.tokens),
                      .num_model_layers = kModelLayers,
                      .name = "a made cache of Mistral-7B's shape (8 KV heads of 128)",
                      .chunk_tokens = options.chunk_tokens};
  }
  auto capture = read_capture(options.capture);
  if (!capture) return capture.error();
  const KvShape shape = shape_of(capture->cache.view());
  if (num_elements(shape) == 0) {
    return error_in(options.capture, "the capture holds no element", "use one with tokens");
  }
  SpeedInput input{.cache = capture->cache,
                   .num_model_layers = num_model_layers(shape),
                   .name = options.capture,
                   .chunk_tokens = options.chunk_tokens};
  if (auto importance = token_importance(*capture)) input.importance = *std::move(importance);
  if (!options.model_profile.empty()) {
    auto profile = find_model_profile(options.model_profile);
    if (!profile) return profile.error();
    input.model_profile = *std::move(profile);
  }
  return input;
}

void print(const SpeedReport& report, TableFormat format) {
  if (format == TableFormat::kTable) {
    for (const std::string& line : report.head) std::cout << line << '\n';
  }
  print_as(format, table_of(report), json_of(report), std::cout);
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--codec", options.codecs, "only this codec, or codec@level; several times");
  app.add_option("--level", options.levels, "only levels of this name; several times");
  app.add_option("--backend", options.backends, "only scalar or avx2; several times");
  app.add_option("--cores", options.cores, "threads; several times (default: 1, and all)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--tokens", options.tokens, "tokens of the made cache")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65'536}))
      ->capture_default_str();
  app.add_option("--repeat", options.repeats, "repeats per row; the median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--capture", options.capture, "a capture (safetensors) in place of a made cache");
  app.add_option("--chunk-tokens", options.chunk_tokens,
                 "tokens coded together, each chunk in sections of its own (default: all)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}));
  app.add_option("--model-profile", options.model_profile,
                 "a shipped one, for the codecs that use one (default: none)")
      ->needs("--capture");
  app.add_flag("--no-peers", options.has_no_peers, "leave out zstd and the arithmetic coder");
  app.add_option("--clock", options.clock,
                 "wall, or cpu: processor time per core, for hosts that others use too")
      ->check(CLI::IsMember({"wall", "cpu"}))
      ->capture_default_str();
  app.add_option("--format", options.format, "table, csv or json")->capture_default_str();
  app.footer("example: ./sluice codec bench --codec int4 --cores 1");
}

Status run(const Options& options) {
  const auto request = request_of(options);
  if (!request) return request.error();
  const auto input = input_of(options);
  if (!input) return input.error();
  const auto report = measure_speed(request->plan, *input);
  if (!report) return report.error();
  print(*report, request->format);
  return {};
}

int fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_line().c_str());
  return kExitFailed;
}

}  // namespace
}  // namespace sluice::bench

int main(int argc, char** argv) {
  using namespace sluice::bench;
  try {
    CLI::App app("Measure how fast codecs encode and decode on this machine.",
                 "./sluice codec bench");
    Options options;
    add_options(app, options);
    if (const auto code = sluice::parse_command_line(app, argc, argv)) return *code;
    const sluice::Status status = run(options);
    return status ? 0 : fail(status.error());
  } catch (const std::exception& error) {
    return fail(sluice::error_in("", error.what(), "report this as a bug"));
  }
}
