#include "sim/session/sim_gpu.h"

#include <algorithm>

namespace sluice {

GpuJobId SimGpu::submit(GpuJob job) {
  const GpuJobId id{next_id_++};
  queue_.push_back({id, std::move(job)});
  if (!running_) begin_next();
  return id;
}

void SimGpu::cancel(GpuJobId id) {
  if (running_ && running_->id == id) {
    running_->job.on_done = nullptr;
    return;
  }
  std::erase_if(queue_, [&](const Queued& q) { return q.id == id; });
}

Duration SimGpu::wait() const {
  Duration sum{};
  if (running_) sum += running_since_ + running_->job.time - clock_->now();
  for (const Queued& q : queue_) sum += q.job.time;
  return sum;
}

Duration SimGpu::busy_time() const {
  return running_ ? finished_busy_ + (clock_->now() - running_since_) : finished_busy_;
}

void SimGpu::begin_next() {
  if (queue_.empty()) return;
  running_ = std::move(queue_.front());
  queue_.pop_front();
  running_since_ = clock_->now();
  clock_->schedule_in(running_->job.time, [this] { finish(); });
  if (running_->job.on_begin) running_->job.on_begin();
}

void SimGpu::finish() {
  finished_busy_ += running_->job.time;
  const std::function<void()> on_done = std::move(running_->job.on_done);
  running_.reset();
  if (on_done) on_done();  // first: it may take back jobs that wait
  if (!running_) begin_next();
}

}  // namespace sluice
