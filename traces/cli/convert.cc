#include <fmt/format.h>

#include "traces/cli/commands.h"
#include "traces/write.h"

namespace sluice::trace_cli {

Status convert(const ReadArgs& args, const std::string& out, const std::string& to) {
  const Result<TraceFile> file = read_and_tell(args);
  if (!file) return file.error();
  if (Status written = write_traces(out, to, file->traces); !written) return written;
  fmt::print(stderr, "note: wrote {} as {}\n", out, to);
  return {};
}

}  // namespace sluice::trace_cli
