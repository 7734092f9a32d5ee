// The GPU contract: a resource with a queue; decode, prefill and first-token jobs contend for it.
// Where in the flow: step 3; the session submits jobs and is told when they begin and end.
// Surprise: a job that has begun cannot be taken back; cancelling it only silences its callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "sim/net/network.h"

namespace sluice {

enum class GpuJobKind { kDecode, kPrefill, kFirstToken };

struct GpuJobId {
  std::uint64_t value = 0;
  auto operator<=>(const GpuJobId&) const = default;
};

// What a decode job works on. Only devices that decode real bytes look at it.
struct DecodeInput {
  ConnectionGroup load;
  std::int32_t chunk = 0;
  std::int32_t level = 0;
};

struct GpuJob {
  GpuJobKind kind = GpuJobKind::kDecode;
  Duration time{};                 // alone on this GPU; of a real decode what the plan expects
  std::function<void()> on_begin;  // may be empty
  std::function<void()> on_done;
  std::optional<DecodeInput> input;
  // In the place of on_done, when the bytes cannot be decoded or are not the tensors that were
  // encoded; may be empty where nothing is decoded.
  std::function<void(const std::string& why)> on_failed;
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual GpuJobId submit(GpuJob job) = 0;
  virtual void cancel(GpuJobId id) = 0;
  // Until a job submitted now would begin.
  [[nodiscard]] virtual Duration wait() const = 0;
  // Time that jobs have run since the run began, the running one up to now.
  [[nodiscard]] virtual Duration busy_time() const = 0;
};

}  // namespace sluice
