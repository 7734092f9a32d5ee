// Writes a store of invented runs for the tests of the report: report_example_store OUT POLICIES
// REPLICATES LOADS NAMES. NAMES is `plain` or `hostile`. The first policy is always in time, the
// last leaves load 0 of each replicate unfinished.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "analysis/store/store.h"
#include "base/random.h"

namespace sluice {
namespace {

constexpr std::int64_t kChunks = 3, kChunkTokens = 1500;
constexpr const char* kHostile = "</title><script>alert('x')</script> & \"quoted\" \xFF\x01";
constexpr const char* kCanonical =
    R"({"ladder": {"levels": [{"id": "int8@token"}, {"id": "cachegen-released@2"}]}, "slo_ns": 1000000000})";

struct Example {
  std::int64_t num_policies = 0, num_replicates = 0, num_loads = 0;
  bool hostile = false;
  [[nodiscard]] std::string name(const std::string& plain) const {
    return hostile ? kHostile + plain : plain;
  }
};

// Chunks one after the other, each `step` long: a wait of a tenth, the transfer, the decoding of
// another tenth.
ChunkRecord chunk_at(const Example& example, std::int64_t index, Instant begin, Duration step) {
  ChunkRecord chunk;
  chunk.index = static_cast<std::int32_t>(index);
  chunk.tokens = kChunkTokens;
  chunk.reason = example.name("fits the budget");
  chunk.resident_at = begin + step;
  if (index == 1) {
    chunk.action = ChunkAction::kRecomputed;
    chunk.compute_began_at = begin;
    return chunk;
  }
  chunk.action = ChunkAction::kFetched;
  chunk.level = index == 0 ? "int8@token" : "cachegen-released@2";
  chunk.bytes = DataSize::bytes(index == 0 ? 98'000'000 : 28'000'000);
  chunk.damage = index == 0 ? 0.001 : 0.02;
  chunk.requested_at = begin;
  chunk.first_byte_at = begin + step / 10;
  chunk.arrived_at = chunk.compute_began_at = begin + step * 9 / 10;
  return chunk;
}

LoadRecord load_of(const Example& example, std::int64_t policy, std::int64_t replicate,
                   std::int64_t index) {
  RandomStream draws(1, fmt::format("policy {}", policy),
                     static_cast<std::uint64_t>(replicate * 100'000 + index));
  LoadRecord load{.index = index,
                  .arrived_at = at_ns(index * 1'000'000'000),
                  .slo = nanoseconds(1'000'000'000)};
  load.context_tokens = kChunks * kChunkTokens;
  const double longest_s = policy == 0 ? 0.95 : 0.95 + 0.5 * static_cast<double>(policy);
  const Duration step = seconds_to_duration(draws.uniform(0.3, longest_s) / kChunks);
  for (std::int64_t c = 0; c < kChunks; ++c) {
    load.chunks.push_back(chunk_at(example, c, load.arrived_at + step * c, step));
    load.bytes_moved += load.chunks.back().bytes;
  }
  load.recomputed_tokens = kChunkTokens;
  load.peak_memory = DataSize::bytes(700'000'000 + policy);
  load.quality = 1 - 0.021 / kChunks;
  if (index == 0 && policy + 1 == example.num_policies && policy > 0) {
    ChunkRecord& last = load.chunks.back();
    last.action = ChunkAction::kNone;
    last.arrived_at = last.compute_began_at = last.resident_at = std::nullopt;
    return load;
  }
  load.outcome = LoadOutcome::kCompleted;
  load.kv_ready_at = load.chunks.back().resident_at;
  load.first_token_at = *load.kv_ready_at + nanoseconds(20'000'000);
  return load;
}

Status write_run(Store& store, const Example& example, CampaignId campaign, std::int64_t policy,
                 std::int64_t replicate) {
  const auto scenario = store.add_scenario({.name = example.name("example"),
                                            .canonical = kCanonical,
                                            .question = example.name("Which policy is in time?")});
  const auto added =
      store.add_policy({.name = example.name(fmt::format("policy-{}", policy)), .version = "1"});
  const auto trace =
      store.add_link_trace({.name = example.name(fmt::format("window {}", replicate)),
                            .reader = "csv",
                            .unit = "Mbit/s",
                            .sha256 = fmt::format("{:064x}", replicate + 1)});
  const auto profile = store.add_profile({.name = example.name("profile"),
                                          .sha256 = std::string(64, 'b'),
                                          .model = "mistral-7b",
                                          .device = "a40",
                                          .source = "sizes published"});
  if (!scenario || !added || !trace || !profile)
    return error_in("", "an input was refused", "see the store");
  const RunKey key{*scenario, *added, replicate, "fluid", 7};
  if (const auto claim = store.claim(key, campaign); !claim) return claim.error();
  std::vector<LoadRecord> loads;
  for (std::int64_t i = 0; i < example.num_loads; ++i)
    loads.push_back(load_of(example, policy, replicate, i));
  const RunMetrics metrics{.simulated_time = nanoseconds(60'000'000'000),
                           .gpu_busy_time = nanoseconds(6'000'000'000),
                           .gpu_busy_fraction = 0.1,
                           .link_utilisation = 0.4,
                           .stored_per_context = DataSize::bytes(1'245'000'000)};
  const auto written =
      store.write_run(key, {.link_trace = *trace, .profiles = {*profile}}, metrics, loads);
  return written ? Status{} : Status{written.error()};
}

Status write_store(const char* file, const Example& example) {
  auto store = Store::open(file);
  if (!store) return store.error();
  const auto campaign = store->add_campaign(
      {.command = {"/some/where/sluice-sim", example.name("example"), "--store", "a b.db"},
       .scenario_argument = "example",
       .num_replicates = example.num_replicates,
       .build = this_build(),
       .host = this_host()});
  if (!campaign) return campaign.error();
  for (std::int64_t replicate = 0; replicate < example.num_replicates; ++replicate) {
    for (std::int64_t policy = 0; policy < example.num_policies; ++policy) {
      if (Status done = write_run(*store, example, *campaign, policy, replicate); !done)
        return done;
    }
  }
  return {};
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const sluice::Example example{std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]),
                                std::string_view(argv[5]) == "hostile"};
  const sluice::Status done = sluice::write_store(argv[1], example);
  if (!done) std::cerr << done.error().to_line() << '\n';
  return done ? 0 : 1;
}
