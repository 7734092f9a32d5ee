#include "codec/measure/measure.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include "base/assert.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "codec/measure/attention_error.h"
#include "codec/measure/linear_fit.h"
#include "codec/model_profile/model_profile.h"
#include "codec/token_importance.h"

namespace sluice {
namespace {

constexpr std::int64_t kChunksMax = 100'000;

std::vector<TokenRange> chunks_of(TokenRange all, std::int64_t chunk_tokens) {
  std::vector<TokenRange> chunks;
  for (std::int64_t begin = all.begin; begin < all.end;
       begin += std::min(chunk_tokens, all.end - begin)) {
    chunks.push_back({begin, begin + std::min(chunk_tokens, all.end - begin)});
  }
  return chunks;
}

// Copies a decoded chunk into its place in the whole cache.
void place(const KvView& chunk, KvCache& whole) {
  for (std::size_t i = 0; i < chunk.layers.size(); ++i) {
    const std::int64_t offset = whole.view().layers[i].tokens_before(chunk.layers[i].first_token);
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* from = chunk.layers[i].find(kind);
      if (from == nullptr || from->shape.elements() == 0) continue;
      const MutableTensorView to = whole.mutable_tensor(i, kind);
      std::vector<float> channels(static_cast<std::size_t>(from->shape.channels()));
      for (std::int64_t token = 0; token < from->shape.tokens; ++token) {
        from->read_token(token, channels);
        to.write_token(offset + token, channels);
      }
    }
  }
}

struct Sizes {
  double bits_per_element = 0;
  double sd = 0;  // over chunks of full length
};

// How every chunk is coded.
struct Coding {
  std::optional<TokenImportance> importance;
  std::shared_ptr<const ModelProfile> model_profile;
  std::optional<KeptTokens> kept_tokens;  // where the level has a reducer: of the whole capture

  [[nodiscard]] Result<std::vector<std::byte>> encode(const KvView& view, CodecLevel level) const {
    return encode_container(view, level,
                            {.importance = importance ? &*importance : nullptr,
                             .kept_tokens = kept_tokens ? &*kept_tokens : nullptr,
                             .model_profile = model_profile.get()});
  }
  [[nodiscard]] Result<KvCache> decode(std::span<const std::byte> file, CodecLevel level) const {
    return decode_container(file, level.id(), {.model_profiles = std::span(&model_profile, 1)});
  }
};

// Codes the capture chunk by chunk into `damaged` and returns what the chunks cost, per element of
// the capture: dropped tokens count.
Result<Sizes> code_chunks(const KvView& view, CodecLevel level, const Coding& coding,
                          std::span<const TokenRange> chunks, KvCache& damaged) {
  DataSize total;
  std::int64_t elements = 0;
  std::vector<double> bits;
  for (const TokenRange chunk : chunks) {
    const KvView part = slice_tokens(view, chunk);
    const auto file = coding.encode(part, level);
    if (!file) return file.error();
    const auto decoded = coding.decode(*file, level);
    if (!decoded) return decoded.error();
    place(decoded->view(), damaged);
    const DataSize size = DataSize::bytes(static_cast<std::int64_t>(file->size()));
    const std::int64_t held = num_elements(shape_of(part));
    total += size;
    elements += held;
    if (chunk.tokens() == chunks.front().tokens()) bits.push_back(bits_per_element(size, held));
  }
  double mean = 0, squares = 0;
  for (const double b : bits) mean += b / static_cast<double>(bits.size());
  for (const double b : bits) squares += (b - mean) * (b - mean);
  const double sd = bits.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(bits.size() - 1));
  return Sizes{.bits_per_element = bits_per_element(total, elements), .sd = sd};
}

