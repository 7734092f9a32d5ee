// The table of codecs with a CUDA backend: the one place that names them all.
// Where in the flow: tests, benchmarks and callers find device codecs here, by the id of the codec.
#pragma once

#include <span>
#include <string_view>

#include "codec/device/device_codec.h"

namespace sluice {

// In the order of all_codecs(). Empty in a build without CUDA.
[[nodiscard]] std::span<const DeviceCodec> all_device_codecs();
// The Error has no file.
[[nodiscard]] Result<const DeviceCodec*> find_device_codec(std::string_view id);

}  // namespace sluice
