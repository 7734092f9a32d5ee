// The store: every run, load and chunk of a campaign in one SQLite file, with all that made them.
// Where in the flow: the runner claims and writes runs (7), score, compare and report read them
// (8).
// Surprise: several processes may work on one file; a run is claimed first, so that none is made
// twice, and written in one transaction, so that a killed process leaves whole runs only.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/store/facts.h"
#include "analysis/store/rows.h"
#include "base/result.h"
#include "sim/session/record.h"

namespace sluice {

class Database;
struct StoreState;

// Names a run by what determines it. Build and host are provenance, not part of the key.
struct RunKey {
  ScenarioId scenario;
  PolicyId policy;
  std::int64_t replicate = 0;
  std::string tier;
  std::uint64_t seed = 0;
  auto operator<=>(const RunKey&) const = default;
};

enum class Claim {
  kOurs,   // this process makes the run; write_run() finishes it. Its threads are not told apart
  kTaken,  // another live process is making it
  kDone,
};

// What a run met that its key only implies.
struct RunInputs {
  std::optional<LinkTraceId> link_trace;
  Duration link_trace_offset{};
  std::vector<ProfileId> profiles;
};

// One open file. Every method that fails says which file and why, and has changed nothing.
// Thread-safety: one thread at a time; other processes (or other Stores) may use the same file.
class Store {
 public:
  // Opens for writing; makes the file when absent. Refuses a file that is not a store, or of a
  // newer version.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& file);
  // Opens for reading; an absent file is an error.
  [[nodiscard]] static Result<Store> open_to_read(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Inputs, by content: the same facts give the same id.
  [[nodiscard]] Result<ScenarioId> add_scenario(const ScenarioFacts& scenario);
  [[nodiscard]] Result<PolicyId> add_policy(const PolicyFacts& policy);
  [[nodiscard]] Result<LinkTraceId> add_link_trace(const LinkTraceFacts& trace);
  [[nodiscard]] Result<ProfileId> add_profile(const ProfileFacts& profile);
  [[nodiscard]] Result<CampaignId> add_campaign(const CampaignFacts& campaign);

  // Those not done yet, claimed ones included, in the order given.
  [[nodiscard]] Result<std::vector<RunKey>> missing_runs(std::span<const RunKey> wanted);
  // Takes the run for this process unless it is done or a live process has it. The claim of a
  // process that died (its id and start time no longer match, or the machine was started anew) is
  // taken over.
  [[nodiscard]] Result<Claim> claim(const RunKey& key, CampaignId campaign);
  // Finishes a claimed run: all of its rows, or none. An error when this process does not hold the
  // claim.
  [[nodiscard]] Result<RunId> write_run(const RunKey& key, const RunInputs& inputs,
                                        const RunMetrics& metrics,
                                        std::span<const LoadRecord> loads);
  // Takes over a run that another file holds as done, with the worker and the time of day of its
  // claim. False when it is done here already; an error when a live process is making it here.
  [[nodiscard]] Result<bool> import_run(const RunKey& key, CampaignId campaign,
                                        const RunInputs& inputs, const RunRow& from,
                                        std::span<const LoadRecord> loads);
  // Gives a claim back, when the run failed.
  [[nodiscard]] Status release(const RunKey& key);

  // Puts these in the place of what the file held of the same scenario, seed, policy and tiers.
  [[nodiscard]] Status write_validation(const std::string& scenario_sha256, std::uint64_t seed,
                                        std::span<const ValidationRow> rows);
  // Ordered by policy, tier, reference tier.
  [[nodiscard]] Result<std::vector<ValidationRow>> read_validation(
      const std::string& scenario_sha256, std::uint64_t seed) const;

  // Ordered by scenario, policy, params, tier, seed, replicate.
  [[nodiscard]] Result<std::vector<RunRow>> read_runs(const RunFilter& filter) const;
  // Loads of done runs.
  [[nodiscard]] Result<LoadTable> read_loads(const RunFilter& filter) const;
  // One run's loads with their chunks, as they were written.
  [[nodiscard]] Result<std::vector<LoadRecord>> read_records(RunId run) const;
  // By chunk index; an error when there is no such load.
  [[nodiscard]] Result<std::vector<ChunkRecord>> read_chunks(RunId run,
                                                             std::int64_t load_index) const;
  [[nodiscard]] Result<ScenarioFacts> read_scenario(const std::string& sha256) const;
  [[nodiscard]] Result<CampaignFacts> read_campaign(CampaignId campaign) const;

  [[nodiscard]] const Database& database() const;

 private:
  explicit Store(std::unique_ptr<StoreState> state);
  std::unique_ptr<StoreState> state_;
};

}  // namespace sluice
