// Bytes that a server keeps, in memory or in a file, read a piece at a time.
// Surprise: a file is opened when somebody begins to read and may have changed since it was
// verified: a read that comes short is an Error, and a byte that flipped is found by the client.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// An open place to read from.
class ByteSource {
 public:
  ByteSource(ByteSource&& other) noexcept;
  ByteSource& operator=(ByteSource&& other) noexcept;
  ~ByteSource();
  // Exactly out.size() bytes from `offset` on.
  [[nodiscard]] Status read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  friend class StoredBytes;
  ByteSource() = default;
  std::shared_ptr<const std::vector<std::byte>> memory_;
  int file_ = -1;
  std::string name_;
};

class StoredBytes {
 public:
  StoredBytes() = default;
  [[nodiscard]] static StoredBytes in_memory(std::vector<std::byte> bytes);
  // The file must be of exactly this size.
  [[nodiscard]] static StoredBytes in_file(std::filesystem::path path, DataSize size);
  [[nodiscard]] DataSize size() const { return size_; }
  [[nodiscard]] Result<ByteSource> open() const;
  // All of them.
  [[nodiscard]] Result<std::vector<std::byte>> read_all() const;

 private:
  std::shared_ptr<const std::vector<std::byte>> memory_;
  std::filesystem::path path_;
  DataSize size_;
};

}  // namespace sluice
