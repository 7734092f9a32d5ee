// How fast loads are stored and read back, one core: build/bin/store_write_bench FILE [LOADS
// [CHUNKS_PER_LOAD]]. Runs of 1000 loads, one transaction each, as the runner writes them. FILE
// must not exist; it is left behind.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "analysis/store/content_hash.h"

namespace sluice {
namespace {

constexpr std::int64_t kLoadsPerRun = 1000;

ChunkRecord make_chunk(std::int64_t load, std::int32_t index) {
  const std::int64_t start = load * 1'000'000'007 + index * 80'000'003;
  return {.index = index,
          .tokens = 1500,
          .action = ChunkAction::kFetched,
          .level = index % 2 == 0 ? "cachegen-released@2" : "cachegen-released@3",
          .bytes = DataSize::bytes(28'000'000 + load % 1000),
          .damage = 0.0125,
          .reason = "fits the time that is left",
          .requested_at = at_ns(start),
          .first_byte_at = at_ns(start + 20'000'001),
          .arrived_at = at_ns(start + 70'000'003),
          .compute_began_at = at_ns(start + 70'000'003),
          .resident_at = at_ns(start + 80'000'009)};
}

std::vector<LoadRecord> make_run(std::int64_t first, std::int32_t num_chunks) {
  std::vector<LoadRecord> loads;
  for (std::int64_t i = 0; i < kLoadsPerRun; ++i) {
    LoadRecord load{.index = i,
                    .arrived_at = at_ns((first + i) * 1'000'000'007),
                    .slo = nanoseconds(1'000'000'000),
                    .context_tokens = 1500 * num_chunks,
                    .outcome = LoadOutcome::kCompleted,
                    .failure = "",
                    .kv_ready_at = at_ns((first + i + 1) * 1'000'000'007),
                    .first_token_at = at_ns((first + i + 1) * 1'000'000'007 + 30'000'000),
                    .bytes_moved = {},
                    .quality = 0.9875,
                    .peak_memory = DataSize::bytes(200'000'000),
                    .chunks = {}};
    for (std::int32_t c = 0; c < num_chunks; ++c) load.chunks.push_back(make_chunk(first + i, c));
    for (const ChunkRecord& chunk : load.chunks) load.bytes_moved += chunk.bytes;
    loads.push_back(std::move(load));
  }
  return loads;
}

// Ends the program with the error's line.
template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().to_line());
  std::exit(1);
}

// Processor time, user and system: what one core does in a second, on a host that others use too.
class Stopwatch {
 public:
  template <typename Work>
  void time(const Work& work) {
    const std::clock_t start = std::clock();
    work();
    total_ += std::clock() - start;
  }
  [[nodiscard]] double per_second(std::int64_t count) const {
    return static_cast<double>(count) * CLOCKS_PER_SEC / static_cast<double>(total_);
  }

 private:
  std::clock_t total_ = 0;
};

void bench(const std::filesystem::path& file, std::int64_t num_loads, std::int32_t num_chunks) {
  Stopwatch write, read, hash;
  {
    Store store = must(Store::open(file));
    const auto scenario = must(store.add_scenario({.name = "bench", .canonical = "bench"}));
    const auto policy = must(store.add_policy({.name = "fixed", .version = "1", .params = ""}));
    const auto campaign = must(store.add_campaign({.command = {"store_write_bench"},
                                                   .scenario_argument = "bench",
                                                   .num_replicates = num_loads / kLoadsPerRun,
                                                   .started_at = wall_now(),
                                                   .build = this_build(),
                                                   .host = this_host()}));
    for (std::int64_t first = 0; first < num_loads; first += kLoadsPerRun) {
      const auto loads = make_run(first, num_chunks);
      write.time([&] {
        const RunKey key{scenario, policy, first / kLoadsPerRun, "fluid", 1};
        must(store.claim(key, campaign));
        must(store.write_run(key, {}, {}, loads));
      });
    }
    read.time([&] { must(store.read_loads({})); });
    hash.time([&] { must(content_hash(store)); });
  }
  fmt::print(
      "{} loads of {} chunks: {:.0f} loads per CPU second written, {:.0f} read for scoring, {:.0f} "
      "hashed, {:.0f} B per load\n",
      num_loads, num_chunks, write.per_second(num_loads), read.per_second(num_loads),
      hash.per_second(num_loads),
      static_cast<double>(std::filesystem::file_size(file)) / static_cast<double>(num_loads));
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc < 2 || std::filesystem::exists(argv[1])) {
    fmt::print(stderr, "error: {}; name a file that does not exist yet\n",
               argc < 2 ? "no file" : argv[1]);
    return 1;
  }
  sluice::bench(argv[1], argc > 2 ? std::atoll(argv[2]) : 200'000,
                argc > 3 ? std::atoi(argv[3]) : 6);
}
