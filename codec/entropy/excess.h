// How far symbols lie beyond their table's escapes: a list of small numbers beside the stream.
// Where in the flow: in front of the stream of tiles of model 4; spec.md, section 10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/host_device.h"

namespace sluice::entropy {

// A number is digits of four bits, the lowest first: three of the number, and whether more follow.
inline constexpr std::int32_t kExcessDigitBits = 4;
inline constexpr std::int32_t kMaxExcessDigits = 5;
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t excess_digits(std::int32_t excess) {
  std::int32_t digits = 1;
  for (; excess > 7; excess >>= 3) ++digits;
  return digits;
}

// Two digits per byte, the first in the low half.
class ExcessWriter {
 public:
  void put(std::int32_t excess) {  // 0 to 2^15 - 1
    for (; excess > 7; excess >>= 3) put_digit(static_cast<unsigned>(excess & 7) | 8U);
    put_digit(static_cast<unsigned>(excess));
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void put_digit(unsigned digit) {
    if (is_half_) {
      bytes_.back() |= static_cast<std::byte>(digit << kExcessDigitBits);
    } else {
      bytes_.push_back(static_cast<std::byte>(digit));
    }
    is_half_ = !is_half_;
  }
  std::vector<std::byte> bytes_;
  bool is_half_ = false;  // the last byte has room
};

// Plain pointers: a warp reads it as well.
class ExcessReader {
 public:
  SLUICE_HOST_DEVICE ExcessReader(const std::byte* bytes, std::size_t count)
      : at_(bytes), digits_left_(2 * count) {}
  // False when the list ends, or the number does not.
  [[nodiscard]] SLUICE_HOST_DEVICE bool get(std::int32_t& excess) {
    excess = 0;
    for (std::int32_t i = 0; i < kMaxExcessDigits; ++i) {
      if (digits_left_ == 0) return false;
      const unsigned digit = next_digit();
      excess |= static_cast<std::int32_t>(digit & 7) << 3 * i;
      if ((digit & 8) == 0) return true;
    }
    return false;
  }
  // Nothing left but the other half of the last byte, 0.
  [[nodiscard]] SLUICE_HOST_DEVICE bool is_at_end() {
    return digits_left_ == 0 || (digits_left_ == 1 && next_digit() == 0);
  }

 private:
  [[nodiscard]] SLUICE_HOST_DEVICE unsigned next_digit() {
    const auto byte = static_cast<unsigned>(*at_);
    const bool is_high = digits_left_ % 2 != 0;
    if (is_high) ++at_;
    --digits_left_;
    return is_high ? byte >> kExcessDigitBits : byte & 15;
  }
  const std::byte* at_;
  std::size_t digits_left_;
};

}  // namespace sluice::entropy
