// What an open Store holds, and the steps its methods share (store, inputs, claim, write, read).
#pragma once

#include <optional>

#include "analysis/store/store.h"
#include "analysis/store/text_pool.h"
#include "analysis/store/worker.h"

namespace sluice {

struct StoreState {
  explicit StoreState(Database opened) : database(std::move(opened)) {}

  Database database;
  std::string worker = this_worker();
  // Prepared by the first write and kept: writing loads and chunks is the hot path.
  struct Writer {
    explicit Writer(const Database& database);
    TextPool texts;
    Statement insert_load;
    std::string chunks;  // of one load, as text; kept to save allocations
  };
  std::optional<Writer> writer;
};

// Who claims a run, and when.
struct ClaimFacts {
  CampaignId campaign;
  std::string worker;
  WallTime at{};
};

// Claims the run within the caller's transaction, unless it is done or a live process has it.
[[nodiscard]] Result<Claim> take_run(StoreState& state, const RunKey& key, const ClaimFacts& facts);

// SQLite's integers are signed; the bits stay the same.
[[nodiscard]] inline std::int64_t code_of_seed(const RunKey& key) {
  return static_cast<std::int64_t>(key.seed);
}

}  // namespace sluice
