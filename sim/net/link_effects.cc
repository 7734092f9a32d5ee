#include "sim/net/link_effects.h"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr Duration kMeanStateMin = std::chrono::microseconds{10};

bool is_probability(double p) {
  return p >= 0 && p <= 1;  // false for NaN
}

Status check_discipline(const QueueSpec& queue) {
  if (const auto* codel = std::get_if<CoDel>(&queue.discipline)) {
    if (codel->target <= Duration::zero() || codel->interval <= codel->target)
      return error_in("", "CoDel's interval does not pass its target",
                      "give 0 < target < interval");
  }
  if (const auto* red = std::get_if<Red>(&queue.discipline)) {
    if (red->low <= DataSize::zero() || red->high < red->low || red->high > queue.limit)
      return error_in("", "RED's thresholds do not ascend within the queue",
                      "give 0 < low <= high <= limit");
    if (!is_probability(red->probability) || !is_probability(red->weight) || red->weight == 0)
      return error_in("", "RED's probability or weight is no share", "give 0 to 1, weight above 0");
  }
  return {};
}

}  // namespace

Status check_effects(const QueueSpec& queue, const LossSpec& loss) {
  if (queue.limit < DataSize::zero())
    return error_in("", "the queue is negative", "give 0 B or more");
  if (Status status = check_discipline(queue); !status) return status;
  if (const auto* random = std::get_if<RandomLoss>(&loss)) {
    if (!is_probability(random->probability))
      return error_in("", fmt::format("the loss is {}", random->probability), "give 0 to 1");
  }
  if (const auto* burst = std::get_if<BurstLoss>(&loss)) {
    if (!is_probability(burst->loss_good) || !is_probability(burst->loss_bad))
      return error_in("", "a loss of burst loss is no share", "give 0 to 1");
    if (burst->mean_good < kMeanStateMin || burst->mean_bad < kMeanStateMin)
      return error_in("", "a mean time of burst loss is below 10 us",
                      "give 10 us or more; shorter ones are random loss");
  }
  if (const auto* trace = std::get_if<LossTrace>(&loss)) return check_loss_trace(*trace, "");
  return {};
}

double mean_loss(const LossSpec& loss) {
  if (const auto* random = std::get_if<RandomLoss>(&loss)) return random->probability;
  if (const auto* trace = std::get_if<LossTrace>(&loss)) {
    return static_cast<double>(summarise(*trace).mean_ppm) / static_cast<double>(kAllLostPpm);
  }
  const auto* burst = std::get_if<BurstLoss>(&loss);
  if (burst == nullptr) return 0;
  const double good = to_seconds(burst->mean_good), bad = to_seconds(burst->mean_bad);
  return (burst->loss_good * good + burst->loss_bad * bad) / (good + bad);
}

}  // namespace sluice
