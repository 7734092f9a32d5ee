#include "codec/device/gpu.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "codec/device/cuda_handles.h"

namespace sluice {
namespace {

Error no_gpu(cudaError_t error, int runtime_version) {
  const std::string what = fmt::format("no GPU here: {}", cudaGetErrorString(error));
  if (error == cudaErrorInsufficientDriver) {
    return error_in(
        "", what,
        fmt::format("install an NVIDIA driver for CUDA {}.{}, or use the CPU's backends",
                    runtime_version / 1000, runtime_version % 1000 / 10));
  }
  return error_in("", what, "use a machine with an NVIDIA GPU, or the CPU's backends");
}

}  // namespace

Result<GpuFacts> find_gpu() {
  GpuFacts facts;
  (void)cudaRuntimeGetVersion(&facts.runtime_version);
  int count = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0)
    return no_gpu(error == cudaSuccess ? cudaErrorNoDevice : error, facts.runtime_version);
  int device = 0;
  if (Status status = check_cuda(cudaGetDevice(&device), "asking for the device"); !status)
    return status.error();
  cudaDeviceProp properties;
  if (Status status = check_cuda(cudaGetDeviceProperties(&properties, device), "asking the device");
      !status) {
    return status.error();
  }
  (void)cudaDriverGetVersion(&facts.driver_version);
  facts.name = properties.name;
  facts.compute_capability = 10 * properties.major + properties.minor;
  facts.num_multiprocessors = properties.multiProcessorCount;
  facts.memory = DataSize::bytes(static_cast<std::int64_t>(properties.totalGlobalMem));
  return facts;
}

}  // namespace sluice
