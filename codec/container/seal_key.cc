// Files of keys: made, and read only where nobody else can read them.
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "codec/container/seal.h"

namespace sluice {
namespace {

// An open file, closed at the end.
struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

constexpr const char* kMakeOne = "make a key with `./sluice codec key FILE`";

}  // namespace

Result<Bytes32> random_bytes() {
  Bytes32 bytes{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) !=
      1) {
    return error_in("", "OpenSSL's random generator failed", "check the machine's entropy source");
  }
  return bytes;
}

Result<SealKey> read_seal_key(const std::filesystem::path& path) {
  const std::string name = path.string();
  // Non-blocking: a pipe is refused below, not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0)
    return error_in(name, fmt::format("cannot be opened: {}", std::strerror(errno)), kMakeOne);
  struct stat facts {};
  if (::fstat(file.number, &facts) != 0 || !S_ISREG(facts.st_mode))
    return error_in(name, "is not a regular file", kMakeOne);
  if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return error_in(name,
                    fmt::format("the key is open to others (mode {:04o})", facts.st_mode & 07777),
                    "run `chmod 600` on it, and make a new key if somebody may have read it");
  }
  Bytes32 bytes{};
  const bool is_key =
      facts.st_size == static_cast<off_t>(bytes.size()) &&
      ::read(file.number, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  if (!is_key) {
    return error_in(name, fmt::format("holds {} bytes where a key has 32", facts.st_size),
                    kMakeOne);
  }
  SealKey key(bytes);
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

Status make_seal_key(const std::filesystem::path& path) {
  const auto bytes = random_bytes();
  if (!bytes) return bytes.error();
  const SealKey key(*bytes);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.number < 0) {
    const bool exists = errno == EEXIST;
    return error_in(path.string(), fmt::format("cannot be made: {}", std::strerror(errno)),
                    exists ? "name a new file: what an old key sealed needs it"
                           : "check that the folder exists and is writable");
  }
  const auto written = ::write(file.number, key.bytes().data(), key.bytes().size());
  if (written == static_cast<ssize_t>(key.bytes().size()) && ::fsync(file.number) == 0) return {};
  ::unlink(path.c_str());
  return error_in(path.string(), "writing failed", "check the free space");
}

}  // namespace sluice
