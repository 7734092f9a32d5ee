#include "base/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace sluice {
namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path, DataSize limit) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return error_in(path.string(), "no such file", "check the path");
  if (fs::is_directory(status)) return error_in(path.string(), "is a folder", "name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return error_in(path.string(), "cannot be opened", "check its permissions");
  std::string text;
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (static_cast<std::int64_t>(text.size()) > limit.bytes()) {
      return error_in(path.string(), fmt::format("is larger than {}", to_text(limit)),
                      "use a smaller file");
    }
  }
  return text;
}

Status write_file_atomically(const fs::path& path,
                             const std::function<void(std::ostream&)>& write) {
  const fs::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  std::error_code code;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    if (!out)
      return error_in(path.string(), "cannot be written",
                      "check that the folder exists and is writable");
    write(out);
    out.flush();
    if (!out) {
      out.close();
      fs::remove(temporary, code);
      return error_in(path.string(), "writing failed", "check the free space");
    }
  }
  fs::rename(temporary, path, code);
  if (code) {
    const std::string why = code.message();
    fs::remove(temporary, code);
    return error_in(path.string(), "cannot be replaced: " + why, "check that it is not a folder");
  }
  return {};
}

Status write_file_atomically(const fs::path& path, std::string_view text) {
  return write_file_atomically(path, [&](std::ostream& out) { out << text; });
}

Result<fs::path> sluice_home() {
  if (const char* home = std::getenv("SLUICE_HOME")) return fs::path(home);
  std::error_code code;
  for (fs::path start : {fs::read_symlink("/proc/self/exe", code), fs::current_path(code)}) {
    for (fs::path folder = start; folder != folder.parent_path(); folder = folder.parent_path()) {
      if (fs::is_directory(folder / "scenarios", code) && fs::is_directory(folder / "codec", code))
        return folder;
    }
  }
  return error_in("", "the folder with scenarios/ was not found",
                  "set SLUICE_HOME to the checkout");
}

}  // namespace sluice
