#include "tests/device/conversions.h"

#include "codec/device/kernel_parts.h"
#include "codec/device/launch.h"

namespace sluice {

__global__ void widen(Dtype dtype, const std::uint16_t* from, float* to, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = from_bits(dtype, from[i]);
}
__global__ void round_values(Dtype dtype, const float* from, std::uint16_t* to, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    to[i] = to_bits(dtype, from[i]);
}

namespace {

// kernel(dtype, from, to, count) over copies of `values` on the device.
template <typename To, typename From>
Result<std::vector<To>> run(void (*kernel)(Dtype, const From*, To*, unsigned), Dtype dtype,
                            std::span<const From> values) {
  auto from = make_device_buffer(values.size_bytes());
  auto to = make_device_buffer(values.size() * sizeof(To));
  if (!from) return from.error();
  if (!to) return to.error();
  std::vector<To> result(values.size());
  const Status copied = check_cuda(cudaMemcpyAsync(from->data(), values.data(), values.size_bytes(),
                                                   cudaMemcpyHostToDevice, nullptr),
                                   "copying there");
  if (!copied) return copied.error();
  const Status launched = launch("conversions", {.blocks = 4, .threads_per_block = 256}, nullptr,
                                 kernel, dtype, reinterpret_cast<const From*>(from->data()),
                                 reinterpret_cast<To*>(to->data()), values.size());
  if (!launched) return launched.error();
  const Status back =
      check_cuda(cudaMemcpyAsync(result.data(), to->data(), result.size() * sizeof(To),
                                 cudaMemcpyDeviceToHost, nullptr),
                 "copying back");
  if (!back) return back.error();
  const Status done = check_cuda(cudaStreamSynchronize(nullptr), "converting");
  if (!done) return done.error();
  return result;
}

}  // namespace

Result<std::vector<float>> widen_on_device(Dtype dtype, std::span<const std::uint16_t> values) {
  return run(widen, dtype, values);
}
Result<std::vector<std::uint16_t>> round_on_device(Dtype dtype, std::span<const float> values) {
  return run(round_values, dtype, values);
}

}  // namespace sluice
