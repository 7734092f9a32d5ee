#include "sim/serving/plan.h"

#include <algorithm>

#include "sim/serving/topology.h"

namespace sluice {
namespace {

constexpr std::int64_t kBytesPerElement = 2;  // the decoded cache is fp16 or bf16

std::vector<LevelCost> predicted_costs(const Scenario& s, std::int64_t elements) {
  std::vector<LevelCost> costs;
  costs.reserve(s.ladder.levels.size());
  for (const LevelFacts& level : s.ladder.levels) {
    const Duration decode =
        s.decode && level.decode ? level.decode->of(elements) : Duration::zero();
    costs.push_back({.size = level.size_of(elements), .decode_time = decode});
  }
  return costs;
}

ChunkPlan plan_chunk(const Scenario& s, std::int64_t begin, std::int64_t tokens,
                     std::int64_t context_tokens) {
  const std::int64_t elements = s.model.elements(begin, tokens, context_tokens);
  ChunkPlan chunk;
  chunk.tokens = tokens;
  chunk.decoded_size = DataSize::bytes(elements * kBytesPerElement);
  if (s.measured) {
    const auto index = static_cast<std::int32_t>(begin / s.chunk_tokens);
    const MeasuredChunks::Chunk& measured = s.measured->chunks.at({index, tokens});
    chunk.levels = measured.levels;
    chunk.stored_as = measured.stored_as;
  } else {
    chunk.levels = predicted_costs(s, elements);
    chunk.stored_as = static_cast<std::int32_t>(begin / s.chunk_tokens);
  }
  if (s.recompute) chunk.recompute_time = s.device.prefill_time(s.model, tokens, begin);
  return chunk;
}

}  // namespace

LoadPlan plan_load(const Scenario& s, const LevelList& levels, const PolicySpec& policy,
                   std::int64_t index, const LoadDraw& draw) {
  const std::int64_t context_tokens = draw.context_tokens;
  LoadPlan plan;
  plan.index = index;
  plan.levels = levels;
  plan.chunks.reserve(
      static_cast<std::size_t>((context_tokens + s.chunk_tokens - 1) / s.chunk_tokens));
  for (std::int64_t begin = 0; begin < context_tokens; begin += s.chunk_tokens) {
    const std::int64_t tokens = std::min(s.chunk_tokens, context_tokens - begin);
    plan.chunks.push_back(plan_chunk(s, begin, tokens, context_tokens));
    // A chunk of which a part is missing travels whole.
    plan.chunks.back().resident = begin + tokens <= draw.resident_tokens;
  }
  plan.slo = s.slo;
  plan.first_token_time =
      s.device.first_token_time(s.model, s.workload.query_tokens, context_tokens);
  plan.source = node_id(draw.source);
  plan.destination = node_id(draw.destination);
  if (s.topology.main_link().chunk_clocked()) plan.first_chunk_index = 0;
  plan.clairvoyant = policy.entry->clairvoyant;
  return plan;
}

DataSize stored_size(const LoadPlan& plan) {
  DataSize sum;
  for (const ChunkPlan& chunk : plan.chunks) {
    for (const LevelCost& level : chunk.levels) sum += level.size;
  }
  return sum;
}

}  // namespace sluice
