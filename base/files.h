// Whole files in and out: bounded reads, and writes that appear complete or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// The file's bytes. Refuses a missing or unreadable file, a folder, a device, a pipe, and more than
// `limit`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            DataSize limit = DataSize::bytes(std::int64_t{4}
                                                                             << 30));

// Writes to a temporary name beside `path`, flushes, renames: a reader sees the old file or the new
// one. A link stays and its file is replaced; a device or a pipe is written to as it is. Refuses a
// folder.
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           const std::function<void(std::ostream&)>& write);
[[nodiscard]] Status write_file_atomically(const std::filesystem::path& path,
                                           std::string_view text);

// The folder with scenarios/ and codec/profiles/: $SLUICE_HOME, else the nearest parent of the
// executable or of the working folder that holds `scenarios`.
[[nodiscard]] Result<std::filesystem::path> sluice_home();

}  // namespace sluice
