// sluice emu serve: encoded chunks over TCP, until SIGINT or SIGTERM.
#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/parse.h"
#include "emu/cli/commands.h"
#include "emu/cli/make_options.h"
#include "emu/server/server.h"

namespace sluice::cli {
namespace {

constexpr int kMaxThreads = 64;
constexpr const char* kListen = "--listen";

struct Options {
  std::vector<std::string> folders;
  MakeOptions make;
  std::string listen = "127.0.0.1:0", key, congestion, unsent_limit = "256KiB";
  int threads = 1;
  std::size_t connections = ServerLimits{}.connections;
  std::vector<std::string> faults;
};

// Blocked in every thread that starts from here on, and waited for in this one.
sigset_t block_ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

Result<std::shared_ptr<const Contents>> contents_of(const Options& options) {
  if (options.folders.empty() && options.make.name.empty())
    return error_in("", "nothing to serve", "name --contents FOLDER or --make MODEL");
  auto contents = std::make_shared<Contents>();
  for (const std::string& folder : options.folders) {
    auto opened = open_contents(folder);
    if (!opened) return opened.error();
    if (const Status added = contents->add(std::move(*opened)); !added)
      return error_in(folder, added.error().what, added.error().fix);
  }
  if (options.make.name.empty()) return std::shared_ptr<const Contents>(std::move(contents));
  const auto spec = contents_spec(options.make);
  if (!spec) return spec.error();
  auto made = make_contents(*spec);
  if (!made) return made.error();
  if (const Status added = contents->add(std::move(*made)); !added)
    return about("--context", added.error());
  return std::shared_ptr<const Contents>(std::move(contents));
}

Result<ListeningSocket> listen_on(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  const auto wrong = error_in(kListen, fmt::format("`{}` is no ADDRESS:PORT", place),
                              "write it as 127.0.0.1:0; port 0 is any free one");
  if (colon == std::string::npos) return wrong;
  const auto port = parse_integer(std::string_view(place).substr(colon + 1), "port");
  if (!port || *port < 0 || *port > 65'535) return wrong;
  auto socket = ListeningSocket::open(place.substr(0, colon), static_cast<std::uint16_t>(*port));
  if (!socket)
    return error_in(kListen, socket.error().file + ": " + socket.error().what, socket.error().fix);
  return socket;
}

Result<ServerOptions> server_options(const Options& options) {
  ServerOptions server{.congestion = options.congestion, .threads = options.threads};
  server.limits.connections = options.connections;
  if (!options.key.empty()) {
    const auto key = read_seal_key(options.key);
    if (!key) return key.error();
    server.key = *key;
  }
  const auto limit = parse_size(options.unsent_limit, "unsent limit");
  if (!limit) return about("--unsent-limit", limit.error());
  if (*limit <= DataSize::zero() || *limit > DataSize::bytes(1 << 30))
    return error_in("--unsent-limit", "is outside 1 B to 1 GiB", "give 256KiB, say");
  server.unsent_limit = *limit;
  for (const std::string& text : options.faults) {
    const auto fault = parse_fault(text);
    if (!fault) return fault.error();
    server.faults.push_back(*fault);
  }
  return server;
}

std::string threads_in_words(const Catalogue& catalogue) {
  return catalogue.decode_threads == 1 ? "one thread"
                                       : fmt::format("{} threads", catalogue.decode_threads);
}

void print_contents(const Contents& contents) {
  for (const auto& [id, context] : contents.contexts()) {
    const Catalogue& catalogue = context.catalogue();
    fmt::print(stderr, "context {:016x}: {} of {} tokens in {} chunks; {}\n", id.value,
               catalogue.model, catalogue.tokens(), catalogue.chunks.size(), catalogue.values);
    for (std::size_t level = 0; level < catalogue.levels.size(); ++level) {
      DataSize size;
      Duration decode{};
      for (const ChunkEntry& chunk : catalogue.chunks) {
        size += chunk.versions[level].size;
        decode += chunk.versions[level].decode_time;
      }
      fmt::print(stderr, "  {}: {}, decoded in {} on {} of {}\n", catalogue.levels[level],
                 to_text(size), to_text(decode), threads_in_words(catalogue), catalogue.host);
    }
  }
}

Result<int> serve(const Options& options) {
  auto server_choice = server_options(options);
  if (!server_choice) return server_choice.error();
  auto socket = listen_on(options.listen);
  if (!socket) return socket.error();
  if (const Status allowed = check_audience(*socket, *server_choice); !allowed)
    return allowed.error();
  auto contents = contents_of(options);
  if (!contents) return contents.error();
  print_contents(**contents);
  const sigset_t signals = block_ending_signals();
  const auto server =
      Server::start(std::move(*contents), std::move(*socket), std::move(*server_choice));
  if (!server) return server.error();
  fmt::print("listening on {}:{}\n", (*server)->address(), (*server)->port());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&signals, &signal);
  const ServerCounts counts = (*server)->counts();
  fmt::print(stderr, "served {} requests on {} connections, {}\n", counts.requests,
             counts.connections, to_text(counts.bytes_sent));
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, EmuRun& run) {
  CLI::App* command = app.add_subcommand(
      "serve", "encoded chunks at every level, over TCP, until SIGINT or SIGTERM");
  const auto options = std::make_shared<Options>();
  command->add_option("--contents", options->folders, "a context's folder; repeat it");
  add_make_options(*command, options->make);
  command->add_option("--listen", options->listen, "IPv4 address and port; port 0: any free one")
      ->capture_default_str();
  command->add_option(
      "--key", options->key,
      "clients must hold this key; needed off loopback (`./sluice codec key FILE`)");
  command->add_option("--congestion", options->congestion,
                      "cubic, bbr, reno; without it, the kernel's default");
  command
      ->add_option("--unsent-limit", options->unsent_limit,
                   "bytes that wait in the kernel per connection: less for sooner cancels")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "that serve")
      ->check(CLI::Range(1, kMaxThreads))
      ->capture_default_str();
  command->add_option("--connections", options->connections, "at once, at most")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command->add_option("--fault", options->faults,
                      "commit one: stall, corrupt-disk, corrupt-frame, reset, half-open or refuse, "
                      "as in reset:request=3,times=2,every=5,after=100kB");
  command->footer(
      "example: ./sluice emu serve --make smollm2-135m --tokens 512 --level int8@token "
      "--listen 127.0.0.1:7070");
  command->callback([&run, options] { run = [options] { return serve(*options); }; });
}

}  // namespace sluice::cli
