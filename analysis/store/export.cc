#include "analysis/store/export.h"

#include <fmt/format.h>

#include "analysis/store/codes.h"
#include "analysis/store/database.h"
#include "base/files.h"
#include "base/table.h"

namespace sluice {
namespace {

std::string field_of(const std::string& text) {
  return csv_field(text);
}
std::string field_of(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string field_of(std::int32_t value) {
  return fmt::format("{}", value);
}
std::string field_of(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string field_of(bool value) {
  return value ? "1" : "0";
}
std::string field_of(double value) {
  return fmt::format("{}", value);
}  // the shortest text that reads back equal
std::string field_of(Instant value) {
  return field_of(to_ns(value));
}
std::string field_of(Duration value) {
  return field_of(to_ns(value));
}
std::string field_of(DataSize value) {
  return field_of(value.bytes());
}
template <typename T>
std::string field_of(const std::optional<T>& value) {
  return value ? field_of(*value) : std::string();
}

template <typename First, typename... Rest>
void write_line(std::ostream& out, const First& first, const Rest&... rest) {
  out << field_of(first);
  ((out << ',' << field_of(rest)), ...);
  out << '\n';
}

constexpr const char* kRunColumns =
    "run_id,scenario,scenario_sha256,policy,policy_version,policy_params,tier,seed,replicate,link_"
    "trace,"
    "link_trace_sha256,link_trace_offset_ns,profiles,num_loads,num_violated,simulated_time_ns,gpu_"
    "busy_time_ns,"
    "gpu_busy_fraction,link_utilisation_fraction,bytes_moved,stored_per_context_bytes,git_commit,"
    "git_dirty,host\n";

Status write_runs(Store& store, const std::vector<RunRow>& runs, std::ostream& out) {
  out << kRunColumns;
  for (const RunRow& run : runs) {
    const auto campaign = store.read_campaign(run.campaign);
    if (!campaign) return campaign.error();
    std::optional<std::string> trace, trace_sha256;
    std::optional<Duration> offset;
    if (run.link_trace) {
      trace = run.link_trace->name;
      trace_sha256 = run.link_trace->sha256;
      offset = run.link_trace_offset;
    }
    std::string profiles;
    for (const ProfileFacts& profile : run.profiles)
      profiles += (profiles.empty() ? "" : " ") + profile.name;
    const RunMetrics& metrics = run.metrics;
    write_line(out, run.id.value, run.scenario, run.scenario_sha256, run.policy.name,
               run.policy.version, run.policy.params, run.tier, run.seed, run.replicate, trace,
               trace_sha256, offset, profiles, run.num_loads, run.num_violated,
               metrics.simulated_time, metrics.gpu_busy_time, metrics.gpu_busy_fraction,
               metrics.link_utilisation, metrics.bytes_moved, metrics.stored_per_context,
               campaign->build.commit, campaign->build.dirty, campaign->host.name);
  }
  return {};
}

constexpr const char* kLoadColumns =
    "run_id,load_index,arrived_ns,slo_ns,context_tokens,outcome,failure,kv_ready_ns,first_token_ns,"
    "ttft_ns,violated,"
    "bytes_moved,recomputed_tokens,quality_fraction,peak_memory_bytes,num_chunks\n";

Status write_loads(Store& store, const std::vector<RunRow>& runs, std::ostream& out) {
  out << kLoadColumns;
  for (const RunRow& run : runs) {
    const auto loads = store.read_records(run.id);
    if (!loads) return loads.error();
    for (const LoadRecord& load : *loads) {
      write_line(out, run.id.value, load.index, load.arrived_at, load.slo, load.context_tokens,
                 to_text(load.outcome), load.failure, load.kv_ready_at, load.first_token_at,
                 load.ttft(), load.violated(), load.bytes_moved, load.recomputed_tokens,
                 load.quality, load.peak_memory, static_cast<std::int64_t>(load.chunks.size()));
    }
  }
  return {};
}

constexpr const char* kChunkColumns =
    "run_id,load_index,chunk_index,tokens,action,level,bytes,damage_fraction,reason,requested_ns,"
    "first_byte_ns,"
    "arrived_ns,compute_began_ns,resident_ns\n";

Status write_chunks(Store& store, const std::vector<RunRow>& runs, std::ostream& out) {
  out << kChunkColumns;
  for (const RunRow& run : runs) {
    const auto loads = store.read_records(run.id);
    if (!loads) return loads.error();
    for (const LoadRecord& load : *loads) {
      for (const ChunkRecord& chunk : load.chunks) {
        write_line(out, run.id.value, load.index, chunk.index, chunk.tokens, to_text(chunk.action),
                   chunk.level, chunk.bytes, chunk.damage, chunk.reason, chunk.requested_at,
                   chunk.first_byte_at, chunk.arrived_at, chunk.compute_began_at,
                   chunk.resident_at);
      }
    }
  }
  return {};
}

}  // namespace

Status export_csv(Store& store, const std::filesystem::path& folder) {
  const auto snapshot = Transaction::begin_reading(store.database());
  if (!snapshot) return snapshot.error();
  const auto runs = store.read_runs({});
  if (!runs) return runs.error();
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return error_in(folder.string(), "cannot be made: " + code.message(),
                    "name another folder with --out");
  const struct {
    const char* name;
    Status (*write)(Store&, const std::vector<RunRow>&, std::ostream&);
  } files[] = {{"runs.csv", write_runs}, {"loads.csv", write_loads}, {"chunks.csv", write_chunks}};
  for (const auto& [name, write] : files) {
    Status read;
    const Status written =
        write_file_atomically(folder / name, [&, write = write](std::ostream& out) {
          read = write(store, *runs, out);
          if (!read) out.setstate(std::ios::failbit);  // nothing half-written
        });
    if (!read) return read;
    if (!written) return written;
  }
  return {};
}

}  // namespace sluice
