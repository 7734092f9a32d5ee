#include "codec/device/registry.h"

#include <fmt/format.h>

#include "codec/cachegen_published/cuda.h"
#include "codec/cachegen_released/cuda.h"
#include "codec/int4/cuda.h"
#include "codec/int8/cuda.h"
#include "codec/raw/cuda.h"
#include "codec/sluice/cuda.h"

namespace sluice {

std::span<const DeviceCodec> all_device_codecs() {
  static const DeviceCodec table[] = {
      raw_device_codec(),
      int8_device_codec(),
      int4_device_codec(),
      cachegen_released_device_codec(),
      cachegen_published_device_codec(),
      sluice_device_codec(),
  };
  return table;
}

Result<const DeviceCodec*> find_device_codec(std::string_view id) {
  for (const DeviceCodec& codec : all_device_codecs()) {
    if (codec.id == id) return &codec;
  }
  return error_in("", fmt::format("codec `{}` has no CUDA backend", id), "use the CPU's backends");
}

}  // namespace sluice
