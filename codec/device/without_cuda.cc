// A build without the CUDA Toolkit: the same questions, and one clear answer.
#include "codec/device/gpu.h"
#include "codec/device/registry.h"

namespace sluice {
namespace {

Error built_without_cuda() {
  return error_in(
      "", "no GPU here: this build has no CUDA backend",
      "install the CUDA Toolkit and configure with -DSLUICE_CUDA=ON, or use the CPU's backends");
}

}  // namespace

Result<GpuFacts> find_gpu() {
  return built_without_cuda();
}

std::span<const DeviceCodec> all_device_codecs() {
  return {};
}

Result<const DeviceCodec*> find_device_codec(std::string_view) {
  return built_without_cuda();
}

}  // namespace sluice
