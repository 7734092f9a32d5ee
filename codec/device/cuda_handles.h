// CUDA's streams, events and memory as values that free themselves, and its errors as Status.
// Where in the flow: tests, benchmarks and the device layer itself; codecs only borrow what callers
// hold.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace sluice {

// `doing` in words: "copying the payload to the GPU".
[[nodiscard]] Status check_cuda(cudaError_t error, const char* doing);

template <typename Handle, cudaError_t (*destroy)(Handle)>
struct CudaDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { (void)destroy(handle); }
};
using CudaStream = std::unique_ptr<cudaStream_t, CudaDeleter<cudaStream_t, cudaStreamDestroy>>;
using CudaEvent = std::unique_ptr<cudaEvent_t, CudaDeleter<cudaEvent_t, cudaEventDestroy>>;

[[nodiscard]] Result<CudaStream> make_stream();
[[nodiscard]] Result<CudaEvent> make_event();  // records times

template <cudaError_t (*free)(void*)>
class CudaBuffer {
 public:
  CudaBuffer() = default;
  CudaBuffer(void* address, std::size_t bytes)
      : address_(static_cast<std::byte*>(address)), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> span() const { return {address_.get(), bytes_}; }
  [[nodiscard]] std::byte* data() const { return address_.get(); }

 private:
  struct Free {
    void operator()(std::byte* address) const { (void)free(address); }
  };
  std::unique_ptr<std::byte, Free> address_;
  std::size_t bytes_ = 0;
};
using DeviceBuffer = CudaBuffer<cudaFree>;
using PinnedBuffer = CudaBuffer<cudaFreeHost>;

[[nodiscard]] Result<DeviceBuffer> make_device_buffer(std::size_t bytes);
[[nodiscard]] Result<PinnedBuffer> make_pinned_buffer(std::size_t bytes);

}  // namespace sluice
