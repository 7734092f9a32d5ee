// Launching kernels from .cu files: on the caller's stream, errors as Status.
// Where in the flow: launch_decode() and launch_encode() of codec/*/cuda.cu.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "codec/device/cuda_handles.h"

namespace sluice {

struct GridSize {
  unsigned blocks = 1;
  unsigned threads_per_block = 1;
  std::size_t dynamic_shared_bytes = 0;
};

template <typename... Parameters, typename... Arguments>
[[nodiscard]] Status launch(const char* name, const GridSize& size, cudaStream_t stream,
                            void (*kernel)(Parameters...), Arguments&&... arguments) {
  constexpr std::size_t kWithoutAsking = 48 * 1024;
  if (size.dynamic_shared_bytes > kWithoutAsking) {
    const auto error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(size.dynamic_shared_bytes));
    if (Status status = check_cuda(error, name); !status) return status;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(size.blocks);
  config.blockDim = dim3(size.threads_per_block);
  config.dynamicSmemBytes = size.dynamic_shared_bytes;
  config.stream = stream;
  return check_cuda(
      cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...), name);
}

}  // namespace sluice
