#include "tests/device/bench_tune.h"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

namespace sluice {
namespace {

class Tuner {
 public:
  Tuner(BenchSection section, const GpuFacts& gpu, int repeats)
      : section_(std::move(section)), target_(gpu.target()), repeats_(repeats) {}

  [[nodiscard]] const LaunchParameters& best() const { return target_.parameters; }

  // Sets `parameter` to the value with which `codec` decodes fastest.
  Status tune(const char* codec, int LaunchParameters::*parameter,
              std::initializer_list<int> values) {
    const auto device = find_device_codec(codec);
    if (!device) return device.error();
    std::optional<Duration> fastest;
    int best = target_.parameters.*parameter;
    for (const int value : values) {
      target_.parameters.*parameter = value;
      const auto times = section_.run(**device, 0, target_, repeats_);
      if (!times) return times.error();
      if (fastest && times->decode >= *fastest) continue;
      fastest = times->decode;
      best = value;
    }
    target_.parameters.*parameter = best;
    return {};
  }

 private:
  BenchSection section_;
  LaunchTarget target_;
  int repeats_;
};

}  // namespace

Result<std::string> tuned_row(const BenchShape& shape, int repeats) {
  const auto gpu = find_gpu();
  if (!gpu) return gpu.error();
  auto section = BenchSection::make(shape);
  if (!section) return section.error();
  Tuner tuner(std::move(*section), *gpu, repeats);
  for (const Status& status :
       {tuner.tune("int8", &LaunchParameters::threads, {128, 256, 512}),
        tuner.tune("int8", &LaunchParameters::unit_elements, {2048, 4096, 8192, 16384, 32768}),
        tuner.tune("cachegen-released", &LaunchParameters::warps_per_block, {1, 2, 4, 8}),
        tuner.tune("cachegen-released", &LaunchParameters::blocks_per_multiprocessor,
                   {2, 4, 6, 8, 12, 16})}) {
    if (!status) return status.error();
  }
  const LaunchParameters& best = tuner.best();
  return fmt::format("{{{}, \"{}\", {{{}, {}, {}, {}}}}},", gpu->compute_capability, gpu->name,
                     best.threads, best.unit_elements, best.blocks_per_multiprocessor,
                     best.warps_per_block);
}

}  // namespace sluice
