#include "sim/session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "sim/session/chunk_state.h"

namespace sluice {
namespace {

// Small enough to be kept in a callback without memory of its own.
struct DecodedLevel {
  std::int32_t chunk, level;
};

}  // namespace

Session::Session(Clock& clock, Network& network, Gpu& gpu, Policy& policy, const LoadPlan& plan,
                 std::function<void()> on_end)
    : clock_(clock),
      network_(network),
      gpu_(gpu),
      policy_(policy),
      plan_(plan),
      on_end_(std::move(on_end)) {
  SLUICE_ASSERT(!plan.chunks.empty() && !plan.levels.empty(), "a load needs chunks and levels");
  chunks_.resize(plan.chunks.size());
  views_.resize(plan.chunks.size());
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const ChunkPlan& chunk = plan.chunks[i];
    chunks_[i].index = static_cast<std::int32_t>(i);
    chunks_[i].record.index = static_cast<std::int32_t>(i);
    chunks_[i].record.tokens = chunk.tokens;
    record_.context_tokens += chunk.tokens;
    views_[i].index = static_cast<std::int32_t>(i);
    views_[i].tokens = chunk.tokens;
    views_[i].levels = chunk.levels;
    views_[i].recompute_time = chunk.recompute_time;
    views_[i].text_size = chunk.text_size;
  }
  record_.index = plan.index;
  record_.slo = plan.slo;
}

Session::~Session() {
  abandon();
}

void Session::begin() {
  record_.arrived_at = clock_.now();
  gpu_busy_at_arrival_ = gpu_.busy_time();
  take_over_resident_chunks();
  consult();
}

// With all chunks here already there is nothing to ask the policy: the first token comes next.
void Session::take_over_resident_chunks() {
  for (ChunkState& chunk : chunks_) {
    const ChunkPlan& plan = plan_.chunks[static_cast<std::size_t>(chunk.index)];
    if (!plan.resident) continue;
    chunk.resident = true;
    chunk.record.action = ChunkAction::kReused;
    chunk.record.level = kReusedLevel;
    chunk.record.reason = kReusedReason;
    chunk.record.resident_at = clock_.now();
    hold_memory(plan.decoded_size);
  }
  started_ = all_resident();
  if (started_) record_.kv_ready_at = clock_.now();
}

void Session::abandon() {
  if (ended_) return;
  end(LoadOutcome::kUnfinished);
}

// A load has few chunks, and nearly always the transfer of the last ones asked for ends.
Session::ChunkState& Session::chunk_of(TransferId id) {
  const auto chunk = std::find_if(chunks_.begin(), chunks_.end(),
                                  [id](const ChunkState& c) { return c.transfer == id; });
  SLUICE_ASSERT(chunk != chunks_.end(), "a transfer that this load did not start");
  return *chunk;
}

void Session::on_first_byte(TransferId id) {
  chunk_of(id).record.first_byte_at = clock_.now();
}

void Session::on_complete(TransferId id) {
  ChunkState& chunk = chunk_of(id);
  const DataSize size = network_.delivered(id);
  --num_transfers_;
  chunk.transfer.reset();
  chunk.record.arrived_at = clock_.now();
  chunk.record.bytes += size;
  record_.bytes_moved += size;
  if (!chunk.fetching) {  // the text of a chunk to recompute
    run_ready_recomputes();
    consult();
    return;
  }
  const Duration time = clock_.now() - *chunk.record.requested_at;
  const Instant first_byte = chunk.record.first_byte_at.value_or(clock_.now());
  past_.push_back({.chunk = chunk.index,
                   .level = chunk.fetching,
                   .size = size,
                   .time = time,
                   .first_byte_time = first_byte - *chunk.record.requested_at,
                   .rate = time > Duration::zero() ? mean_rate(size, time) : DataRate::zero()});
  chunk.level = chunk.fetching;
  chunk.fetching.reset();
  if (!chunk.resident) note_level(chunk, *chunk.level);  // a refinement counts once it is decoded
  chunk.held = chunk.decode_when == DecodeWhen::kWhenAsked;
  if (!chunk.held) decode(chunk);
  consult();
}

void Session::decode(ChunkState& chunk) {
  const std::int32_t level = *chunk.level;
  const ChunkPlan& plan = plan_.chunks[static_cast<std::size_t>(chunk.index)];
  chunk.held = false;
  chunk.decoding = true;
  chunk.decode_jobs.push_back(
      gpu_.submit({.kind = GpuJobKind::kDecode,
                   .time = plan.levels[static_cast<std::size_t>(level)].decode_time,
                   .on_begin =
                       [this, &chunk] {
                         if (!ended_) chunk.record.compute_began_at = clock_.now();
                       },
                   .on_done =
                       [this, what = DecodedLevel{chunk.index, level}] {
                         if (ended_) return;
                         on_decoded(chunks_[static_cast<std::size_t>(what.chunk)], what.level);
                       },
                   .input = DecodeInput{.load = group(), .chunk = plan.stored_as, .level = level},
                   .on_failed =
                       [this, what = DecodedLevel{chunk.index, level}](const std::string& why) {
                         if (ended_) return;
                         ChunkState& failed = chunks_[static_cast<std::size_t>(what.chunk)];
                         on_decode_failed(failed, what.level, why);
                       }}));
}

void Session::on_decoded(ChunkState& chunk, std::int32_t level) {
  chunk.decoding = chunk.level != level && !chunk.held;  // a refinement may have arrived meanwhile
  chunk.decoded_level = level;
  note_level(chunk, level);
  if (!chunk.resident) return become_resident(chunk, ChunkAction::kFetched);
  chunk.record.resident_at = clock_.now();
  if (!chunk.decoding && !chunk.held) release_encoded(chunk);
  consult();
}

