// A picture of trace files, links or workloads, or of what a generator makes.
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
#include "traces/plot/workload_plot.h"

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

Status write_picture(const PlotArgs& args, const std::string& picture) {
  if (Status written = write_file_atomically(args.out, picture); !written) return written;
  fmt::print(stderr, "note: drew {}\n", args.out);
  return {};
}

Status plot_link_traces(const PlotArgs& args, const Result<std::vector<Link>>& links,
                        RateAxisKind axis) {
  if (!links) return links.error();
  std::vector<PlottedLink> plotted;
  for (const Link& link : *links) plotted.push_back({&link.trace, link.title, link.origin});
  return write_picture(args, plot_links(plotted, axis));
}

Status plot_workload_files(const PlotArgs& args) {
  const Result<WorkloadOptions> options = workload_options(args.read, args.workload);
  if (!options) return options.error();
  if (args.words.size() > kMaxPlottedLinks) {
    return error_in("plot", fmt::format("{} workloads in one picture", args.words.size()),
                    fmt::format("give at most {}", kMaxPlottedLinks));
  }
  std::vector<PlottedWorkload> workloads;
  for (const std::string& file : args.words) {
    Result<WorkloadShape> shape = shape_of_workload(file, *options, kNumColumns);
    if (!shape) return shape.error();
    workloads.push_back({std::filesystem::path(file).filename().string(), std::move(*shape)});
  }
  return write_picture(args, plot_workloads(workloads));
}

// Whether the files are workloads: all of them, or none.
Result<bool> are_workloads(const PlotArgs& args) {
  ReadArgs read = args.read;
  std::optional<bool> all;
  for (const std::string& file : args.words) {
    read.file = file;
    const Result<bool> workload = is_workload(read, args.workload);
    if (!workload) return workload.error();
    if (all.value_or(*workload) != *workload) {
      return error_in(file,
                      fmt::format("it is a {} trace, {} is not", *workload ? "workload" : "link",
                                  args.words.front()),
                      "draw them in two pictures");
    }
    all = *workload;
  }
  return *all;
}

}  // namespace

Status plot(const PlotArgs& args) {
  const Result<RateAxisKind> axis = parse_axis(args.rate_axis);
  if (!axis) return axis.error();
  const std::string& word = args.words.front();
  if (std::filesystem::exists(word)) {
    const Result<bool> workloads = are_workloads(args);
    if (!workloads) return workloads.error();
    return *workloads ? plot_workload_files(args) : plot_link_traces(args, read_links(args), *axis);
  }
  const std::vector<std::string> names = names_of_generators();
  if (std::find(names.begin(), names.end(), word) != names.end())
    return plot_link_traces(args, make_links(args), *axis);
  return error_in("plot", fmt::format("`{}` is neither a file nor a generator", word),
                  suggest_name(word, names));
}

}  // namespace sluice::trace_cli