// CPU time of this thread: what other programs take of a busy machine is not the codec's.
Duration cpu_time() {
  timespec time{};
  const int failed = ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  SLUICE_ASSERT(failed == 0, "no CPU clock");
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

template <typename Work>
Duration time_of(int repeats, Work work) {
  std::vector<Duration> times;
  for (int i = 0; i < repeats; ++i) {
    const Duration begin = cpu_time();
    work();
    times.push_back(cpu_time() - begin);
  }
  return median(std::move(times));
}

struct Times {
  LinearTime encode, decode;
};

// Times containers of an eighth to the whole of one chunk.
Result<Times> time_level(const KvView& view, CodecLevel level, const Coding& coding,
                         TokenRange chunk, int repeats) {
  std::vector<TimePoint> encode_points, decode_points;
  for (const std::int64_t parts : {8, 4, 2, 1}) {
    const std::int64_t tokens = std::max<std::int64_t>(chunk.tokens() / parts, 1);
    const KvView part = slice_tokens(view, {chunk.begin, chunk.begin + tokens});
    const std::int64_t elements = num_elements(shape_of(part));
    if (elements == 0) continue;
    auto file = coding.encode(part, level);
    if (!file) return file.error();
    const Duration encode_time = time_of(repeats, [&] { file = coding.encode(part, level); });
    const Duration decode_time = time_of(repeats, [&] { (void)coding.decode(*file, level); });
    encode_points.push_back({elements, encode_time});
    decode_points.push_back({elements, decode_time});
  }
  return Times{.encode = fit_time(encode_points), .decode = fit_time(decode_points)};
}

// A chunk that every layer holds whole where there is one: times should be of typical chunks.
TokenRange typical_chunk(const KvView& view, std::span<const TokenRange> chunks) {
  return *std::max_element(chunks.begin(), chunks.end(), [&](TokenRange a, TokenRange b) {
    return num_elements(shape_of(slice_tokens(view, a))) <
           num_elements(shape_of(slice_tokens(view, b)));
  });
}

std::optional<std::string> refined_by(CodecLevel level) {
  if (level.prefix.value_or(0) == 0) return std::nullopt;
  --*level.prefix;
  return level.level_name();
}

// Sets the coding's kept tokens. `reference`: null where the capture has no queries.
Result<LevelFacts> measure_level(const KvView& view, CodecLevel level, Coding& coding,
                                 std::span<const TokenRange> chunks, int repeats,
                                 const AttentionReference* reference) {
  coding.kept_tokens.reset();
  KvShape shape = shape_of(view);
  if (level.reducer != nullptr) {
    auto kept = kept_tokens_of(view, level, coding.importance ? &*coding.importance : nullptr);
    if (!kept) return kept.error();
    coding.kept_tokens = *std::move(kept);
    shape = shape_of(keep_tokens(view, *coding.kept_tokens).view());
  }
  KvCache damaged = KvCache::allocate(shape);
  const auto sizes = code_chunks(view, level, coding, chunks, damaged);
  if (!sizes) return sizes.error();
  const auto times = time_level(view, level, coding, typical_chunk(view, chunks), repeats);
  if (!times) return times.error();
  const double damage = reference != nullptr ? reference->error_of(damaged.view())
                                             : value_error(view, damaged.view());
  if (!std::isfinite(damage)) {
    return error_in("", fmt::format("the damage of {} is not a finite number", level.id()),
                    "capture again: its values are not finite, or beyond fp16");
  }
  return LevelFacts{.codec = level.codec_name(),
                    .level = level.level_name(),
                    .bits_per_element = sizes->bits_per_element,
                    .bits_per_element_sd = sizes->sd,
                    .size_source = FactSource::kMeasured,
                    .encode = times->encode,
                    .decode = times->decode,
                    .damage = damage,
                    .damage_source = FactSource::kMeasured,
                    .refines = refined_by(level)};
}

}  // namespace

Result<CodecProfile> measure_codecs(const Capture& capture, const MeasureOptions& options,
                                    const std::function<void(const std::string&)>& progress) {
  const KvView& view = capture.cache.view();
  const KvShape shape = shape_of(view);
  if (num_elements(shape) == 0)
    return error_in("", "the capture holds no elements", "capture a longer text");
  if (token_range(shape).tokens() / options.chunk_tokens > kChunksMax) {
    return error_in("",
                    fmt::format("its layers spread over {} positions, more than {} chunks",
                                token_range(shape).tokens(), kChunksMax),
                    "check `first_token`, or use longer chunks");
  }
  const auto reference = AttentionReference::make(capture);
  Coding coding{.importance = {}, .model_profile = options.model_profile};
  if (options.uses_importance) {
    if (auto importance = token_importance(capture)) coding.importance = *std::move(importance);
  }
  const auto chunks = chunks_of(token_range(shape), options.chunk_tokens);
  CodecProfile profile;
  profile.device = cpu_name() + ", 1 thread";
  profile.chunk_tokens = chunks.front().tokens();
  profile.damage_measure = reference ? "attention-output-error" : "value-error";
  for (const CodecLevel& level : options.levels) {
    progress(level.id());
    const auto facts = measure_level(view, level, coding, chunks, options.repeats,
                                     reference ? &*reference : nullptr);
    if (!facts) return facts.error();
    profile.levels.push_back(*facts);
  }
  std::stable_sort(profile.levels.begin(), profile.levels.end(),
                   [](const LevelFacts& a, const LevelFacts& b) { return a.damage < b.damage; });
  return profile;
}

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace sluice
