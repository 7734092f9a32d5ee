// The GPU contract by a worker thread: decode jobs decode the bytes that arrived and verify the
// tensors, prefill and first-token jobs take the time that their profile says.
// Where in the flow: step 3' of emulation, in the place of SimGpu.
// Surprises: one job after the other, as on the simulated GPU; timed jobs end at logical instants,
// so that late wake-ups do not add up; a wrong tensor is never told as done.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "codec/container/seal.h"
#include "codec/kv_cache.h"
#include "emu/client/decoded_memory.h"
#include "emu/client/received_chunks.h"
#include "emu/clock/real_clock.h"
#include "emu/contents/catalogue.h"
#include "sim/session/gpu.h"

namespace sluice {

struct DecodeWorkerOptions {
  std::shared_ptr<const Catalogue> catalogue;
  int threads = 1;  // of each decode
  // Of decoded tensors; a decode that does not fit fails. Several workers may share it.
  std::shared_ptr<DecodedMemory> memory = DecodedMemory::of(DataSize::bytes(std::int64_t{8} << 30));
  std::optional<SealKey> seal_key;  // of sealed containers
};

class DecodeWorker final : public Gpu {
 public:
  // `clock` and `received` outlive the worker.
  DecodeWorker(RealClock& clock, ReceivedChunks& received, DecodeWorkerOptions options);
  // Waits for the decode that runs.
  ~DecodeWorker() override;
  DecodeWorker(const DecodeWorker&) = delete;
  DecodeWorker& operator=(const DecodeWorker&) = delete;

  GpuJobId submit(GpuJob job) override;
  void cancel(GpuJobId id) override;
  [[nodiscard]] Duration wait() const override;
  [[nodiscard]] Duration busy_time() const override;

  // Of this load: its decoded chunks (null when there is none), and how many were verified so far.
  [[nodiscard]] std::shared_ptr<const KvCache> find(ConnectionGroup load, std::int32_t chunk) const;
  [[nodiscard]] std::int64_t num_verified(ConnectionGroup load) const;
  // The load is over: its tensors and encoded bytes go; their memory is used again.
  void release(ConnectionGroup load);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Queued {
    GpuJobId id;
    GpuJobKind kind = GpuJobKind::kDecode;
    Duration time{};
    std::optional<DecodeInput> input;
    TimePoint submitted_at;
  };
  struct Waiting {  // on the clock's thread: whom to tell
    GpuJob job;
    RealClock::Hold hold;
  };

  void work();
  void run(const Queued& job, TimePoint began);
  void sleep_until(TimePoint end);
  [[nodiscard]] Status decode(const DecodeInput& input);
  [[nodiscard]] Result<std::shared_ptr<const ChunkBuffer>> whole_container(
      const DecodeInput& input) const;
  [[nodiscard]] bool may_be_refined(const DecodeInput& input) const;
  void keep(const DecodeInput& input, std::shared_ptr<KvCache> cache);
  void tell_begun(GpuJobId id);
  void tell_done(GpuJobId id, const Status& status);

  RealClock& clock_;
  ReceivedChunks& received_;
  DecodeWorkerOptions options_;

  // On the clock's thread only.
  std::uint64_t next_id_ = 1;
  std::map<GpuJobId, Waiting> waiting_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Queued> queue_;
  std::optional<Queued> running_;
  bool discards_running_ = false;  // its load was released meanwhile
  TimePoint running_since_{}, free_since_{};
  Duration finished_busy_{};
  bool stopping_ = false;
  std::map<std::pair<ConnectionGroup, std::int32_t>, std::shared_ptr<KvCache>> decoded_;
  std::map<ConnectionGroup, std::int64_t> verified_;

  // Callbacks that are posted after the worker's end find this gone.
  std::shared_ptr<DecodeWorker*> alive_;
  std::thread thread_;  // last: it uses all above
};

}  // namespace sluice
