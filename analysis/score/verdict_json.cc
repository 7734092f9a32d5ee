#include <nlohmann/json.hpp>

#include "analysis/score/verdict.h"

namespace sluice {
namespace {

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
nlohmann::json seconds_or_null(std::optional<Duration> time) {
  return time ? nlohmann::json(to_seconds(*time)) : nlohmann::json(nullptr);
}
nlohmann::json bytes_or_null(std::optional<DataSize> size) {
  return size ? nlohmann::json(size->bytes()) : nlohmann::json(nullptr);
}

nlohmann::json policy_json(const PolicyScore& policy) {
  return {{"policy", policy.policy},
          {"profile", policy.profile},
          {"loads", policy.loads},
          {"trace_windows", policy.clusters},
          {"violations", policy.violations},
          {"unfinished", policy.unfinished},
          {"violation_rate", or_null(policy.violation_rate)},
          {"violation_rate_low", policy.violation_interval.low},
          {"violation_rate_high", policy.violation_interval.high},
          {"interval_method", to_text(policy.interval_method)},
          {"design_effect", or_null(policy.design_effect)},
          {"ttft_s_p50", seconds_or_null(policy.ttft_p50)},
          {"ttft_s_p95", seconds_or_null(policy.ttft_p95)},
          {"bytes_per_load_mean", or_null(policy.bytes_per_load_mean)},
          {"recomputed_fraction", or_null(policy.recomputed_fraction)},
          {"quality_mean", or_null(policy.quality_mean)},
          {"levels", policy.level_fractions},
          {"gpu_busy_fraction", or_null(policy.gpu_busy_fraction)},
          {"link_utilisation", or_null(policy.link_utilisation)},
          {"stored_per_context_bytes", bytes_or_null(policy.stored_per_context)},
          {"peak_memory_bytes", bytes_or_null(policy.peak_memory)}};
}

nlohmann::json pair_json(const PairScore& pair) {
  return {{"a", pair.a},
          {"b", pair.b},
          {"difference", pair.difference},
          {"low", pair.interval.low},
          {"high", pair.interval.high},
          {"interval_method", to_text(pair.interval_method)},
          {"only_a_violates", pair.counts.only_a},
          {"only_b_violates", pair.counts.only_b},
          {"p_value", pair.p_value},
          {"p_value_clustered", pair.p_value_clustered},
          {"p_value_holm", pair.p_value_holm},
          {"verdict", to_text(pair.verdict)}};
}

}  // namespace

nlohmann::json verdict_json(const Score& score, const std::string& store) {
  nlohmann::json json = {{"scenario", score.scenario},
                         {"tier", score.tier},
                         {"store", store},
                         {"scenario_sha256", score.scenario_sha256},
                         {"seed", score.seed},
                         {"confidence", score.options.confidence},
                         {"delta", score.options.delta},
                         {"policies", nlohmann::json::array()},
                         {"pairs", nlohmann::json::array()},
                         {"notes", score.notes}};
  for (const PolicyScore& policy : score.policies) json["policies"].push_back(policy_json(policy));
  for (const PairScore& pair : score.pairs) json["pairs"].push_back(pair_json(pair));
  return json;
}

nlohmann::json verdict_json(const std::vector<Score>& scores, const std::string& store) {
  if (scores.size() == 1) return verdict_json(scores.front(), store);
  nlohmann::json json = {{"store", store}, {"comparisons", nlohmann::json::array()}};
  for (const Score& score : scores) json["comparisons"].push_back(verdict_json(score, store));
  return json;
}

}  // namespace sluice
