#include "emu/contents/stored_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sluice {
namespace {

constexpr const char* kMakeAgain = "make the contents again";

}  // namespace

ByteSource::ByteSource(ByteSource&& other) noexcept
    : memory_(std::move(other.memory_)),
      file_(std::exchange(other.file_, -1)),
      name_(std::move(other.name_)) {}

ByteSource& ByteSource::operator=(ByteSource&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(file_, other.file_);
  std::swap(name_, other.name_);
  return *this;
}

ByteSource::~ByteSource() {
  if (file_ >= 0) ::close(file_);
}

Status ByteSource::read(std::int64_t offset, std::span<std::byte> out) const {
  if (memory_ != nullptr) {
    const auto size = static_cast<std::int64_t>(memory_->size());
    if (offset < 0 || offset > size || static_cast<std::int64_t>(out.size()) > size - offset)
      return error_in(name_, "a read behind the end", "report this as a bug");
    std::memcpy(out.data(), memory_->data() + offset, out.size());
    return {};
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(file_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_in(name_, std::strerror(errno), "check the disk");
    if (got == 0) return error_in(name_, "is shorter than it was", kMakeAgain);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  return {};
}

StoredBytes StoredBytes::in_memory(std::vector<std::byte> bytes) {
  StoredBytes stored;
  stored.size_ = DataSize::bytes(static_cast<std::int64_t>(bytes.size()));
  stored.memory_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return stored;
}

StoredBytes StoredBytes::in_file(std::filesystem::path path, DataSize size) {
  StoredBytes stored;
  stored.path_ = std::move(path);
  stored.size_ = size;
  return stored;
}

Result<ByteSource> StoredBytes::open() const {
  ByteSource source;
  source.memory_ = memory_;
  source.name_ = path_.string();
  if (memory_ != nullptr) return source;
  // Non-blocking: a pipe is refused, not waited for.
  source.file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source.file_ < 0)
    return error_in(source.name_, fmt::format("cannot be opened: {}", std::strerror(errno)),
                    kMakeAgain);
  struct stat facts {};
  if (::fstat(source.file_, &facts) != 0 || !S_ISREG(facts.st_mode))
    return error_in(source.name_, "is not a regular file", kMakeAgain);
  if (facts.st_size != size_.bytes()) {
    return error_in(source.name_,
                    fmt::format("holds {} bytes and should hold {}", facts.st_size, size_.bytes()),
                    kMakeAgain);
  }
  return source;
}

Result<std::vector<std::byte>> StoredBytes::read_all() const {
  const auto source = open();
  if (!source) return source.error();
  std::vector<std::byte> bytes(static_cast<std::size_t>(size_.bytes()));
  if (const Status read = source->read(0, bytes); !read) return read.error();
  return bytes;
}

}  // namespace sluice
