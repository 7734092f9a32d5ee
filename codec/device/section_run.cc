#include "codec/device/section_run.h"

#include "codec/device/cuda_handles.h"
#include "codec/device/plan.h"

namespace sluice {
namespace {

Status copy_payload(std::span<const std::byte> payload, std::byte* to, StreamHandle stream) {
  if (payload.empty()) return {};
  return check_cuda(
      cudaMemcpyAsync(to, payload.data(), payload.size(), cudaMemcpyHostToDevice, stream),
      "copying the payload to the GPU");
}

Status read_header_back(const DevicePlan& plan, StreamHandle stream) {
  return check_cuda(cudaMemcpyAsync(plan.memory.pinned.data(), plan.memory.work_dev.data(),
                                    sizeof(RunHeader), cudaMemcpyDeviceToHost, stream),
                    "copying the result's header");
}

}  // namespace

Status upload(const DevicePlan& plan, StreamHandle stream) {
  const std::size_t bytes = job_memory_bytes(plan.job_bytes);
  if (Status status =
          check_cuda(cudaMemcpyAsync(plan.memory.work_dev.data(), plan.memory.pinned.data(), bytes,
                                     cudaMemcpyHostToDevice, stream),
                     "copying jobs to the GPU");
      !status) {
    return status;
  }
  std::byte* to = plan.memory.payload_dev.data();
  for (const auto& payload : plan.lower_payloads) {
    if (Status status = copy_payload(payload, to, stream); !status) return status;
    to += payload.size();
  }
  return copy_payload(plan.payload, to, stream);
}

Status enqueue_decode(const DeviceCodec& codec, const DevicePlan& plan, StreamHandle stream) {
  if (Status status = upload(plan, stream); !status) return status;
  if (Status status = codec.launch_decode(plan, stream); !status) return status;
  return read_header_back(plan, stream);
}

Status enqueue_encode(const DeviceCodec& codec, const DevicePlan& plan, StreamHandle stream) {
  if (Status status = upload(plan, stream); !status) return status;
  if (Status status = codec.launch_encode(plan, stream); !status) return status;
  return read_header_back(plan, stream);
}

Status finish_decode(const DeviceCodec& codec, const DevicePlan& plan) {
  const RunHeader header = get_header(plan);
  if (header.first_fault != kNoFault) return codec.decode_error(unpack_fault(header.first_fault));
  return plan.host_error ? Status(*plan.host_error) : Status();
}

EncodedSize finish_encode(const DevicePlan& plan) {
  const RunHeader header = get_header(plan);
  return {.payload_bytes = static_cast<std::size_t>(header.payload_bytes),
          .side_bytes = static_cast<std::int64_t>(header.side_bytes)};
}

}  // namespace sluice
