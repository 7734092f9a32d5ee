// Loads of a layered codec whose numbers can be checked by head, under a policy of the registry.
#pragma once

#include <string>

#include "policies/registry.h"
#include "tests/session/load_bench.h"

namespace sluice {

// The base is 100 kB, damage 0.3; with one digit 300 kB, 0.1; with two 600 kB, 0. To decode they
// take 10, 20 and 40 ms, to recompute a chunk 300 ms, the first token 25 ms.
inline LoadBench layered_load(std::size_t num_chunks) {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "layered@3", .codec = "layered", .level = "3", .damage = 0.0, .refines = 1},
      {.id = "layered@2", .codec = "layered", .level = "2", .damage = 0.1, .refines = 2},
      {.id = "layered@1", .codec = "layered", .level = "1", .damage = 0.3, .refines = {}}};
  bench.plan.slo = std::chrono::seconds{1};
  for (std::size_t i = 0; i < num_chunks; ++i) {
    bench.chunk({600'000, 300'000, 100'000});
    bench.plan.chunks.back().levels[0].decode_time = std::chrono::milliseconds{40};
    bench.plan.chunks.back().levels[1].decode_time = std::chrono::milliseconds{20};
    bench.plan.chunks.back().levels[2].decode_time = std::chrono::milliseconds{10};
  }
  return bench;
}

inline LoadRecord run_policy(LoadBench& bench, const std::string& policy,
                             const std::string& tier = "fluid") {
  auto made = make_policy(*parse_policy(policy), bench.plan.levels.all());
  return bench.run(tier, **made);
}

}  // namespace sluice
