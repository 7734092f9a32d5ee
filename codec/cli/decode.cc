// sluice codec decode: a .kvb container back to a KV cache in the capture format.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/files.h"
#include "codec/capture_format.h"
#include "codec/cli/commands.h"
#include "codec/container/decode.h"

namespace sluice::cli {
namespace {

struct Options {
  std::string in, out, model_profile;
  std::int32_t refinements_max = DecodeOptions{}.refinements_max;
  RunOptions run;
};

Status decode(const Options& options) {
  const auto run = choose_run(options.run);
  if (!run) return run.error();
  const auto file = read_file(options.in);
  if (!file) return file.error();
  const auto bytes = std::as_bytes(std::span(*file));
  const auto header = parse_header(bytes, options.in);
  if (!header) return header.error();
  std::vector<std::shared_ptr<const ModelProfile>> profiles;
  if (!options.model_profile.empty()) {
    auto profile = choose_model_profile(options.model_profile, header->shape.facts);
    if (!profile) return profile.error();
    profiles.push_back(*std::move(profile));
  }
  auto cache = decode_container(bytes, options.in,
                                {.backend = run->backend,
                                 .threads = run->threads,
                                 .seal_key = run->seal_key ? &*run->seal_key : nullptr,
                                 .refinements_max = options.refinements_max,
                                 .model_profiles = profiles});
  if (!cache) return cache.error();
  Capture capture{.cache = std::move(*cache),
                  .token_ids = {},
                  .queries = {},
                  .query_first_token = {},
                  .other_facts = {{"decoded_from", header->codec_id + "@" + header->level}},
                  .notes = {}};
  if (Status written = write_capture(capture, options.out); !written) return written;
  fmt::print(stderr, "wrote {}: decoded from {}@{}\n", options.out, header->codec_id,
             header->level);
  return {};
}

}  // namespace

void add_decode(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("decode", "a .kvb container back to a KV cache (safetensors)");
  const auto options = std::make_shared<Options>();
  add_run_options(*command, options->run, "the key of a sealed container");
  command->add_option("--model-profile", options->model_profile,
                      "name or file, for a container that names one that is not shipped");
  command
      ->add_option("--refinements", options->refinements_max,
                   "enhancement layers used at most; without it, all")
      ->check(CLI::Range(0, 255));
  command->add_option("IN", options->in, "container")->required();
  command->add_option("OUT", options->out, "safetensors file to write")->required();
  command->footer("example: ./sluice codec decode /tmp/a.kvb /tmp/a.safetensors");
  command->callback([&run, options] { run = [options] { return decode(*options); }; });
}

}  // namespace sluice::cli