void Session::note_level(ChunkState& chunk, std::int32_t level) {
  const LevelInfo& info = plan_.levels[static_cast<std::size_t>(level)];
  chunk.record.level = info.id;
  chunk.record.damage = info.damage;
}

// What is decoded needs its encoded bytes no more; those of a refinement under way stay.
void Session::release_encoded(ChunkState& chunk) {
  const DataSize kept = chunk.fetching ? chunk.in_flight : DataSize::zero();
  held_ -= chunk.encoded - kept;
  chunk.encoded = kept;
}

void Session::run_ready_recomputes() {
  for (ChunkState& chunk : chunks_) {
    const bool waits_for_text = chunk.transfer.has_value() && !chunk.fetching;
    if (chunk.wants_recompute && !chunk.prefill && !waits_for_text) {
      chunk.prefill =
          gpu_.submit({.kind = GpuJobKind::kPrefill,
                       .time = *plan_.chunks[static_cast<std::size_t>(chunk.index)].recompute_time,
                       .on_begin =
                           [this, &chunk] {
                             if (!ended_) chunk.record.compute_began_at = clock_.now();
                           },
                       .on_done =
                           [this, &chunk] {
                             if (ended_) return;
                             chunk.prefill.reset();
                             chunk.wants_recompute = false;
                             become_resident(chunk, ChunkAction::kRecomputed);
                           }});
    }
    if (!chunk.resident) return;  // later chunks wait for this one
  }
}

void Session::become_resident(ChunkState& chunk, ChunkAction action) {
  SLUICE_ASSERT(!chunk.resident, "a chunk became resident twice");
  if (action == ChunkAction::kRecomputed) {
    drop_transfer(chunk);
    cancel_decoding(chunk);
    chunk.level.reset();
    chunk.decoded_level.reset();
    chunk.record.level.clear();
    chunk.record.damage = 0;
    record_.recomputed_tokens += chunk.record.tokens;
  } else if (chunk.recomputing()) {
    if (chunk.transfer && !chunk.fetching) drop_transfer(chunk);  // its text is not needed
    if (chunk.prefill) gpu_.cancel(*std::exchange(chunk.prefill, std::nullopt));
    chunk.wants_recompute = false;
  }
  chunk.resident = true;
  chunk.record.action = action;
  chunk.record.resident_at = clock_.now();
  hold_memory(plan_.chunks[static_cast<std::size_t>(chunk.index)].decoded_size);
  if (!chunk.decoding && !chunk.held) release_encoded(chunk);
  if (all_resident() && !record_.kv_ready_at) record_.kv_ready_at = clock_.now();
  run_ready_recomputes();
  consult();
}

void Session::drop_transfer(ChunkState& chunk) {
  if (!chunk.transfer) return;
  const DataSize came = network_.cancel(*chunk.transfer);
  --num_transfers_;
  count_what_came(chunk, came);
}

// Of a transfer that ended before its time.
void Session::count_what_came(ChunkState& chunk, DataSize came) {
  chunk.transfer.reset();
  if (chunk.fetching) {
    held_ -= chunk.in_flight;
    chunk.encoded -= chunk.in_flight;
  } else {
    chunk.wants_recompute = false;  // without its text it cannot be recomputed
  }
  chunk.fetching.reset();
  chunk.record.bytes += came;
  record_.bytes_moved += came;
}

void Session::cancel_decoding(ChunkState& chunk) {
  for (const GpuJobId job : chunk.decode_jobs) gpu_.cancel(job);
  chunk.decode_jobs.clear();
  chunk.decoding = false;
  chunk.held = false;
}

void Session::submit_first_token() {
  if (first_token_) return;
  DataSize decoded;
  for (ChunkState& chunk : chunks_) {
    drop_transfer(chunk);
    decoded += plan_.chunks[static_cast<std::size_t>(chunk.index)].decoded_size;
  }
  SLUICE_ASSERT(held_ == decoded, "a resident context holds its decoded bytes and no others");
  first_token_ = gpu_.submit({.kind = GpuJobKind::kFirstToken,
                              .time = plan_.first_token_time,
                              .on_begin = {},
                              .on_done = [this] {
                                if (ended_) return;
                                record_.first_token_at = clock_.now();
                                end(LoadOutcome::kCompleted);
                              }});
}

void Session::fail(std::string why) {
  if (ended_) return;
  record_.failure = std::move(why);
  end(LoadOutcome::kFailed);
}

void Session::end(LoadOutcome outcome) {
  if (ended_) return;
  ended_ = true;
  for (ChunkState& chunk : chunks_) {
    drop_transfer(chunk);
    cancel_decoding(chunk);
    if (chunk.prefill) gpu_.cancel(*chunk.prefill);
  }
  if (first_token_) gpu_.cancel(*first_token_);
  if (consult_) clock_.cancel(*consult_);
  if (wake_) clock_.cancel(*wake_);
  network_.close(ConnectionGroup{static_cast<std::uint64_t>(plan_.index)});
  record_.outcome = outcome;
  settle_record();
  if (on_end_) on_end_();
}

void Session::hold_memory(DataSize more) {
  held_ += more;
  record_.peak_memory = std::max(record_.peak_memory, held_);
}

void Session::settle_record() {
  double quality = 0;
  record_.chunks.reserve(chunks_.size());
  for (ChunkState& chunk : chunks_) {
    if (chunk.resident)
      quality += static_cast<double>(chunk.record.tokens) * (1.0 - chunk.record.damage);
    record_.chunks.push_back(std::move(chunk.record));
  }
  record_.quality = quality / static_cast<double>(record_.context_tokens);
}

bool Session::all_resident() const {
  return std::all_of(chunks_.begin(), chunks_.end(),
                     [](const ChunkState& c) { return c.resident; });
}

}  // namespace sluice
