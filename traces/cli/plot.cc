// A picture of trace files, or of what a generator makes.
// Surprise: the first word decides: a file that exists is read, else it must name a generator or a
// preset.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/files.h"
#include "base/names.h"
#include "traces/cli/commands.h"
#include "traces/plot/link_plot.h"

namespace sluice::trace_cli {
namespace {

// In the order of RateAxisKind.
constexpr std::array<std::string_view, 3> kAxes{"auto", "linear", "log"};

Result<RateAxisKind> parse_axis(const std::string& text) {
  const auto* found = std::find(kAxes.begin(), kAxes.end(), text);
  if (found != kAxes.end()) return static_cast<RateAxisKind>(found - kAxes.begin());
  const std::vector<std::string> known(kAxes.begin(), kAxes.end());
  return error_in("--rate-axis", fmt::format("unknown axis `{}`", text), suggest_name(text, known));
}

struct Link {
  LinkTrace trace;
  std::string title, origin;
};

std::vector<std::string> names_of_generators() {
  std::vector<std::string> names;
  for (const GeneratorInfo& generator : generators()) names.emplace_back(generator.id);
  for (const LinkPreset& preset : link_presets()) names.emplace_back(preset.id);
  return names;
}

Result<std::vector<Link>> read_links(const PlotArgs& args) {
  std::vector<Link> links;
  ReadArgs read = args.read;
  for (const std::string& file : args.words) {
    read.file = file;
    Result<TraceFile> found = read_and_tell(read);
    if (!found) return found.error();
    for (LinkTrace& trace : found->traces) {
      const std::string title = trace.name, origin = "read as " + trace.reader;
      links.push_back({std::move(trace), title, origin});
    }
  }
  return links;
}

Result<std::vector<Link>> make_links(const PlotArgs& args) {
  GeneratorArgs generator = args.generator;
  generator.command = "plot";
  generator.words = args.words;
  Result<GeneratedLinks> made = generate_links(generator);
  if (!made) return made.error();
  const std::string title = fmt::format("{}", fmt::join(args.words, " "));
  std::vector<Link> links;
  for (LinkTrace& trace : made->traces) {
    const std::string origin = fmt::format("made by {}, seed {}, replicate {}", trace.reader,
                                           generator.seed, links.size());
    links.push_back({std::move(trace), title, origin});
  }
  return links;
}

Result<std::vector<Link>> links_of(const PlotArgs& args) {
  const std::string& word = args.words.front();
  if (std::filesystem::exists(word)) return read_links(args);
  const std::vector<std::string> names = names_of_generators();
  if (std::find(names.begin(), names.end(), word) != names.end()) return make_links(args);
  return error_in("plot", fmt::format("`{}` is neither a file nor a generator", word),
                  suggest_name(word, names));
}

}  // namespace

Status plot(const PlotArgs& args) {
  const Result<RateAxisKind> axis = parse_axis(args.rate_axis);
  if (!axis) return axis.error();
  const Result<std::vector<Link>> links = links_of(args);
  if (!links) return links.error();
  std::vector<PlottedLink> plotted;
  for (const Link& link : *links) plotted.push_back({&link.trace, link.title, link.origin});
  if (Status written = write_file_atomically(args.out, plot_links(plotted, *axis)); !written)
    return written;
  fmt::print(stderr, "note: drew {} of {} traces into {}\n",
             std::min(plotted.size(), kMaxPlottedLinks), plotted.size(), args.out);
  return {};
}

}  // namespace sluice::trace_cli
