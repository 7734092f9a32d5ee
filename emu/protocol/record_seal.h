// Sealed records of one direction of a connection: AES-256-GCM under a session's key (NIST SP
// 800-38D), nonces counted, so that a record which is changed, repeated, left out or moved is
// found. Where in the flow: under frames.h once a handshake has made the keys. The bytes: spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/container/header.h"

namespace sluice {

inline constexpr std::size_t kRecordLengthBytes = 4;
inline constexpr std::size_t kRecordTagBytes = 16;

// One direction's cipher and counter.
class RecordCipher;

class RecordSealer {
 public:
  explicit RecordSealer(const Bytes32& key);
  RecordSealer(RecordSealer&&) noexcept;
  RecordSealer& operator=(RecordSealer&&) noexcept;
  ~RecordSealer();
  // `record` holds room for the length, then a frame, then room for the tag.
  void seal(std::span<std::byte> record);

 private:
  std::unique_ptr<RecordCipher> cipher_;
};

class RecordOpener {
 public:
  explicit RecordOpener(const Bytes32& key);
  RecordOpener(RecordOpener&&) noexcept;
  RecordOpener& operator=(RecordOpener&&) noexcept;
  ~RecordOpener();
  // In place; false when it is not the next record that the peer sealed. `record` is length, frame
  // and tag.
  [[nodiscard]] bool open(std::span<std::byte> record);

 private:
  std::unique_ptr<RecordCipher> cipher_;
};

}  // namespace sluice
