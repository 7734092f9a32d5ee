// `sluice emu link`: any command at the near end of an emulated link, perhaps one at the far end.
// Surprise: the exit code is the command's own; what went over the link is said on stderr.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/command_line.h"
#include "base/table.h"
#include "emu/cli/commands.h"
#include "emu/cli/link_args.h"
#include "emu/host/child_process.h"
#include "emu/host/cpu_use.h"
#include "emu/host/lateness.h"
#include "emu/host/listeners.h"

namespace sluice::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Variables = std::vector<std::pair<std::string, std::string>>;

constexpr auto kPeerPatience = std::chrono::seconds{2};
constexpr double kKeptUp = 0.99;  // of what left, on time: rates are believed to the percent

struct Args {
  LinkArgs link;
  std::string emulator = "auto", peer, format = "table";
  std::vector<std::uint16_t> ports;
  bool list = false;
  std::vector<std::string> words;  // the command at the near end
};

Result<int> list_emulators(const std::string& format_text) {
  const Result<TableFormat> format = parse_table_format(format_text);
  if (!format) return format.error();
  Table table;
  table.column("id", "emulator", Align::kLeft).column("summary", "what it is", Align::kLeft);
  nlohmann::json json = nlohmann::json::array();
  for (const LinkEmulator& emulator : link_emulators()) {
    table.row({emulator.id, emulator.summary});
    json.push_back({{"id", emulator.id},
                    {"summary", emulator.summary},
                    {"needs_namespaces", emulator.needs_namespaces}});
  }
  print_as(*format, table, json, std::cout);
  return 0;
}

std::vector<std::string> with_peer(std::vector<std::string> words, const std::string& address) {
  constexpr std::string_view kPlace = "{peer}";
  for (std::string& word : words) {
    for (std::size_t at = 0; (at = word.find(kPlace, at)) != std::string::npos;
         at += address.size())
      word.replace(at, kPlace.size(), address);
  }
  return words;
}

// Until it listens, has ended, or patience has: some servers listen late or on no TCP port.
void wait_for_peer(ChildProcess& peer, const LinkEnd& end,
                   const std::vector<std::uint16_t>& ports) {
  const auto until = SteadyClock::now() + kPeerPatience;
  while (SteadyClock::now() < until && !peer.poll() && !BlockedSignals::pending() &&
         !has_listener(end.space, ports))
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
}

void tell_direction(const char* name, const LinkUsage& usage, Duration time) {
  const auto share = [&](DataSize part) {
    return usage.wire_sent > DataSize::zero() ? 100.0 * static_cast<double>(part.bytes()) /
                                                    static_cast<double>(usage.wire_sent.bytes())
                                              : 0.0;
  };
  fmt::print(stderr, "link {}: {} carried", name, to_text(usage.wire_delivered));
  if (time > Duration::zero())
    fmt::print(stderr, ", {} of {} on average", to_text(mean_rate(usage.wire_delivered, time)),
               to_text(mean_rate(usage.capacity, time)));
  fmt::print(stderr, ", {:.3g} % dropped\n", share(usage.wire_dropped));
}

void tell(const LinkEmulator& emulator, const EmulatedLink& link, const CpuUse& cpu,
          const LatenessHistogram& timers) {
  const auto began = link.began_at();
  const Duration time = began ? Duration(SteadyClock::now() - *began) : Duration::zero();
  tell_direction("down", link.usage_down(), time);
  tell_direction("up", link.usage_up(), time);
  const LinkHealth health = link.health();
  const bool kept_up = health.achieved_share >= kKeptUp && health.num_host_drops == 0;
  fmt::print(stderr,
             "link host: emulator {}, late p50 {} p99 {} max {}, timers late p99 {}, processors "
             "{:.0f} % busy ({:.0f} % ours, {:.0f} % stolen); the host {}\n",
             emulator.id, to_text(health.lateness_p50), to_text(health.lateness_p99),
             to_text(health.lateness_max), to_text(timers.quantile(0.99)), 100 * cpu.busy,
             100 * cpu.own, 100 * cpu.stolen,
             kept_up ? "kept up" : "DID NOT KEEP UP: do not trust the rates");
}

