#include "analysis/store/content_hash.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "analysis/store/codes.h"
#include "analysis/store/database.h"
#include "base/sha256.h"

namespace sluice {
namespace {

// Values as unambiguous bytes: integers as 8 little-endian bytes, texts with their length,
// optionals with a flag.
class Content {
 public:
  void add(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) buffer_ += static_cast<char>(bits >> shift & 0xff);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void add(double value) { add(std::bit_cast<std::int64_t>(value)); }
  void add(Instant value) { add(to_ns(value)); }
  void add(Duration value) { add(to_ns(value)); }
  void add(DataSize value) { add(value.bytes()); }
  void add(const std::string& text) {
    add(static_cast<std::int64_t>(text.size()));
    buffer_ += text;
  }
  void add(const std::optional<Instant>& value) {
    add(std::int64_t{value.has_value()});
    if (value) add(*value);
  }
  template <typename... Values>
  void add_all(const Values&... values) {
    (add(values), ...);
  }
  std::string hex() {
    flush();
    return hash_.hex();
  }

 private:
  static constexpr std::size_t kFlushAt = 1 << 16;
  void flush() {
    hash_.update(buffer_);
    buffer_.clear();
  }
  std::string buffer_;
  Sha256 hash_;
};

void add_key(Content& content, const RunRow& run) {
  content.add_all(run.scenario_sha256, run.policy.name, run.policy.version, run.policy.params,
                  run.tier, static_cast<std::int64_t>(run.seed), run.replicate);
}

void add_inputs(Content& content, const RunRow& run) {
  content.add(std::int64_t{run.link_trace.has_value()});
  if (run.link_trace) {
    const LinkTraceFacts& trace = *run.link_trace;
    content.add_all(trace.name, trace.reader, trace.unit, trace.sha256, to_text(trace.kind),
                    trace.num_rows, trace.num_skipped, run.link_trace_offset);
  }
  content.add(static_cast<std::int64_t>(run.profiles.size()));
  for (const ProfileFacts& profile : run.profiles) {
    content.add_all(profile.name, profile.sha256, profile.model, profile.device, profile.source);
  }
}

void add_chunk(Content& content, const ChunkRecord& chunk) {
  content.add_all(std::int64_t{chunk.index}, chunk.tokens, to_text(chunk.action), chunk.level,
                  chunk.bytes, chunk.damage, chunk.reason, chunk.requested_at, chunk.first_byte_at,
                  chunk.arrived_at, chunk.compute_began_at, chunk.resident_at);
}

void add_load(Content& content, const LoadRecord& load) {
  content.add_all(load.index, load.arrived_at, load.slo, load.context_tokens, to_text(load.outcome),
                  load.failure, load.kv_ready_at, load.first_token_at, load.bytes_moved,
                  load.recomputed_tokens, load.quality, load.peak_memory,
                  static_cast<std::int64_t>(load.chunks.size()));
  for (const ChunkRecord& chunk : load.chunks) add_chunk(content, chunk);
}

bool before(const RunRow& a, const RunRow& b) {
  const auto key = [](const RunRow& run) {
    return std::tie(run.scenario_sha256, run.policy.name, run.policy.version, run.policy.params,
                    run.tier, run.seed, run.replicate);
  };
  return key(a) < key(b);
}

}  // namespace

Result<std::string> run_hash(Store& store, const RunRow& run) {
  auto loads = store.read_records(run.id);
  if (!loads) return loads.error();
  Content content;
  add_key(content, run);
  add_inputs(content, run);
  const RunMetrics& metrics = run.metrics;
  content.add_all(metrics.simulated_time, metrics.gpu_busy_time, metrics.gpu_busy_fraction,
                  metrics.link_utilisation, metrics.bytes_moved, metrics.stored_per_context,
                  static_cast<std::int64_t>(loads->size()));
  for (const LoadRecord& load : *loads) add_load(content, load);
  return content.hex();
}

Result<std::string> content_hash(Store& store) {
  // One snapshot, though others may be writing.
  const auto snapshot = Transaction::begin_reading(store.database());
  if (!snapshot) return snapshot.error();
  auto runs = store.read_runs({});
  if (!runs) return runs.error();
  std::sort(runs->begin(), runs->end(), before);
  Content content;
  for (const RunRow& run : *runs) {
    auto hash = run_hash(store, run);
    if (!hash) return hash;
    content.add(*hash);
  }
  return content.hex();
}

}  // namespace sluice
