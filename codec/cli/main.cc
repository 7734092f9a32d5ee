// `sluice codec`: list, encode, decode, inspect and profile KV caches; make keys that seal them;
// show the ladder of all codecs.
#include <cstdio>
#include <exception>

#include "base/command_line.h"
#include "codec/cli/commands.h"

namespace {

// The command as a user types it, for the files that say how they were made.
std::string command_line(int argc, char** argv) {
  std::string line = "./sluice codec";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

int fail(const sluice::Error& error) {
  std::fprintf(stderr, "%s\n", error.to_line().c_str());
  return 1;
}

int run_command_line(int argc, char** argv) {
  CLI::App app("Encode, decode and measure the KV caches of language models.", "./sluice codec");
  app.require_subcommand(1);
  app.footer(
      "example: ./sluice codec encode --codec int8 tests/data/smollm2-gettysburg.safetensors "
      "/tmp/a.kvb");
  sluice::cli::Run run;
  sluice::cli::add_list(app, run);
  sluice::cli::add_encode(app, run);
  sluice::cli::add_decode(app, run);
  sluice::cli::add_inspect(app, run);
  sluice::cli::add_key(app, run);
  sluice::cli::add_profile(app, run, command_line(argc, argv));
  sluice::cli::add_statistics(app, run);
  sluice::cli::add_ladder(app, run);
  if (const auto code = sluice::parse_command_line(app, argc, argv)) return *code;
  const sluice::Status status = run();
  return status ? 0 : fail(status.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(
        sluice::error_in("", "not enough memory", "use a smaller file or a larger machine"));
  } catch (const std::exception& error) {
    return fail(sluice::error_in("", error.what(), "report this as a bug"));
  }
}
