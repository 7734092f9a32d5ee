// The half of the session that asks the policy and carries out its decisions.
#include <fmt/format.h>

#include <algorithm>

#include "sim/session/chunk_state.h"

namespace sluice {
namespace {

// A policy that acts this often without time passing does not wait for anything: that is its bug,
// not a load.
constexpr int kMaxDecisionsAtOnce = 1000;
constexpr int kMaxDecisionsPerChunk = 4;  // one at a time for each chunk is no fault

constexpr std::int32_t kMaxConnections = 1024;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

bool is_wait(const Action& action) {
  return std::holds_alternative<Wait>(action);
}

Error illegal(std::string what, std::string fix) {
  return error_in("policy", std::move(what), std::move(fix));
}

}  // namespace

// Asks once per instant, after all that happens at this instant.
void Session::consult() {
  if (ended_ || first_token_ || consult_) return;
  consult_ = clock_.schedule(clock_.now(), [this] {
    consult_.reset();
    ask_policy();
  });
}

void Session::ask_policy() {
  const auto max_decisions =
      std::max<std::size_t>(kMaxDecisionsAtOnce, kMaxDecisionsPerChunk * chunks_.size());
  for (std::size_t n = 0;; ++n) {
    if (ended_ || first_token_) return;
    if (n == max_decisions) return fail("the policy decides again and again without waiting");
    if (started_) break;
    if (wake_) clock_.cancel(*std::exchange(wake_, std::nullopt));
    const Decision decision = policy_.decide(observe());
    num_ignored_ = 0;
    for (const Action& action : decision.actions) {
      if (const Status done = apply(action, decision.reason); !done) return fail(done.error().what);
      if (ended_) return;
    }
    const auto num_waits = static_cast<std::size_t>(
        std::count_if(decision.actions.begin(), decision.actions.end(), is_wait));
    if (num_waits + num_ignored_ < decision.actions.size()) continue;
    if (all_resident() && nothing_in_flight()) start();
    break;
  }
  if (!started_) {
    if (!anything_under_way()) fail("the policy waits although nothing is under way");
    return;
  }
  const bool decoding =
      std::any_of(chunks_.begin(), chunks_.end(), [](const ChunkState& c) { return c.decoding; });
  if (all_resident() && !decoding) submit_first_token();
}

bool Session::anything_under_way() const {
  return !nothing_in_flight() || wake_ ||
         std::any_of(chunks_.begin(), chunks_.end(),
                     [](const ChunkState& c) { return c.decoding || c.prefill; });
}

Observation Session::observe() {
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const ChunkState& state = chunks_[i];
    ChunkView& view = views_[i];
    view.phase = state.phase();
    view.level = state.level;
    view.fetching = state.fetching;
    view.fetched = state.fetching ? network_.delivered(*state.transfer) : DataSize::zero();
    view.held = state.held;
    view.recomputing = state.recomputing();
    view.failures = state.failures;
  }
  const Duration elapsed = clock_.now() - record_.arrived_at;
  const Duration busy = gpu_.busy_time() - gpu_busy_at_arrival_;
  Observation o{
      .now = clock_.now(),
      .arrived_at = record_.arrived_at,
      .deadline = record_.arrived_at + plan_.slo,
      .levels = plan_.levels.all(),
      .chunks = views_,
      .past = past_,
      .transfers_in_flight = num_transfers_,
      .round_trip =
          network_.round_trip(plan_.source, plan_.destination, group()).value_or(Duration::zero()),
      .gpu_wait = gpu_.wait(),
      .gpu_busy_fraction =
          elapsed > Duration::zero() ? to_seconds(busy) / to_seconds(elapsed) : 0.0,
      .first_token_time = plan_.first_token_time,
      .foresight = std::nullopt};
  if (plan_.clairvoyant) {
    std::optional<std::int64_t> chunk_index;
    if (plan_.first_chunk_index) {
      const auto absent = std::find_if(chunks_.begin(), chunks_.end(), [](const ChunkState& c) {
        return c.phase() == ChunkPhase::kAbsent;
      });
      chunk_index = *plan_.first_chunk_index + (absent == chunks_.end() ? 0 : absent->index);
    }
    o.foresight =
        Foresight{network_.capacity_ahead(plan_.source, plan_.destination, group(), chunk_index)};
  }
  return o;
}

