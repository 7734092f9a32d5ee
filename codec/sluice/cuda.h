// sluice on a GPU, decoding only: see codec/device/device_codec.h for the contract and spec.md for
// the bits.
#pragma once

#include "codec/device/device_codec.h"

namespace sluice {

[[nodiscard]] DeviceCodec sluice_device_codec();

}  // namespace sluice
