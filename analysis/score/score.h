// Scoring: what each policy did with the same loads, and which pairs differ. Values in, values out.
// Where in the flow: step 6, on what the session (3) recorded; from_store.h makes the input,
// verdict.h prints the result.
// Surprises: (1) the published interval is the wider of two, and says which; (2) a pair is scored
// only when both policies met exactly the same loads; (3) "equivalent" is asked before "better": a
// difference proven but within +-delta is equivalent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/score/interval.h"
#include "base/result.h"
#include "base/units.h"

namespace sluice {

// One context load under one policy. (replicate, load) names it: the same under two policies is the
// same load.
struct ScoredLoad {
  // Loads of one cluster may depend on each other: the replicate or trace.
  std::int64_t cluster = 0;
  std::int64_t replicate = 0, load = 0;  // index within the replicate
  bool violated = false;                 // unfinished or failed counts
  std::optional<Duration> ttft;          // absent: no first token came
  DataSize bytes_moved;
  std::optional<double> quality;  // token-weighted mean of 1 - damage; absent: no first token came
  std::int64_t tokens = 0, recomputed_tokens = 0;
  DataSize peak_memory;  // encoded plus decoded bytes held at once
};

// One run (a replicate) of a policy: what is known of it besides its loads.
struct ScoredRun {
  Duration simulated_time{};
  double gpu_busy_fraction = 0, link_utilisation = 0;  // of that time
  DataSize stored_per_context;                         // all versions of one context kept
};

struct PolicyInput {
  std::string policy;             // id with parameters: "fixed:level=int8@token"
  std::string profile;            // the codec profile and its source: "mistral-7b (published)"
  std::vector<ScoredLoad> loads;  // in any order
  std::vector<ScoredRun> runs;
  // Level id -> tokens; "recompute" for recomputed ones, "none" for those that never came.
  std::map<std::string, std::int64_t> tokens_by_level;
};

struct ScoreInput {
  std::string scenario, tier;
  std::string scenario_sha256;        // tells scenarios of one name apart; empty where there is one
  std::uint64_t seed = 0;             // of the runs
  std::vector<PolicyInput> policies;  // in the order to print
  std::vector<std::string> notes;     // what a reader must know of the input
};

struct ScoreOptions {
  std::optional<std::string> baseline;  // only pairs against this policy; absent: all pairs
  double delta = 0.01;  // smallest difference of violation rates that matters, in [0, 1)
  double confidence = 0.95;
  std::int64_t resamples = 10'000;
  std::uint64_t seed = 1;  // of the bootstrap
};

enum class IntervalMethod { kWilson, kTango, kClusterBootstrap, kIdentical };

struct PolicyScore {
  std::string policy, profile;
  std::int64_t loads = 0, clusters = 0, violations = 0, unfinished = 0;
  std::optional<double> violation_rate;  // absent without loads
  Interval violation_interval{0, 1};
  IntervalMethod interval_method = IntervalMethod::kWilson;
  std::optional<double> design_effect;  // variance over clusters / variance of independent loads
  // The ceil(q n)-th smallest; absent where an unfinished load falls there.
  std::optional<Duration> ttft_p50, ttft_p95;
  std::optional<double> bytes_per_load_mean;
  std::optional<double> quality_mean;                         // over loads with a first token
  std::optional<double> recomputed_fraction;                  // of tokens
  std::map<std::string, double> level_fractions;              // share of tokens; sums to 1
  std::optional<double> gpu_busy_fraction, link_utilisation;  // of simulated time
  std::optional<DataSize> stored_per_context, peak_memory;    // the largest
};

enum class Verdict { kBetter, kWorse, kEquivalent, kUndecided };

// a against b: negative differences mean that a violates less.
struct PairScore {
  std::string a, b;
  PairedCounts counts;
  double difference = 0;  // rate(a) - rate(b)
  Interval interval;      // of the difference
  IntervalMethod interval_method = IntervalMethod::kTango;
  double p_value = 1;            // exact McNemar: loads taken as independent
  double p_value_clustered = 1;  // t test over trace windows; 1 where there is one window
  double p_value_holm = 1;       // the larger of the two, adjusted over all pairs scored
  Verdict verdict = Verdict::kUndecided;
};

struct Score {
  std::string scenario, tier, scenario_sha256;
  std::uint64_t seed = 0;  // of the runs
  ScoreOptions options;
  std::vector<PolicyScore> policies;
  std::vector<PairScore> pairs;
  // What a reader must know: few trace windows, policies without loads.
  std::vector<std::string> notes;
};

// Errors: an unknown baseline (names the nearest), a load recorded twice, two policies that did not
// meet the same loads.
[[nodiscard]] Result<Score> score(ScoreInput input, const ScoreOptions& options);

// The rule, for a 95 % interval: inside +-delta is equivalent (two one-sided tests, each at 2.5 %,
// stricter than the usual 90 % interval, so that the one interval printed decides every verdict);
// else better or worse when the interval excludes 0 and the adjusted p is at most 1 - confidence;
// else undecided.
[[nodiscard]] Verdict decide(Interval difference, double adjusted_p, const ScoreOptions& options);

[[nodiscard]] std::string to_text(Verdict verdict);
[[nodiscard]] std::string to_text(IntervalMethod method);

}  // namespace sluice
