// Conversions between 16 and 32 bits as a kernel does them, for conversions_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/dtype.h"

namespace sluice {

// from_bits() and to_bits() of codec/device/kernel_parts.h, run on the device.
[[nodiscard]] Result<std::vector<float>> widen_on_device(Dtype dtype,
                                                         std::span<const std::uint16_t> values);
[[nodiscard]] Result<std::vector<std::uint16_t>> round_on_device(Dtype dtype,
                                                                 std::span<const float> values);

}  // namespace sluice
