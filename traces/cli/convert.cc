#include <fmt/format.h>

#include <algorithm>

#include "traces/cli/commands.h"
#include "traces/write.h"

namespace sluice::trace_cli {

namespace {

std::string_view option_of(TraceKind kind) {
  return kind == TraceKind::kCapacity ? "capacity" : "throughput";
}

// What the traces hold and the format has no place for.
void tell_lost(const std::vector<LinkTrace>& traces, const std::string& to) {
  const auto writer = std::find_if(writers().begin(), writers().end(),
                                   [&](const WriterInfo& info) { return info.id == to; });
  bool delay = false, loss = false;
  std::optional<TraceKind> kind;
  for (const LinkTrace& trace : traces) {
    delay = delay || (trace.delay && !writer->keeps_delay);
    loss = loss || trace.loss;
    if (writer->kind && trace.kind != *writer->kind) kind = trace.kind;
  }
  if (kind) {
    fmt::print(stderr,
               "note: {} does not say what the rates are and is read as {}; read it with "
               "--kind {}, as the source is\n",
               to, option_of(*writer->kind), option_of(*kind));
  }
  if (!delay && !loss) return;
  fmt::print(stderr, "note: {} has no place for the {} of the source\n", to,
             delay && loss ? "delay and the loss"
             : delay       ? "delay"
                           : "loss");
}

}  // namespace

Status convert(const ReadArgs& args, const std::string& out, const std::string& to) {
  const Result<TraceFile> file = read_and_tell(args);
  if (!file) return file.error();
  if (Status written = write_traces(out, to, file->traces); !written) return written;
  tell_lost(file->traces, to);
  fmt::print(stderr, "note: wrote {} as {}\n", out, to);
  return {};
}

}  // namespace sluice::trace_cli
