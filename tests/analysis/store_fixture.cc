#include "tests/analysis/store_fixture.h"

#include <unistd.h>

namespace sluice {
namespace {

ChunkRecord fetched_chunk(std::int64_t salt) {
  return {.index = 0,
          .tokens = 1500,
          .action = ChunkAction::kFetched,
          .level = "cachegen-released@2",
          .bytes = DataSize::bytes(28'000'000'000 + salt),
          .damage = 0.0125,
          .reason = "the last rate, 2.5 Gbit/s, fits",
          .requested_at = at_ns(1'000 + salt),
          .first_byte_at = at_ns(20'001'000),
          .arrived_at = at_ns(110'000'007),
          .compute_began_at = at_ns(110'000'008),
          .resident_at = at_ns(130'000'009)};
}

ChunkRecord recomputed_chunk() {
  return {.index = 1,
          .tokens = 700,
          .action = ChunkAction::kRecomputed,
          .level = "",
          .bytes = DataSize::bytes(2'800),
          .damage = 0,
          .reason = "recompute: 'cheaper'; DROP TABLE chunk; --",
          .requested_at = std::nullopt,
          .first_byte_at = std::nullopt,
          .arrived_at = std::nullopt,
          .compute_began_at = at_ns(130'000'010),
          .resident_at = at_ns(190'000'011)};
}

ChunkRecord cancelled_chunk() {
  return {.index = 2,
          .tokens = 1,
          .action = ChunkAction::kNone,
          .level = "raw@0",
          .bytes = DataSize::bytes(17),
          .damage = 1,
          .reason = "cancelled",
          .requested_at = at_ns(190'000'012),
          .first_byte_at = std::nullopt,
          .arrived_at = std::nullopt,
          .compute_began_at = std::nullopt,
          .resident_at = std::nullopt};
}

}  // namespace

void StoreTest::SetUp() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  folder_ = std::filesystem::path(testing::TempDir()) /
            ("sluice_" + std::string(test->name()) + "_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

CampaignFacts example_campaign() {
  return {.command = {"sluice-sim", "edge fluctuating", "--policy", "seed-ratio:k=1"},
          .scenario_argument = "edge-fluctuating",
          .link_trace_file = "a trace.csv",
          .num_replicates = 20,
          .started_at = WallTime(std::chrono::nanoseconds(1'764'400'000'000'000'001)),
          .build = {.commit = "abc",
                    .dirty = true,
                    .compiler = "GNU 12",
                    .flags = "-O2",
                    .ns3_version = "3.37",
                    .sqlite_version = "3.40.1"},
          .host = {.name = "h", .system = "Linux 6", .cpu = "x", .num_cpus = 2}};
}

LinkTraceFacts example_trace() {
  return {.name = "bw.jsonl#3",
          .reader = "cachegen-jsonl",
          .unit = "Gbit/s",
          .sha256 = std::string(64, 'a'),
          .kind = TraceKind::kAchievedThroughput,
          .num_rows = 10,
          .num_skipped = 1};
}

ProfileFacts example_profile() {
  return {.name = "cachegen-mistral-7b",
          .sha256 = std::string(64, 'b'),
          .model = "mistral-7b",
          .device = "A40",
          .source = "published: CacheGen, table 1"};
}

RunMetrics example_metrics() {
  return {.simulated_time = nanoseconds(5'000'000'001),
          .gpu_busy_time = nanoseconds(600'000'002),
          .gpu_busy_fraction = 0.12,
          .link_utilisation = 0.34,
          .bytes_moved = DataSize::bytes(84'000'000'008'451),
          .stored_per_context = DataSize::bytes(1'245'000'000)};
}

std::vector<LoadRecord> example_loads(std::int64_t num_loads, std::int64_t salt) {
  std::vector<LoadRecord> loads;
  for (std::int64_t i = 0; i < num_loads; ++i) {
    LoadRecord load{.index = i,
                    .arrived_at = at_ns(i),
                    .slo = nanoseconds(1'000'000'000),
                    .context_tokens = 2201,
                    .outcome = LoadOutcome::kCompleted,
                    .failure = "",
                    .kv_ready_at = at_ns(200'000'000 + i),
                    .first_token_at = at_ns(250'000'000 + i),
                    .bytes_moved = {},
                    .recomputed_tokens = 700,
                    .quality = 0.99,
                    .peak_memory = DataSize::bytes(30'000'000'000),
                    .chunks = {fetched_chunk(salt + i), recomputed_chunk(), cancelled_chunk()}};
    for (const ChunkRecord& chunk : load.chunks) load.bytes_moved += chunk.bytes;
    if (i == 1) {
      load.outcome = LoadOutcome::kFailed;
      load.failure = "the link went down";
      load.kv_ready_at.reset();
      load.first_token_at.reset();
    }
    loads.push_back(load);
  }
  return loads;
}

RunKey add_key(Store& store, std::int64_t replicate, const std::string& policy) {
  const auto scenario =
      store.add_scenario({.name = "edge-fluctuating",
                          .canonical = R"({"name":"edge-fluctuating","request_time_ns":600000})"});
  const auto added = store.add_policy({.name = policy, .version = "1", .params = "k=1"});
  EXPECT_TRUE(scenario.ok() && added.ok());
  return {
      .scenario = *scenario, .policy = *added, .replicate = replicate, .tier = "fluid", .seed = 7};
}

RunId write_example(Store& store, const RunKey& key, std::int64_t num_loads, std::int64_t salt) {
  const auto campaign = store.add_campaign(example_campaign());
  const auto trace = store.add_link_trace(example_trace());
  const auto profile = store.add_profile(example_profile());
  EXPECT_TRUE(campaign.ok() && trace.ok() && profile.ok());
  const auto claim = store.claim(key, *campaign);
  EXPECT_TRUE(claim.ok()) << claim.error().to_line();
  const auto run = store.write_run(key,
                                   {.link_trace = *trace,
                                    .link_trace_offset = nanoseconds(12'500'000'000),
                                    .profiles = {*profile}},
                                   example_metrics(), example_loads(num_loads, salt));
  EXPECT_TRUE(run.ok()) << run.error().to_line();
  return *run;
}

void expect_same(const std::vector<LoadRecord>& a, const std::vector<LoadRecord>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const LoadRecord &x = a[i], &y = b[i];
    EXPECT_EQ(std::tie(x.index, x.arrived_at, x.slo, x.context_tokens, x.outcome, x.failure,
                       x.kv_ready_at, x.first_token_at, x.bytes_moved, x.recomputed_tokens,
                       x.quality, x.peak_memory),
              std::tie(y.index, y.arrived_at, y.slo, y.context_tokens, y.outcome, y.failure,
                       y.kv_ready_at, y.first_token_at, y.bytes_moved, y.recomputed_tokens,
                       y.quality, y.peak_memory))
        << "load " << i;
    ASSERT_EQ(x.chunks.size(), y.chunks.size()) << "load " << i;
    for (std::size_t c = 0; c < x.chunks.size(); ++c) {
      const ChunkRecord &p = x.chunks[c], &q = y.chunks[c];
      EXPECT_EQ(std::tie(p.index, p.tokens, p.action, p.level, p.bytes, p.damage, p.reason,
                         p.requested_at, p.first_byte_at, p.arrived_at, p.compute_began_at,
                         p.resident_at),
                std::tie(q.index, q.tokens, q.action, q.level, q.bytes, q.damage, q.reason,
                         q.requested_at, q.first_byte_at, q.arrived_at, q.compute_began_at,
                         q.resident_at))
          << "load " << i << " chunk " << c;
    }
  }
}

}  // namespace sluice
