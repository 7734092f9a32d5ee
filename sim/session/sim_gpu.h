// A GPU in simulated time: one job after the other, first come first served.
#pragma once

#include <deque>
#include <optional>

#include "sim/session/gpu.h"

namespace sluice {

class SimGpu final : public Gpu {
 public:
  explicit SimGpu(Clock& clock) : clock_(&clock) {}
  GpuJobId submit(GpuJob job) override;
  void cancel(GpuJobId id) override;
  [[nodiscard]] Duration wait() const override;
  [[nodiscard]] Duration busy_time() const override;

 private:
  struct Queued {
    GpuJobId id;
    GpuJob job;
  };
  void begin_next();
  void finish();

  Clock* clock_;
  std::uint64_t next_id_ = 1;
  std::deque<Queued> queue_;  // not begun
  std::optional<Queued> running_;
  Instant running_since_{};
  Duration finished_busy_{};  // of jobs that ended
};

}  // namespace sluice
