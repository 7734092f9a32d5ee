#include "tests/emu/holdings.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace sluice {
namespace fs = std::filesystem;
namespace {

// What `link` names, when that is a network namespace ("net:[4026531840]").
void add_namespace(const fs::path& link, std::set<std::string>& names) {
  std::error_code gone;
  const std::string name = fs::read_symlink(link, gone).string();
  if (!gone && name.starts_with("net:[")) names.insert(name);
}

std::size_t count_children(const fs::path& thread) {
  std::ifstream children(thread / "children");
  std::size_t count = 0;
  for (long id = 0; children >> id;) ++count;
  return count;
}

}  // namespace

Holdings current_holdings() {
  Holdings held;
  std::set<std::string> namespaces;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    ++held.descriptors;
    add_namespace(entry.path(), namespaces);
  }
  --held.descriptors;  // of the iterator
  for (const fs::directory_entry& thread : fs::directory_iterator("/proc/self/task")) {
    ++held.threads;
    held.processes += count_children(thread.path());
    add_namespace(thread.path() / "ns" / "net", namespaces);
  }
  held.namespaces = namespaces.size();
  return held;
}

Holdings settled_holdings(const Holdings& expected) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{2};
  Holdings held = current_holdings();
  while (held != expected && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    held = current_holdings();
  }
  return held;
}

std::string to_text(const Holdings& holdings) {
  return fmt::format("{} descriptors, {} threads, {} child processes, {} network namespaces",
                     holdings.descriptors, holdings.threads, holdings.processes,
                     holdings.namespaces);
}

}  // namespace sluice
