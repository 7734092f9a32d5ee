#include <filesystem>

#include "analysis/report/sections.h"

namespace sluice {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& argument) {
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), is_plain)) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string program_text(const std::string& program) {
  const std::string name = std::filesystem::path(program).filename().string();
  constexpr std::string_view kPrefix = "sluice-";
  return name.starts_with(kPrefix) ? "./sluice " + quoted(name.substr(kPrefix.size()))
                                   : quoted(program);
}

}  // namespace

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    text += text.empty() ? program_text(argument) : " " + quoted(argument);
  }
  return text;
}

}  // namespace sluice
