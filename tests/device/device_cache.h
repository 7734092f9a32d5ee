// KV caches in a GPU's memory for the device tests: copies of the made caches, in every layout.
// Where in the flow: under device_codec_test.cc, on the host SIMT layer and on a real GPU.
#pragma once

#include <string>
#include <vector>

#include "codec/codec.h"
#include "codec/device/cuda_handles.h"
#include "codec/device/device_codec.h"

namespace sluice {

// Where the elements of a tensor lie.
enum class DeviceLayout : std::uint8_t {
  kHeadMajor,        // [head, token, dim]
  kTokenMajor,       // [token, head, dim]
  kDimStrided,       // [dim, token, head]: no two dims side by side
  kPagedTokenMajor,  // blocks of 16 tokens [token, head, dim], shuffled, from slot 5 on
  kPagedHeadMajor    // blocks of 7 tokens [head, token, dim], shuffled, from slot 0 on
};
inline constexpr DeviceLayout kDeviceLayouts[] = {
    DeviceLayout::kHeadMajor, DeviceLayout::kTokenMajor, DeviceLayout::kDimStrided,
    DeviceLayout::kPagedTokenMajor, DeviceLayout::kPagedHeadMajor};
[[nodiscard]] std::string to_text(DeviceLayout layout);

// One section's tensors on the device, and the same memory as seen by the host.
class DeviceSection {
 public:
  // Memory for `tensors` in that layout, holding noise. Fails the test when the GPU does.
  DeviceSection(std::span<const SectionTensor> tensors, DeviceLayout layout);

  [[nodiscard]] std::span<const DeviceSectionTensor> tensors() const { return tensors_; }
  // Copies elements there, and back into [head, token, dim]; both wait.
  void write(std::span<const SectionTensor> tensors, StreamHandle stream);
  [[nodiscard]] std::vector<std::byte> read(std::size_t index, StreamHandle stream) const;

 private:
  struct Image {
    DeviceBuffer memory, block_table;
    std::vector<std::int32_t> blocks;  // the table, on the host
    std::size_t bytes = 0;
  };
  // The tensor as if its memory were `host`.
  [[nodiscard]] DeviceTensor on_host(std::size_t index, std::vector<std::byte>& host) const;

  std::vector<Image> images_;
  std::vector<DeviceSectionTensor> tensors_;
};

}  // namespace sluice
