// One section of a large cache on a GPU, to be encoded and decoded against the clock.
// Where in the flow: under bench_run.h.
// Surprise: only kernels are timed, by events on the stream; the payload already lies on the
// device, as it does when a network card or an earlier copy has put it there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "codec/device/cuda_handles.h"
#include "codec/device/gpu.h"
#include "codec/device/registry.h"

namespace sluice {

// Keys of all layers, [layer][token, head, dim], fp16.
struct BenchShape {
  std::string model;  // of codec/geometry/models
  std::int64_t layers = 0, heads = 0, dim = 0, tokens = 0;
  [[nodiscard]] std::int64_t elements() const { return layers * heads * dim * tokens; }
};

struct SectionTimes {
  std::int64_t payload_bytes = 0;
  Duration encode{}, decode{};  // medians; encode 0: the CPU has encoded
};

class BenchSection {
 public:
  // Fills the source; the target is paged in blocks of 16 tokens. Error: not enough memory.
  [[nodiscard]] static Result<BenchSection> make(const BenchShape& shape);

  // `repeats` runs each, on the multiprocessors of `target`.
  [[nodiscard]] Result<SectionTimes> run(const DeviceCodec& codec, std::size_t level,
                                         const LaunchTarget& target, int repeats);
  // A copy of the source's bytes on the device, as far as the target's memory holds it: the
  // ceiling.
  [[nodiscard]] Result<Duration> copy(int repeats);
  [[nodiscard]] DataSize copied() const {
    return DataSize::bytes(static_cast<std::int64_t>(bytes_));
  }

 private:
  BenchSection() = default;
  [[nodiscard]] SectionContext context(std::size_t level) const;
  // A codec's payload on the device and on the host, and how long making it took.
  struct Payload {
    DeviceBuffer device;
    PinnedBuffer host;
    Duration encode{};
  };
  [[nodiscard]] Result<Payload> encode(const DeviceCodec& codec, std::size_t level,
                                       const LaunchTarget& target, int repeats);
  // The same by the CPU, for a codec that is only decoded on a GPU: no time.
  [[nodiscard]] Result<Payload> encode_on_cpu(const DeviceCodec& codec, std::size_t level);
  [[nodiscard]] Result<Duration> decode(const DeviceCodec& codec, std::size_t level,
                                        const Payload& payload, const LaunchTarget& target,
                                        int repeats);
  [[nodiscard]] Status wait(const char* doing) const;
  [[nodiscard]] Status fill();

  BenchShape shape_;
  std::size_t bytes_ = 0;
  CudaStream stream_;
  CudaEvent begin_, end_;
  DeviceBuffer source_, target_, block_table_;
  std::vector<DeviceSectionTensor> from_, to_;
};

}  // namespace sluice