Status Session::apply(const Action& action, const std::string& reason) {
  if (started_ && !is_wait(action))
    return illegal("the policy acts after it said start", "let start be the last action");
  return std::visit(Overloaded{[&](const Fetch& a) { return apply_fetch(a, reason); },
                               [&](const Decode& a) { return apply_decode(a); },
                               [&](const Recompute& a) { return apply_recompute(a, reason); },
                               [&](const Cancel& a) { return apply_cancel(a); },
                               [&](const Wait& a) { return apply_wait(a); },
                               [&](const Start&) { return apply_start(); }},
                    action);
}

Result<Session::ChunkState*> Session::chunk_at(std::int32_t index) {
  if (index < 0 || index >= static_cast<std::int32_t>(chunks_.size())) {
    return illegal(fmt::format("the policy named chunk {} of {}", index, chunks_.size()),
                   "chunks count from zero");
  }
  return &chunks_[static_cast<std::size_t>(index)];
}

Status Session::apply_fetch(const Fetch& fetch, const std::string& reason) {
  const Result<ChunkState*> found = chunk_at(fetch.chunk);
  if (!found) return found.error();
  ChunkState& chunk = **found;
  if (fetch.level < 0 || fetch.level >= static_cast<std::int32_t>(plan_.levels.size())) {
    return illegal(fmt::format("the policy named level {} of {}", fetch.level, plan_.levels.size()),
                   "use an index");
  }
  if (fetch.connections < 1 || fetch.connections > kMaxConnections) {
    return illegal(fmt::format("the policy asked for {} connections", fetch.connections),
                   fmt::format("use 1 to {}", kMaxConnections));
  }
  if (chunk.transfer)
    return illegal(fmt::format("chunk {} is already being fetched", chunk.index), "wait or cancel");
  const std::optional<std::int32_t> allowed = level_to_try(chunk, fetch.level);
  if (!allowed) {
    ++num_ignored_;
    return {};
  }
  const auto& costs = plan_.chunks[static_cast<std::size_t>(chunk.index)].levels;
  const LevelInfo& level = plan_.levels[static_cast<std::size_t>(*allowed)];
  DataSize size = costs[static_cast<std::size_t>(*allowed)].size;
  if (chunk.level && refines(*allowed, *chunk.level)) {
    size -= costs[static_cast<std::size_t>(*chunk.level)].size;
  } else if (chunk.resident || chunk.level) {
    return illegal(
        fmt::format("chunk {} is here, and {} does not refine it", chunk.index, level.id),
        "fetch a level that refines the one that has arrived");
  }
  if (size < DataSize::zero()) {
    return illegal(fmt::format("{} is smaller than the level that it refines", level.id),
                   "give the whole size of a refined level");
  }
  std::string words = reason_after_failures(chunk, reason);
  if (*allowed != fetch.level) {
    const LevelInfo& wanted = plan_.levels[static_cast<std::size_t>(fetch.level)];
    words += fmt::format("; the session takes {} in the place of {}", level.id, wanted.id);
  }
  Fetch taken = fetch;
  taken.level = *allowed;
  start_fetch(chunk, taken, size, std::move(words));
  return {};
}

bool Session::refines(std::int32_t level, std::int32_t lower) const {
  std::optional<std::int32_t> below = plan_.levels[static_cast<std::size_t>(level)].refines;
  // As many steps as there are levels, whatever a plan says.
  for (std::size_t step = 0; below && step < plan_.levels.size(); ++step) {
    if (*below == lower) return true;
    below = plan_.levels[static_cast<std::size_t>(*below)].refines;
  }
  return false;
}

void Session::start_fetch(ChunkState& chunk, const Fetch& fetch, DataSize size,
                          std::string reason) {
  std::optional<std::int64_t> step;
  if (plan_.first_chunk_index) step = *plan_.first_chunk_index + chunk.index;
  chunk.record.requested_at = clock_.now();
  chunk.record.first_byte_at.reset();
  chunk.record.arrived_at.reset();
  chunk.record.reason = std::move(reason);
  chunk.fetching = fetch.level;
  chunk.decode_when = fetch.decode;
  chunk.in_flight = size;
  chunk.encoded += size;
  hold_memory(size);
  chunk.transfer = network_.start(
      {.from = plan_.source,
       .to = plan_.destination,
       .size = size,
       .group = group(),
       .connections = fetch.connections,
       .chunk_index = step,
       .progress_every = {},
       .content =
           TransferContent{.chunk = plan_.chunks[static_cast<std::size_t>(chunk.index)].stored_as,
                           .level = fetch.level,
                           .beyond = chunk.level}},
      *this);
  ++num_transfers_;
}

