// Sections for device tests, and one whole encoding or decoding of them, on the CPU and on a
// device. Where in the flow: under device_codec_test.cc and tests/simt/seeded_fault_test.cc.
#pragma once

#include <string>
#include <vector>

#include "codec/device/gpu.h"
#include "codec/device/registry.h"
#include "codec/device/section_run.h"
#include "tests/device/device_cache.h"

namespace sluice {

using Bytes = std::vector<std::byte>;

// One kind of one cache (keys and values together where the codec joins them): all its layers in
// one section, without refinements.
struct MadeSection {
  SectionContext context;
  std::vector<SectionTensor> tensors;
};
[[nodiscard]] std::vector<MadeSection> sections_of(const KvView& cache, const Codec& codec,
                                                   std::size_t level);

// What came of it: an Error's text, or every tensor's bytes in [head, token, dim].
struct Decoded {
  std::string error;
  std::vector<Bytes> tensors;
  bool operator==(const Decoded&) const = default;
};
// By the scalar oracle.
[[nodiscard]] Decoded decode_on_cpu(const Codec& codec, const MadeSection& section,
                                    const Bytes& payload);

// Runs sections on a stream of its own, with memory allocated for each.
class DeviceRunner {
 public:
  // Fails the test when there is no stream to be had.
  explicit DeviceRunner(const LaunchTarget& target);

  [[nodiscard]] StreamHandle stream() const { return stream_.get(); }
  [[nodiscard]] Result<EncodedSection> encode(const DeviceCodec& codec, const MadeSection& section,
                                              const DeviceSection& tensors) const;
  [[nodiscard]] Decoded decode(const DeviceCodec& codec, const MadeSection& section,
                               const Bytes& payload, const DeviceSection& tensors) const;

 private:
  [[nodiscard]] Status wait() const;

  LaunchTarget target_;
  CudaStream stream_;
};

// Memory lent for one run.
struct LentBuffers {
  PinnedBuffer pinned;
  DeviceBuffer work, payload;
  [[nodiscard]] LentMemory memory() const { return {pinned.span(), work.span(), payload.span()}; }
};
[[nodiscard]] LentBuffers lend(const MemoryNeed& need);

}  // namespace sluice
