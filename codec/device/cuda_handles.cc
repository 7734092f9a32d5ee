#include "codec/device/cuda_handles.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

Status check_cuda(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return {};
  return error_in("", fmt::format("the GPU failed at {}: {}", doing, cudaGetErrorString(error)),
                  "look for other load on it, or use the CPU's backends");
}

Result<CudaStream> make_stream() {
  cudaStream_t stream = nullptr;
  if (Status status =
          check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
      !status) {
    return status.error();
  }
  return CudaStream(stream);
}

Result<CudaEvent> make_event() {
  cudaEvent_t event = nullptr;
  if (Status status =
          check_cuda(cudaEventCreateWithFlags(&event, cudaEventDefault), "making an event");
      !status) {
    return status.error();
  }
  return CudaEvent(event);
}

Result<DeviceBuffer> make_device_buffer(std::size_t bytes) {
  void* address = nullptr;
  if (Status status =
          check_cuda(cudaMalloc(&address, std::max<std::size_t>(bytes, 1)), "allocating memory");
      !status) {
    return status.error();
  }
  return DeviceBuffer(address, bytes);
}

Result<PinnedBuffer> make_pinned_buffer(std::size_t bytes) {
  void* address = nullptr;
  if (Status status =
          check_cuda(cudaHostAlloc(&address, std::max<std::size_t>(bytes, 1), cudaHostAllocDefault),
                     "allocating pinned memory");
      !status) {
    return status.error();
  }
  return PinnedBuffer(address, bytes);
}

}  // namespace sluice