Status Session::apply_decode(const Decode& decode_it) {
  const Result<ChunkState*> found = chunk_at(decode_it.chunk);
  if (!found) return found.error();
  if (!(*found)->held) {
    return illegal(fmt::format("no bytes of chunk {} are held", decode_it.chunk),
                   "fetch it with DecodeWhen::kWhenAsked, and decode it once when it has arrived");
  }
  decode(**found);
  return {};
}

Status Session::apply_recompute(const Recompute& recompute, const std::string& reason) {
  const Result<ChunkState*> found = chunk_at(recompute.chunk);
  if (!found) return found.error();
  ChunkState& chunk = **found;
  const ChunkPlan& plan = plan_.chunks[static_cast<std::size_t>(chunk.index)];
  if (!plan.recompute_time)
    return illegal(fmt::format("chunk {} cannot be recomputed", chunk.index), "fetch it");
  if (chunk.resident || chunk.recomputing()) {
    return illegal(fmt::format("chunk {} is resident or being recomputed", chunk.index),
                   "choose another");
  }
  if (chunk.transfer && plan.text_size > DataSize::zero()) {
    return illegal(
        fmt::format("chunk {} is being fetched and its text would have to travel too", chunk.index),
        "cancel the transfer first");
  }
  if (!text_may_come(chunk)) {
    if (chunk.level) {  // what is here of it will do
      ++num_ignored_;
      return {};
    }
    const auto cheapest = static_cast<std::int32_t>(plan_.levels.size()) - 1;
    return apply_fetch({.chunk = chunk.index, .level = cheapest},
                       reason + "; the session fetches it, since its text does not come");
  }
  start_recompute(chunk, reason_after_failures(chunk, reason));
  return {};
}

void Session::start_recompute(ChunkState& chunk, const std::string& reason) {
  const ChunkPlan& plan = plan_.chunks[static_cast<std::size_t>(chunk.index)];
  chunk.wants_recompute = true;
  chunk.record.reason = reason;
  if (plan.text_size > DataSize::zero()) {
    chunk.record.requested_at = clock_.now();
    chunk.record.first_byte_at.reset();
    chunk.record.arrived_at.reset();
    chunk.transfer = network_.start(
        {.from = plan_.source,
         .to = plan_.destination,
         .size = plan.text_size,
         .group = group(),
         .connections = 1,
         .chunk_index = plan_.first_chunk_index
                            ? std::optional(*plan_.first_chunk_index + chunk.index)
                            : std::nullopt,
         .progress_every = {},
         .content = TransferContent{.chunk = plan.stored_as, .level = {}, .beyond = {}}},
        *this);
    ++num_transfers_;
  }
  run_ready_recomputes();
}

Status Session::apply_cancel(const Cancel& cancel) {
  const Result<ChunkState*> found = chunk_at(cancel.chunk);
  if (!found) return found.error();
  if (!(*found)->transfer)
    return illegal(fmt::format("chunk {} is not being fetched", cancel.chunk), "wait");
  drop_transfer(**found);
  return {};
}

Status Session::apply_start() {
  const bool all_usable =
      std::all_of(chunks_.begin(), chunks_.end(), [](const ChunkState& c) { return c.usable(); });
  if (!all_usable)
    return illegal("the policy said start before every chunk was here", "wait for them");
  start();
  return {};
}

void Session::start() {
  for (ChunkState& chunk : chunks_) {
    drop_transfer(chunk);
    if (chunk.held) decode(chunk);
  }
  started_ = true;
}

Status Session::apply_wait(const Wait& wait) {
  if (!wait.until) return {};
  if (*wait.until <= clock_.now())
    return illegal("the policy waits until an instant that has passed", "act, or wait for longer");
  if (wake_) clock_.cancel(*wake_);
  wake_ = clock_.schedule(*wait.until, [this] {
    wake_.reset();
    consult();
  });
  return {};
}

}  // namespace sluice
