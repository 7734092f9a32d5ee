#include "emu/run/scenario_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "codec/container/decode.h"
#include "emu/contents/make_contents.h"
#include "sim/scenario/canonical.h"
#include "sim/serving/draws.h"

namespace sluice {
namespace {

using ChunkPlace = std::pair<std::int32_t, std::int64_t>;  // index in its context, tokens

Result<std::vector<ChunkPlace>> places_in(const Scenario& s) {
  std::set<ChunkPlace> places;
  for (std::int64_t replicate = 0; replicate < s.replicates; ++replicate) {
    const Result<ReplicateDraws> draws = draw_replicate(s, replicate);
    if (!draws) return draws.error();
    for (const LoadDraw& load : draws->loads) {
      std::int32_t index = 0;
      for (const std::int64_t tokens : cut_into_chunks(load.context_tokens, s.chunk_tokens))
        places.emplace(index++, tokens);
    }
  }
  return std::vector<ChunkPlace>(places.begin(), places.end());
}

DataSize predicted_size(const Scenario& s, const std::vector<ChunkPlace>& places) {
  DataSize sum;
  for (const auto& [index, tokens] : places) {
    for (const LevelFacts& level : s.ladder.levels) sum += level.size_of(s.model.elements(tokens));
  }
  return sum;
}

Result<std::vector<CodecLevel>> levels_of(const CodecProfile& ladder) {
  std::vector<CodecLevel> levels;
  for (const LevelFacts& level : ladder.levels) {
    Result<CodecLevel> found = find_codec_level(level.codec, level.level);
    if (!found) return found.error();
    levels.push_back(*found);
  }
  return levels;
}

// Comparing tensors with their hash is part of every decode: how long it takes a byte.
Result<double> hash_ns_per_byte(const ContextContents& context, int threads) {
  const Result<std::vector<std::byte>> bytes = context.find(0, 0)->bytes.read_all();
  if (!bytes) return bytes.error();
  const Result<KvCache> cache = decode_container(*bytes, "chunk 0");
  if (!cache) return cache.error();
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    (void)hash_tensors(cache->view(), threads);
    times.push_back(static_cast<double>(to_ns(std::chrono::steady_clock::now() - began)));
  }
  std::sort(times.begin(), times.end());
  return times[1] / static_cast<double>(context.catalogue().chunks[0].decoded_size.bytes());
}

Result<MeasuredChunks> measure(const ContextContents& context,
                               const std::vector<ChunkPlace>& places, int decode_threads) {
  const Result<double> hash_time = hash_ns_per_byte(context, decode_threads);
  if (!hash_time) return hash_time.error();
  MeasuredChunks measured;
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ChunkEntry& entry = context.catalogue().chunks[i];
    MeasuredChunks::Chunk chunk{.stored_as = static_cast<std::int32_t>(i), .levels = {}};
    const Duration verify{
        static_cast<std::int64_t>(*hash_time * static_cast<double>(entry.decoded_size.bytes()))};
    for (const ChunkVersion& version : entry.versions) {
      chunk.levels.push_back({.size = version.size, .decode_time = version.decode_time + verify});
      text += fmt::format("{} {} {} {}\n", i, to_text(version.tensor_hash), version.size.bytes(),
                          to_ns(chunk.levels.back().decode_time));
    }
    measured.chunks.emplace(places[i], std::move(chunk));
  }
  measured.sha256 = sha256_hex(std::string_view(text));
  return measured;
}

}  // namespace

Result<ScenarioContents> make_scenario_contents(Scenario s,
                                                const ScenarioContentsOptions& options) {
  const Result<std::vector<ChunkPlace>> places = places_in(s);
  if (!places) return places.error();
  const DataSize size = predicted_size(s, *places);
  if (size > options.size_max) {
    return error_in(s.title(),
                    fmt::format("its {} different chunks would take {} encoded at all levels",
                                places->size(), to_text(size)),
                    "lower --replicates or --loads, or raise --contents-max");
  }
  const Result<std::vector<CodecLevel>> levels = levels_of(s.ladder);
  if (!levels) return levels.error();
  ContentsSpec spec;
  spec.model = s.model;
  spec.levels = *levels;
  for (const auto& [index, tokens] : *places) spec.chunk_tokens.push_back(tokens);
  spec.capture = options.capture;
  spec.threads = options.threads;
  spec.decode_threads = options.decode_threads;
  spec.on_progress = options.on_progress;
  Result<ContextContents> made = make_contents(spec);
  if (!made) return made.error();
  Result<MeasuredChunks> measured = measure(*made, *places, options.decode_threads);
  if (!measured) return measured.error();
  auto contents = std::make_shared<Contents>();
  if (Status added = contents->add(std::move(*made)); !added) return added.error();
  s.measured = std::make_shared<const MeasuredChunks>(std::move(*measured));
  s.canonical = canonical_text(s);
  s.sha256 = sha256_of_canonical(s.canonical);
  return ScenarioContents{std::move(s), std::move(contents), spec.context};
}

}  // namespace sluice
