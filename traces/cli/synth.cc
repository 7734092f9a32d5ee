#include <fmt/format.h>

#include "traces/cli/commands.h"
#include "traces/write.h"

namespace sluice::trace_cli {

Status synth(const SynthArgs& args) {
  if (args.words.size() < 2)
    return error_in("synth", "too few words", "write GENERATOR key=value ... OUT");
  GeneratorArgs generator = args.generator;
  generator.command = "synth";
  generator.words.assign(args.words.begin(), args.words.end() - 1);
  const std::string& out = args.words.back();
  const Result<GeneratedLinks> links = generate_links(generator);
  if (!links) return links.error();
  const std::string to = !args.to.empty()             ? args.to
                         : chunk_clocked(links->spec) ? "cachegen"
                                                      : "csv";
  if (Status written = write_traces(out, to, links->traces); !written) return written;
  fmt::print(stderr, "note: wrote {} as {}: {}, seed {}\n", out, to, describe(links->spec),
             generator.seed);
  return {};
}

}  // namespace sluice::trace_cli
