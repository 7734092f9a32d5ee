#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>

#include "tests/simt/include/cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

struct CUstream_st {
  std::deque<std::function<bool()>> work;
  bool has_failed = false;
};
struct CUevent_st {
  CUstream_st* recorded_on = nullptr;
  bool is_reached = true;
  float at_ms = 0;  // the number of operations that ran before it: a clock that a test can predict
};

namespace {

sluice::simt::DeviceFacts facts;
std::map<void*, std::size_t> device_memory;  // what is allocated, and poisoned for the host
float num_operations = 0;

// Device memory may be touched while work of a stream runs.
class DeviceAccess {
 public:
  DeviceAccess() {
    for (const auto& [address, bytes] : device_memory) ASAN_UNPOISON_MEMORY_REGION(address, bytes);
  }
  ~DeviceAccess() {
    for (const auto& [address, bytes] : device_memory) ASAN_POISON_MEMORY_REGION(address, bytes);
  }
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

CUstream_st& stream_of(cudaStream_t stream) {
  static CUstream_st default_stream;
  return stream == nullptr ? default_stream : *stream;
}

void enqueue(cudaStream_t stream, std::function<bool()> work) {
  stream_of(stream).work.push_back(std::move(work));
}

// Runs the stream's work up to `event`, or all.
cudaError_t drain(CUstream_st& stream, const CUevent_st* event = nullptr) {
  while (!stream.work.empty() && (event == nullptr || !event->is_reached)) {
    const auto work = std::move(stream.work.front());
    stream.work.pop_front();
    num_operations += 1;
    // After a failure the rest of a context's work does not run, as on a GPU.
    if (!stream.has_failed && !work()) stream.has_failed = true;
  }
  return stream.has_failed ? cudaErrorLaunchFailure : cudaSuccess;
}

void fill_with_noise(void* address, std::size_t bytes) {
  std::memset(address, 0xA5, bytes);
}

}  // namespace

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
  }
  return "unrecognized error code";
}

cudaError_t cudaGetLastError() {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = facts.count;
  return facts.count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return facts.count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return device >= 0 && device < facts.count ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "host SIMT layer");
  properties->major = facts.major;
  properties->minor = facts.minor;
  properties->multiProcessorCount = facts.multiprocessors;
  properties->totalGlobalMem = std::size_t{1} << 30;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount      ? facts.multiprocessors
           : attribute == cudaDevAttrComputeCapabilityMajor ? facts.major
                                                            : facts.minor;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*address == nullptr) return cudaErrorMemoryAllocation;
  fill_with_noise(*address, bytes);
  device_memory[*address] = (bytes + 255) / 256 * 256;
  ASAN_POISON_MEMORY_REGION(*address, device_memory[*address]);
  return cudaSuccess;
}

cudaError_t cudaFree(void* address) {
  const auto found = device_memory.find(address);
  if (found == device_memory.end()) {
    return address == nullptr ? cudaSuccess : cudaErrorInvalidValue;
  }
  ASAN_UNPOISON_MEMORY_REGION(address, found->second);
  device_memory.erase(found);
  std::free(address);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  if (*address == nullptr) return cudaErrorMemoryAllocation;
  fill_with_noise(*address, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* address) {
  std::free(address);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  enqueue(stream, [=] {
    const DeviceAccess access;
    if (bytes > 0) std::memcpy(to, from, bytes);
    return true;
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
  enqueue(stream, [=] {
    const DeviceAccess access;
    if (bytes > 0) std::memset(address, value, bytes);
    return true;
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  (void)drain(*stream);  // work that was enqueued is still done, as CUDA promises
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return drain(stream_of(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  enqueue(stream, [event] {
    return event->is_reached || drain(*event->recorded_on, event) == cudaSuccess;
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  (void)cudaEventSynchronize(event);
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->recorded_on = &stream_of(stream);
  event->is_reached = false;
  enqueue(stream, [event] {
    event->is_reached = true;
    event->at_ms = num_operations;
    return true;
  });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return event->is_reached ? cudaSuccess : drain(*event->recorded_on, event);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (!from->is_reached || !to->is_reached) return cudaErrorNotReady;
  *milliseconds = to->at_ms - from->at_ms;
  return cudaSuccess;
}

namespace sluice::simt {

void set_device(const DeviceFacts& chosen) {
  facts = chosen;
}

const DeviceFacts& device() {
  return facts;
}

std::string symbol_of(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_sname == nullptr) return "without a name";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 ? name.get() : info.dli_sname;
  return full.substr(0, full.find('('));
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> body) {
  const auto is_flat = [](const dim3& size) { return size.y == 1 && size.z == 1; };
  if (!is_flat(config.gridDim) || !is_flat(config.blockDim)) return cudaErrorInvalidValue;
  const GridShape shape{.num_blocks = config.gridDim.x,
                        .threads_per_block = config.blockDim.x,
                        .dynamic_shared_bytes = config.dynamicSmemBytes};
  enqueue(config.stream, [=, name = symbol_of(kernel)] {
    const DeviceAccess access;
    return run_grid(name, shape, body);
  });
  return cudaSuccess;
}

}  // namespace sluice::simt
