// A regular file that is nowhere on a disk, for readers that open a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace sluice::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes) : descriptor_(memfd_create("input", 0)) {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto written = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      if (written <= 0) std::abort();  // no memory: nothing to fuzz with
      done += static_cast<std::size_t>(written);
    }
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }

 private:
  int descriptor_;
};

}  // namespace sluice::fuzz