Status relay_ports(EmulatedLink& link, const std::vector<std::uint16_t>& ports) {
  for (const std::uint16_t port : ports) {
    const Result<std::uint16_t> reached = link.relay_to(port);
    if (!reached) return reached.error();
    if (*reached != port)
      return error_in("--port", fmt::format("{} is taken on {}", port, link.far_end().address),
                      "let the server listen on 127.0.0.1, not on all addresses");
  }
  return {};
}

// What runs at both ends while the link stands.
Result<int> run_commands(const Args& args, EmulatedLink& link) {
  const Variables near{{"SLUICE_PEER", link.far_end().address},
                       {"SLUICE_LOCAL", link.near_end().address}};
  const Variables far{{"SLUICE_PEER", link.near_end().address},
                      {"SLUICE_LOCAL", link.far_end().address}};
  std::optional<ChildProcess> peer;
  if (!args.peer.empty()) {
    Result<ChildProcess> started = ChildProcess::start({.words = {"sh", "-c", args.peer},
                                                        .environment = far,
                                                        .space = link.far_end().space,
                                                        .foreground = false,
                                                        .output_to_error = true});
    if (!started) return started.error();
    peer = std::move(*started);
    wait_for_peer(*peer, link.far_end(), args.ports);
    if (const auto code = peer->poll(); code && *code != 0)
      return error_in("--peer", fmt::format("`{}` ended with {}", args.peer, *code),
                      "give a command that serves");
  }
  // Not earlier, since a relay is a listener too.
  if (Status relayed = relay_ports(link, args.ports); !relayed) return relayed.error();
  Result<ChildProcess> command =
      ChildProcess::start({.words = with_peer(args.words, link.far_end().address),
                           .environment = near,
                           .space = link.near_end().space});
  if (!command) return command.error();
  return command->wait();
}

Result<int> run_link(const Args& args) {
  if (args.list) return list_emulators(args.format);
  if (args.words.empty())
    return error_in("link", "no command is given", "write it behind `--`, as in `-- bash`");
  const Result<EmulatedLinkSpec> spec = spec_of(args.link);
  if (!spec) return spec.error();
  const Result<const LinkEmulator*> chosen = choose_emulator(args.emulator, *spec);
  if (!chosen) return chosen.error();
  const LinkEmulator& emulator = **chosen;
  if (!emulator.needs_namespaces && args.ports.empty())
    return error_in("--port",
                    fmt::format("the emulator `{}` relays only ports that it knows", emulator.id),
                    "name the port that the server at the far end listens on");
  const BlockedSignals signals;
  const Result<std::unique_ptr<EmulatedLink>> link = emulator.open(*spec);
  if (!link) return link.error();
  const CpuSampler cpu;
  TimerLateness timers;
  const Result<int> code = run_commands(args, **link);
  if (!code) return code.error();
  tell(emulator, **link, cpu.since_start(), timers.stop());
  return *code;
}

}  // namespace

void add_link(CLI::App& app, EmuRun& run) {
  CLI::App* command = app.add_subcommand("link", "run a command inside an emulated link");
  const auto args = std::make_shared<Args>();
  add_link_options(*command, args->link);
  command->add_option("--emulator", args->emulator, "auto, or one of --list")
      ->capture_default_str();
  command->add_option("--peer", args->peer, "a shell command that runs at the far end");
  command->add_option("--port", args->ports,
                      "a port that the far end listens on; the emulator `process` needs it");
  command->add_flag("--list", args->list, "the emulators");
  command->add_option("--format", args->format, "of --list: table, csv or json")
      ->capture_default_str();
  command->footer(
      "{peer} in the command's words and $SLUICE_PEER are the far end's address.\nexample: "
      "./sluice emu link --rate 100Mbit/s --peer 'python3 -m http.server' -- curl "
      "http://{peer}:8000/");
  command->add_option("COMMAND", args->words, "what runs at the near end, behind `--`");
  command->callback([args, &run] { run = [args] { return run_link(*args); }; });
}

}  // namespace sluice::cli
