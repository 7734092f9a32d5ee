// sluice codec ladder: all judged rungs as a table and a plot; and their facts on another geometry.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "base/files.h"
#include "codec/cli/commands.h"
#include "codec/geometry/geometry.h"
#include "codec/ladder/ladder.h"
#include "codec/ladder/ladder_chart.h"
#include "codec/ladder/ladder_table.h"

namespace sluice::cli {
namespace {

struct Options {
  std::vector<std::string> profiles, devices{"h200"};
  std::string format = "table", plot, at_kl_of, scale_to, out;
};

Result<std::vector<CodecProfile>> chosen_profiles(const Options& options) {
  if (options.profiles.empty()) return judged_profiles();
  std::vector<CodecProfile> profiles;
  for (const std::string& name : options.profiles) {
    auto profile = std::filesystem::exists(name) ? read_profile(name) : find_profile(name);
    if (!profile) return profile.error();
    profiles.push_back(*std::move(profile));
  }
  return profiles;
}

Result<std::vector<DecodeTimes>> chosen_devices(const Options& options) {
  std::vector<DecodeTimes> devices;
  for (const std::string& name : options.devices) {
    auto times = std::filesystem::exists(name) ? read_decode_times(name) : find_decode_times(name);
    if (!times) return times.error();
    devices.push_back(*std::move(times));
  }
  return devices;
}

// Writes one profile's facts for another geometry.
Status scale(const Options& options, std::vector<CodecProfile> profiles) {
  if (options.out.empty() || profiles.size() != 1) {
    return error_in("--scale-to",
                    fmt::format("{} profiles and {}", profiles.size(),
                                options.out.empty() ? "no --out" : "one file to write"),
                    "scale one profile at a time: --profile ID --scale-to MODEL --out FILE");
  }
  if (const auto geometry = find_geometry(options.scale_to); !geometry) return geometry.error();
  const CodecProfile scaled = scale_profile(std::move(profiles.front()), options.scale_to);
  if (Status written = write_profile(scaled, options.out); !written) return written;
  fmt::print(stderr, "wrote {}: {} levels, scaled to {}\n", options.out, scaled.levels.size(),
             options.scale_to);
  return {};
}

Result<std::int64_t> context_elements(const PublishedPoints& published) {
  const auto geometry = find_geometry(published.context_model);
  if (!geometry) return geometry.error();
  return geometry->elements(0, published.context_tokens, published.context_tokens);
}

Status ladder(const Options& options) {
  const auto format = parse_table_format(options.format);
  if (!format) return format.error();
  auto profiles = chosen_profiles(options);
  if (!profiles) return profiles.error();
  if (!options.scale_to.empty()) return scale(options, *std::move(profiles));
  const auto devices = chosen_devices(options);
  if (!devices) return devices.error();
  auto made = make_ladder(*profiles, *devices);
  if (!made) return made.error();
  auto published = published_points();
  if (!published) return published.error();
  const auto elements = context_elements(*published);
  if (!elements) return elements.error();
  LadderPage page{.ladder = *std::move(made),
                  .equal = {},
                  .published = *std::move(published),
                  .context_elements = *elements};
  if (!options.at_kl_of.empty()) {
    auto equal = compare_at(page.ladder, options.at_kl_of);
    if (!equal) return equal.error();
    page.equal = *std::move(equal);
  }
  if (!options.plot.empty()) {
    const std::string picture = draw_ladder(page.ladder, page.published);
    if (Status written = write_file_atomically(options.plot, picture); !written) return written;
    fmt::print(stderr, "wrote {}\n", options.plot);
  }
  print_ladder(page, *format, std::cout);
  return {};
}

}  // namespace

void add_ladder(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand(
      "ladder", "all rungs that a model judged: bits, damage and decode time; and a plot of them");
  const auto options = std::make_shared<Options>();
  command->add_option("--profile", options->profiles,
                      "codec profile, shipped or a file; may be given several times; without it, "
                      "all shipped ones with judged levels");
  command
      ->add_option("--decode-on", options->devices,
                   "decode times of a device, shipped or a file; may be given several times")
      ->capture_default_str();
  command->add_option("--format", options->format, "table, csv or json")->capture_default_str();
  command->add_option("--plot", options->plot, "also draw bits against damage: SVG file to write");
  command->add_option("--at-kl-of", options->at_kl_of,
                      "codec@level: what every codec needs for its mean KL");
  CLI::Option* scale_to =
      command->add_option("--scale-to", options->scale_to,
                          "model geometry: write the profile for it instead, marked as scaled");
  command->add_option("--out", options->out, "profile to write (JSON)")->needs(scale_to);
  command->footer(
      "example: ./sluice codec ladder --at-kl-of cachegen-released@3 --plot /tmp/ladder.svg");
  command->callback([&run, options] { run = [options] { return ladder(*options); }; });
}

}  // namespace sluice::cli
