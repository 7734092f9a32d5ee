#include "base/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace sluice {
namespace fs = std::filesystem;

namespace {

// What `write` writes goes into `file`; errors call it `name`.
Status write_into(const fs::path& file, const fs::path& name,
                  const std::function<void(std::ostream&)>& write) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) {
    return error_in(name.string(), "cannot be written",
                    "check that the folder exists and is writable");
  }
  write(out);
  out.flush();
  if (!out) return error_in(name.string(), "writing failed", "check the free space");
  return {};
}

// Removed at the end, whether the writer failed, threw or succeeded (then it has been renamed).
struct TemporaryFile {
  explicit TemporaryFile(const fs::path& target)
      : path(target.string() + fmt::format(".tmp{}", ::getpid())) {}
  ~TemporaryFile() {
    std::error_code code;
    fs::remove(path, code);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  fs::path path;
};

}  // namespace

Result<std::string> read_file(const fs::path& path, DataSize limit) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return error_in(path.string(), "no such file", "check the path");
  if (fs::is_directory(status)) return error_in(path.string(), "is a folder", "name a file");
  if (!fs::is_regular_file(status)) {  // a device or a pipe may never end
    return error_in(path.string(), "is not a regular file", "save the data to a file first");
  }
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
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (fs::is_directory(status)) return error_in(path.string(), "is a folder", "name a file");
  // Renaming over a device or a pipe (/dev/null, /dev/stdout) would replace it by a file.
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_into(path, path, write);
  // A link stays a link: its file is replaced.
  fs::path target = path;
  if (fs::exists(status)) target = fs::canonical(path, code);
  if (code && status.type() != fs::file_type::not_found)
    return error_in(path.string(), "cannot be found: " + code.message(), "check the path");
  const TemporaryFile temporary(target);
  if (Status written = write_into(temporary.path, path, write); !written) return written.error();
  fs::rename(temporary.path, target, code);
  if (code) {
    return error_in(path.string(), "cannot be replaced: " + code.message(),
                    "check the permissions of its folder");
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
