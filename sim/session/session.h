// One context load: observe, decide, transfer, decode, until every chunk is resident; then the
// first token. Where in the flow: step 3, between network (2), policy (4) and profile (5); makes
// the record that is scored (6). Surprises: it knows only contracts (clock, network, GPU, policy),
// so that emulation runs the same code; a recomputed chunk waits until all earlier chunks are
// resident; a chunk that failed is absent again and the policy is asked again, within the bounds of
// session_recover.cc; whoever ends it early calls abandon().
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "policies/policy.h"
#include "sim/net/network.h"
#include "sim/session/gpu.h"
#include "sim/session/level_list.h"
#include "sim/session/record.h"

namespace sluice {

// One chunk of the context as the session needs it: facts from geometry and profiles, no codec.
struct ChunkPlan {
  std::int64_t tokens = 0;
  std::vector<LevelCost> levels;           // one per level of the ladder
  std::optional<Duration> recompute_time;  // absent: cannot be recomputed
  DataSize decoded_size;                   // in GPU memory
  // What the server calls it; networks that move real bytes ask for it by this.
  std::int32_t stored_as = 0;
  DataSize text_size;  // to fetch before a recompute; zero when the tokens are already here
  // In GPU memory when the load arrives: an earlier load with the same prefix left it there. Counts
  // as undamaged.
  bool resident = false;
};

// Everything that is fixed when the load arrives.
struct LoadPlan {
  std::int64_t index = 0;
  LevelList levels;  // least damage first
  std::vector<ChunkPlan> chunks;
  Duration slo{};
  Duration first_token_time{};
  NodeId source, destination;
  std::optional<std::int64_t> first_chunk_index;  // on a chunk-clocked link: trace step of chunk 0
  bool clairvoyant = false;                       // the policy may see Foresight
};

class Session final : private TransferListener {
 public:
  // All references must outlive the session, and the session the run of its clock and GPU. `on_end`
  // is called once.
  Session(Clock& clock, Network& network, Gpu& gpu, Policy& policy, const LoadPlan& plan,
          std::function<void()> on_end);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // The load arrives now.
  void begin();
  // Ends an unfinished load: transfers are cancelled, the record stays unfinished. Does nothing
  // after the end.
  void abandon();
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] const LoadRecord& record() const { return record_; }
  // After the end, once.
  [[nodiscard]] LoadRecord take_record() { return std::move(record_); }

 private:
  struct ChunkState;

  // Asking and acting (session_decide.cc).
  void consult();
  void ask_policy();
  [[nodiscard]] Observation observe();
  [[nodiscard]] Status apply(const Action& action, const std::string& reason);
  [[nodiscard]] Status apply_fetch(const Fetch& fetch, const std::string& reason);
  void start_fetch(ChunkState& chunk, const Fetch& fetch, DataSize size, std::string reason);
  [[nodiscard]] bool refines(std::int32_t level, std::int32_t lower) const;
  [[nodiscard]] Status apply_decode(const Decode& decode);
  [[nodiscard]] Status apply_recompute(const Recompute& recompute, const std::string& reason);
  void start_recompute(ChunkState& chunk, const std::string& reason);
  [[nodiscard]] Status apply_cancel(const Cancel& cancel);
  [[nodiscard]] Status apply_wait(const Wait& wait);
  [[nodiscard]] Status apply_start();
  void start();
  [[nodiscard]] bool anything_under_way() const;
  [[nodiscard]] Result<ChunkState*> chunk_at(std::int32_t index);

  // After failures (session_recover.cc).
  void on_decode_failed(ChunkState& chunk, std::int32_t level, const std::string& why);
  void note_failure(ChunkState& chunk, std::optional<std::int32_t> level, bool for_good,
                    std::string words);
  [[nodiscard]] bool text_may_come(const ChunkState& chunk) const;
  [[nodiscard]] std::optional<std::int32_t> level_to_try(const ChunkState& chunk,
                                                         std::int32_t wanted) const;
  [[nodiscard]] std::string reason_after_failures(const ChunkState& chunk,
                                                  const std::string& reason) const;

  // What happens to chunks (session.cc).
  [[nodiscard]] ChunkState& chunk_of(TransferId id);
  void on_first_byte(TransferId id) override;
  void on_complete(TransferId id) override;
  void on_failure(TransferId id, TransferFailure why) override;
  void decode(ChunkState& chunk);
  void on_decoded(ChunkState& chunk, std::int32_t level);
  void note_level(ChunkState& chunk, std::int32_t level);
  void release_encoded(ChunkState& chunk);
  void cancel_decoding(ChunkState& chunk);
  void run_ready_recomputes();
  void become_resident(ChunkState& chunk, ChunkAction action);
  void take_over_resident_chunks();
  void drop_transfer(ChunkState& chunk);
  void count_what_came(ChunkState& chunk, DataSize came);
  void submit_first_token();
  void fail(std::string why);
  void end(LoadOutcome outcome);
  void hold_memory(DataSize more);
  void settle_record();

  [[nodiscard]] bool all_resident() const;
  [[nodiscard]] ConnectionGroup group() const {
    return ConnectionGroup{static_cast<std::uint64_t>(plan_.index)};
  }
  [[nodiscard]] bool nothing_in_flight() const { return num_transfers_ == 0; }

  Clock& clock_;
  Network& network_;
  Gpu& gpu_;
  Policy& policy_;
  const LoadPlan& plan_;
  std::function<void()> on_end_;

  std::vector<ChunkState> chunks_;
  std::vector<ChunkView> views_;  // as observe() last left them
  std::vector<PastTransfer> past_;
  std::int32_t num_transfers_ = 0;  // in flight
  LoadRecord record_;
  Duration gpu_busy_at_arrival_{};
  DataSize held_;         // encoded plus decoded bytes now
  bool started_ = false;  // the policy said Start, or everything is resident
  std::optional<GpuJobId> first_token_;
  std::optional<TimerId> consult_;  // is scheduled
  std::optional<TimerId> wake_;     // for a policy that waits until an instant
  std::size_t num_ignored_ = 0;     // actions of the decision at hand that failures rule out
  bool ended_ = false;
};

}  // namespace sluice
