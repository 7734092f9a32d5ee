// Puts one section's decoding or encoding on a stream, and reads how it went.
// Where in the flow: what serving engines, tests and benchmarks call.
// Surprise: nothing waits here. Synchronise the stream (or an event recorded on it) before
// finish_*(), and keep payload, tensors and lent memory alive until then.
#pragma once

#include "codec/device/device_codec.h"

namespace sluice {

// Header, jobs and (decoding) the payloads to the device.
[[nodiscard]] Status upload(const DevicePlan& plan, StreamHandle stream);

// upload(), the kernels, and the header back to the host.
[[nodiscard]] Status enqueue_decode(const DeviceCodec& codec, const DevicePlan& plan,
                                    StreamHandle stream);
[[nodiscard]] Status enqueue_encode(const DeviceCodec& codec, const DevicePlan& plan,
                                    StreamHandle stream);

// The Error that decode_section gives for such a payload; then the tensors hold anything.
[[nodiscard]] Status finish_decode(const DeviceCodec& codec, const DevicePlan& plan);

struct EncodedSize {
  std::size_t payload_bytes = 0;  // from the start of memory.payload_dev
  std::int64_t side_bytes = 0;
};
[[nodiscard]] EncodedSize finish_encode(const DevicePlan& plan);

}  // namespace sluice
