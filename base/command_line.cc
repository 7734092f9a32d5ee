#include "base/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/names.h"
#include "base/result.h"

namespace sluice {
namespace {

// A first word that names no command, which CLI11 would report as a missing one.
Status check_command_word(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  if (known.empty() || (argc > 1 && argv[1][0] == '-')) return {};
  const std::string word = argc > 1 ? argv[1] : "";
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  if (word.empty()) return error_in(app.get_name(), "no command is given", suggest_name("", known));
  return error_in(app.get_name(), fmt::format("no command `{}`", word), suggest_name(word, known));
}

int usage_fault(const Error& error) {
  std::cerr << error.to_line() << '\n';
  return kExitUsage;
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  if (const Status known = check_command_word(app, argc, argv); !known)
    return usage_fault(known.error());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& wrong) {
    std::string name = app.get_name();
    for (const CLI::App* command : app.get_subcommands()) name += " " + command->get_name();
    return usage_fault(error_in(name, wrong.what(), fmt::format("see `{} --help`", name)));
  }
  return std::nullopt;
}

}  // namespace sluice
