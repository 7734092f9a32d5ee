#include "emu/cli/link_args.h"

#include <fmt/format.h>

#include "base/parse.h"
#include "traces/read.h"

namespace sluice::cli {
namespace {

// A value of `option` by one of base/parse.h's parsers.
template <typename T>
Result<T> parse(Result<T> (*parser)(std::string_view, std::string_view), const std::string& text,
                const char* option) {
  Result<T> value = parser(text, option);
  if (!value) return error_in(option, value.error().what, value.error().fix);
  return value;
}

Result<LossSpec> loss_of(const std::string& text) {
  const std::string fix = "give a share such as `0.1%`";
  if (text.empty() || text.back() != '%')
    return error_in("--loss", fmt::format("`{}` is not in percent", text), fix);
  const Result<double> percent = parse_number(text.substr(0, text.size() - 1), "--loss");
  if (!percent) return error_in("--loss", percent.error().what, fix);
  if (*percent < 0 || *percent > 100)
    return error_in("--loss", fmt::format("`{}` is not a share", text), fix);
  if (*percent == 0) return LossSpec{NoLoss{}};
  return LossSpec{RandomLoss{*percent / 100}};
}

Result<QueueSpec> queue_of(const LinkArgs& args) {
  const Result<DataSize> limit = parse(parse_size, args.queue, "--queue");
  if (!limit) return limit.error();
  QueueSpec queue{.limit = *limit, .discipline = DropTail{}};
  if (args.law == "codel") {
    queue.discipline = CoDel{};
  } else if (args.law != "droptail") {
    return error_in("--queue-law", fmt::format("no queue law `{}`", args.law),
                    "use droptail or codel");
  }
  return queue;
}

LinkTrace constant(DataRate rate) {
  LinkTrace trace;
  trace.name = to_text(rate);
  trace.reader = "constant";
  trace.end = TraceEnd::kHold;
  trace.length = std::chrono::seconds{1};
  trace.steps = {{Duration::zero(), rate}};
  return trace;
}

Result<LinkTrace> read_one(const std::string& file, const LinkArgs& args) {
  ReadOptions options;
  if (!args.reader.empty()) options.reader = args.reader;
  if (!args.unit.empty()) options.unit = args.unit;
  Result<std::vector<LinkTrace>> traces = read_traces(file, options);
  if (!traces) return traces.error();
  if (traces->size() != 1)
    return error_in(file, fmt::format("holds {} traces", traces->size()),
                    "take one out with `./sluice trace convert --trace`");
  if (traces->front().kind == TraceKind::kAchievedThroughput)
    fmt::print(stderr, "note: {}: achieved throughput; replayed as capacity it is biased low\n",
               file);
  return std::move(traces->front());
}

struct Capacities {
  LinkTrace up, down;
};

Result<Capacities> read_both(const LinkArgs& args) {
  Result<LinkTrace> up = read_one(args.traces.front(), args);
  if (!up) return up.error();
  Result<LinkTrace> down = read_one(args.traces.back(), args);
  if (!down) return down.error();
  return Capacities{std::move(*up), std::move(*down)};
}

Result<Capacities> capacities_of(const LinkArgs& args) {
  const bool traced = !args.traces.empty(), same = !args.rate.empty();
  const bool apart = !args.up.empty() || !args.down.empty();
  if (int{traced} + int{same} + int{apart} != 1 ||
      (apart && (args.up.empty() || args.down.empty())))
    return error_in("link", "how fast the link is must be said once",
                    "give --trace UP DOWN, or --rate RATE, or --up RATE and --down RATE");
  if (traced) return read_both(args);
  const Result<DataRate> up =
      parse(parse_rate, same ? args.rate : args.up, same ? "--rate" : "--up");
  if (!up) return up.error();
  const Result<DataRate> down =
      parse(parse_rate, same ? args.rate : args.down, same ? "--rate" : "--down");
  if (!down) return down.error();
  return Capacities{constant(*up), constant(*down)};
}

}  // namespace

void add_link_options(CLI::App& command, LinkArgs& args) {
  command.add_option("--trace", args.traces, "UP DOWN: traces of both directions, looped")
      ->expected(2);
  command.add_option("--rate", args.rate, "of both directions, as in 1Gbit/s");
  command.add_option("--up", args.up, "rate towards the far end");
  command.add_option("--down", args.down, "rate towards the near end");
  command.add_option("--reader", args.reader, "of the traces; `./sluice trace list` shows them");
  command.add_option("--unit", args.unit, "of the traces' rates, where the file does not say");
  command.add_option("--delay", args.delay, "one way, as in 20ms")->capture_default_str();
  command.add_option("--jitter", args.jitter, "up to so much longer, packets in order")
      ->capture_default_str();
  command.add_option("--loss", args.loss, "of packets, each way")->capture_default_str();
  command.add_option("--queue", args.queue, "size of the queue, each way")->capture_default_str();
  command.add_option("--queue-law", args.law, "droptail or codel")->capture_default_str();
  command.add_option("--mtu", args.mtu, "of IP packets")->capture_default_str();
  command.add_option("--seed", args.seed, "of loss and jitter")->capture_default_str();
}

Result<EmulatedLinkSpec> spec_of(const LinkArgs& args) {
  Result<Capacities> capacities = capacities_of(args);
  if (!capacities) return capacities.error();
  LinkSpec both;
  const Result<Duration> delay = parse(parse_duration, args.delay, "--delay");
  if (!delay) return delay.error();
  both.delay = *delay;
  const Result<Duration> jitter = parse(parse_duration, args.jitter, "--jitter");
  if (!jitter) return jitter.error();
  both.jitter = *jitter;
  const Result<DataSize> mtu = parse(parse_size, args.mtu, "--mtu");
  if (!mtu) return mtu.error();
  both.mtu = *mtu;
  const Result<LossSpec> loss = loss_of(args.loss);
  if (!loss) return loss.error();
  both.loss = *loss;
  const Result<QueueSpec> queue = queue_of(args);
  if (!queue) return queue.error();
  both.queue = *queue;
  EmulatedLinkSpec spec{.down = both, .up = both, .seed = args.seed};
  spec.down.name = "down";
  spec.up.name = "up";
  spec.down.capacity = std::move(capacities->down);
  spec.up.capacity = std::move(capacities->up);
  return spec;
}

}  // namespace sluice::cli
