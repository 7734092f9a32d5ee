// sluice codec key: a new key that seals containers.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "codec/cli/commands.h"

namespace sluice::cli {
namespace {

Status make_key(const std::string& path) {
  if (Status made = make_seal_key(path); !made) return made;
  fmt::print(stderr,
             "wrote {}: 32 random bytes, for your eyes only; lost, nothing opens what it sealed\n",
             path);
  return {};
}

}  // namespace

void add_key(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("key", "a new random key that seals containers");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "file to make; it must not exist")->required();
  command->footer("example: ./sluice codec key /tmp/a.key");
  command->callback([&run, file] { run = [file] { return make_key(*file); }; });
}

}  // namespace sluice::cli
