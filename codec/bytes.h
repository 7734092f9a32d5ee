// Little-endian bytes in and out, every read checked against the end.
// Where in the flow: under the container, the safetensors reader and the codecs' payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sluice {

// Appends numbers and bytes. Numbers are written as memory holds them: tensor_view.cc asserts a
// little-endian host.
class ByteWriter {
 public:
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void put(Number number) { put_bytes(std::as_bytes(std::span(&number, 1))); }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void put_text(std::string_view text) {
    put_bytes(std::as_bytes(std::span(text.data(), text.size())));
  }
  // Over a number that was put at byte `at` before.
  template <typename Number>
  requires std::is_arithmetic_v<Number>
  void put_over(std::size_t at, Number number) {
    std::memcpy(bytes_.data() + at, &number, sizeof number);
  }
  void put_zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads in order. The first read past the end returns zeros or nothing, and ok() is false from then
// on.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename Number>
  requires std::is_arithmetic_v<Number>
  [[nodiscard]] Number get() {
    Number number{};
    const auto bytes = get_bytes(sizeof number);
    if (ok_) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  [[nodiscard]] std::span<const std::byte> get_bytes(std::size_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }
  [[nodiscard]] std::string_view get_text(std::size_t count) {
    const auto bytes = get_bytes(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace sluice
