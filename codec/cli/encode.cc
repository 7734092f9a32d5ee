// sluice codec encode: a captured KV cache to a .kvb container.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/files.h"
#include "base/parse.h"
#include "codec/capture_format.h"
#include "codec/cli/commands.h"
#include "codec/container/encode.h"
#include "codec/token_importance.h"

namespace sluice::cli {
namespace {

constexpr int kMaxLayersPerSection = 65'535;  // as many as a container has layer numbers

struct Options {
  std::string codec, level, in, out;
  std::string max_size;  // empty: none
  std::string model_profile = kAutoModelProfile;
  bool ignores_queries = false;
  std::size_t layers_per_section = EncodeOptions{}.layers_per_section;
  RunOptions run;
};

// What the codec or the reducer asks for, if the capture tells.
std::optional<TokenImportance> importance_for(CodecLevel codec_level, const Capture& capture,
                                              bool ignores_queries) {
  const bool is_asked = codec_level.codec->info.uses_importance || codec_level.reducer != nullptr;
  if (!is_asked || ignores_queries) return std::nullopt;
  auto importance = token_importance(capture);
  if (!importance) return std::nullopt;
  return *std::move(importance);
}

Status encode(const Options& options) {
  const auto codec_level = choose_level(options.codec, options.level);
  if (!codec_level) return codec_level.error();
  const auto run = choose_run(options.run);
  if (!run) return run.error();
  const auto capture = read_capture(options.in);
  if (!capture) return capture.error();
  print_notes(capture->notes);
  const auto profile =
      codec_level->codec->info.uses_model_profile
          ? choose_model_profile(options.model_profile, capture->cache.view().facts)
          : Result<std::shared_ptr<const ModelProfile>>(nullptr);
  if (!profile) return profile.error();
  const auto importance = importance_for(*codec_level, *capture, options.ignores_queries);
  EncodeOptions how{.layers_per_section = options.layers_per_section,
                    .backend = run->backend,
                    .threads = run->threads,
                    .seal_key = run->seal_key ? &*run->seal_key : nullptr,
                    .importance = importance ? &*importance : nullptr,
                    .model_profile = profile->get()};
  if (!options.max_size.empty()) {
    const auto size = parse_size(options.max_size, "--max-size");
    if (!size) return size.error();
    how.max_size = *size;
  }
  const auto file = encode_container(capture->cache.view(), *codec_level, how);
  if (!file) return error_in(options.in, file.error().what, file.error().fix);
  const Status written = write_file_atomically(options.out, [&](std::ostream& out) {
    out.write(reinterpret_cast<const char*>(file->data()),
              static_cast<std::streamsize>(file->size()));
  });
  if (!written) return written;
  const DataSize size = DataSize::bytes(static_cast<std::int64_t>(file->size()));
  const std::int64_t elements = num_elements(shape_of(capture->cache.view()));
  fmt::print(stderr, "wrote {}: {}, {}, {:.3f} bit per element{}{}\n", options.out,
             codec_level->id(), to_text(size), bits_per_element(size, elements),
             codec_level->reducer ? " of the whole cache" : "", run->seal_key ? ", sealed" : "");
  return {};
}

}  // namespace

void add_encode(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("encode", "a captured KV cache (safetensors) to a .kvb container");
  const auto options = std::make_shared<Options>();
  command
      ->add_option(
          "--codec", options->codec,
          "codec or codec@level, with a reducer codec+reducer or codec+reducer@level+level; see "
          "`./sluice codec list`")
      ->required();
  command->add_option("--level", options->level,
                      "level of the codec; without it, the codec's default");
  command
      ->add_option("--layers-per-section", options->layers_per_section,
                   "layers that are decoded together")
      ->check(CLI::Range(1, kMaxLayersPerSection))
      ->capture_default_str();
  command->add_option("--max-size", options->max_size,
                      "at most so large a file, as in 2MB: of a level with refinements, those that "
                      "do least for their bytes are left out");
  add_coding_options(*command, options->model_profile, options->ignores_queries);
  add_run_options(*command, options->run,
                  "seal the container with this key (`./sluice codec key FILE` makes one)");
  command->add_option("IN", options->in, "capture, as `./sluice codec capture` writes it")
      ->required();
  command->add_option("OUT", options->out, "container to write")->required();
  command->footer(
      "example: ./sluice codec encode --codec int8 --level token "
      "tests/data/smollm2-gettysburg.safetensors /tmp/a.kvb");
  command->callback([&run, options] { run = [options] { return encode(*options); }; });
}

}  // namespace sluice::cli
