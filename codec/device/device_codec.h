// The contract of a codec's CUDA backend: plans made by the host, work put on the caller's stream.
// Where in the flow: beside codec/codec.h; codec/device/registry.h lists the device codecs, and
// section_run.h drives one. It includes no CUDA header.
// Surprise: no device or pinned memory is allocated here. The caller lends memory for one section,
// says for how much by
// *_memory(), and may take it back when the stream has done the work and finish_*() has read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/codec.h"
#include "codec/device/launch_table.h"
#include "codec/device/run_header.h"
#include "codec/device/tensor.h"

struct CUstream_st;

namespace sluice {

using StreamHandle = CUstream_st*;  // CUDA's cudaStream_t

using DeviceSectionTensor = SectionTensorOf<DeviceTensor>;

// Bytes that one section's work takes.
struct MemoryNeed {
  std::size_t pinned_bytes = 0;   // on the host, page-locked
  std::size_t work_bytes = 0;     // on the device
  std::size_t payload_bytes = 0;  // on the device: all payloads, or the most that one can become
};

// At least as much; device memory aligned to 256 bytes, as cudaMalloc gives it.
struct LentMemory {
  std::span<std::byte> pinned = {};
  std::span<std::byte> work_dev = {};
  std::span<std::byte> payload_dev = {};
};

// Where a plan is to run: how it launches, and on how many multiprocessors at most.
struct LaunchTarget {
  LaunchParameters parameters;
  int num_multiprocessors = 1;
};

// One section's work, ready to be put on a stream. The host's jobs stand in memory.pinned.
struct DevicePlan {
  LentMemory memory;
  LaunchTarget target;
  // Decoding: on the host, pinned for an overlapping copy. The refinement's behind those below it.
  std::vector<std::span<const std::byte>> lower_payloads = {};
  std::span<const std::byte> payload = {};
  std::size_t job_bytes = 0;     // of all jobs, behind the RunHeader
  std::size_t num_jobs = 0;      // descriptors of tensors or planes, first of them
  std::size_t num_planes = 0;    // encoding: descriptors of planes after them
  std::size_t num_tiles = 0;     // descriptors of tiles after them, where there are any
  std::int64_t num_units = 0;    // pieces of work that blocks take turn by turn
  std::size_t scratch_at = 0;    // where kernels' own memory starts in memory.work_dev
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
  // What the host found wrong behind all that is planned: the verdict, unless a kernel finds an
  // earlier fault. So refusals read as the CPU's do, which reads in order.
  std::optional<Error> host_error = {};
};

struct DeviceCodec {
  std::string_view id;  // of the Codec whose bits these are

  // Decoding. `payload` is any bytes at all: both functions make the same checks as the Codec's
  // decode_section, as far as the host can see them, with the same Errors.
  Result<MemoryNeed> (*decode_memory)(const SectionContext& context,
                                      std::span<const std::byte> payload,
                                      std::span<const DeviceSectionTensor> tensors);
  Result<DevicePlan> (*plan_decode)(const SectionContext& context,
                                    std::span<const std::byte> payload,
                                    std::span<const DeviceSectionTensor> tensors,
                                    const LentMemory& memory, const LaunchTarget& target);
  // The kernels alone: jobs and payload are on the device.
  Status (*launch_decode)(const DevicePlan& plan, StreamHandle stream);
  // What decode_section says of a fault that a kernel found.
  Error (*decode_error)(const Fault& fault);

  // Encoding: the payload's bytes are those of encode_section. Null, all three: the codec is only
  // decoded here.
  Result<MemoryNeed> (*encode_memory)(const SectionContext& context,
                                      std::span<const DeviceSectionTensor> tensors);
  Result<DevicePlan> (*plan_encode)(const SectionContext& context,
                                    std::span<const DeviceSectionTensor> tensors,
                                    const LentMemory& memory, const LaunchTarget& target);
  Status (*launch_encode)(const DevicePlan& plan, StreamHandle stream);

  [[nodiscard]] bool encodes() const { return plan_encode != nullptr; }
};

}  // namespace sluice
