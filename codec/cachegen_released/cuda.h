// cachegen-released on a GPU: see codec/device/device_codec.h for the contract and spec.md for the
// bits.
#pragma once

#include "codec/device/device_codec.h"

namespace sluice {

[[nodiscard]] DeviceCodec cachegen_released_device_codec();

}  // namespace sluice
