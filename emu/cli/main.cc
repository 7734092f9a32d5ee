// `sluice emu`: sessions over real sockets, real bytes and a real clock.
#include <cstdio>
#include <exception>

#include "base/command_line.h"
#include "emu/cli/commands.h"

namespace {

constexpr void (*kCommands[])(CLI::App&, sluice::cli::EmuRun&) = {
    sluice::cli::add_link,     sluice::cli::add_serve,  sluice::cli::add_load,
    sluice::cli::add_validate, sluice::cli::add_record,
};

int fail(const sluice::Error& error) {
  std::fprintf(stderr, "%s\n", error.to_line().c_str());
  return sluice::kExitFailed;
}

int run_command_line(int argc, char** argv) {
  CLI::App app("The same session over real sockets, real bytes and a real clock.", "./sluice emu");
  app.require_subcommand(1);
  app.footer("example: ./sluice emu serve --make smollm2-135m --tokens 512 --level int8@token");
  sluice::cli::EmuRun run;
  for (const auto add : kCommands) add(app, run);
  if (const auto code = sluice::parse_command_line(app, argc, argv)) return *code;
  const auto code = run();
  return code ? *code : fail(code.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail(
        sluice::error_in("", "not enough memory", "use a smaller context or a larger machine"));
  } catch (const std::exception& error) {
    return fail(sluice::error_in("", error.what(), "report this as a bug"));
  }
}
