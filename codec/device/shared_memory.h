// A block's dynamic shared memory, for kernels under nvcc and under the host SIMT layer.
// Where in the flow: included by .cu files only.
#pragma once

#include <cuda_runtime.h>

namespace sluice {

// The launch says how many bytes there are.
template <typename T>
__device__ T* dynamic_shared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char sluice_shared_bytes[];
  return reinterpret_cast<T*>(sluice_shared_bytes);
#else
  return static_cast<T*>(simt_dynamic_shared());
#endif
}

}  // namespace sluice
