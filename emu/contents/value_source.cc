#include "emu/contents/value_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>

#include "base/random.h"
#include "codec/capture_format.h"
#include "codec/codable.h"
#include "codec/container/parallel.h"
#include "codec/float16.h"

namespace sluice {
namespace {

// Of made values: a few layers of a middling model; the repeats cost nothing.
constexpr std::int64_t kMadeLayers = 4, kMadeTokens = 512, kMadeChannels = 512;
constexpr double kMadeMemory = 0.9;  // correlation of neighbouring tokens
constexpr double kMadeNoise = 0.3;   // of a channel's deviation
constexpr double kOutlierShare = 0.02, kOutlierFactor = 8;

// Chunks begin this far apart in the source, or the next number that visits every token.
constexpr std::int64_t kPlaceStep = 37;

SourcePlane plane_of(std::int64_t tokens, std::int64_t channels, std::int64_t run_max) {
  SourcePlane plane{.tokens = tokens, .channels = channels, .row = channels + run_max};
  plane.values.resize(static_cast<std::size_t>(tokens * plane.row));
  return plane;
}

std::span<std::uint16_t> row_of(SourcePlane& plane, std::int64_t token) {
  return std::span(plane.values)
      .subspan(static_cast<std::size_t>(token * plane.row), static_cast<std::size_t>(plane.row));
}

void write_row(SourcePlane& plane, std::int64_t token, std::span<const float> channels) {
  const auto row = row_of(plane, token);
  for (std::size_t i = 0; i < row.size(); ++i)
    row[i] = fp32_to_fp16(codable(channels[i % channels.size()]));
}

SourcePlane captured_plane(const TensorView& tensor, std::int64_t run_max) {
  SourcePlane plane = plane_of(tensor.shape.tokens, tensor.shape.channels(), run_max);
  std::vector<float> channels(static_cast<std::size_t>(plane.channels));
  for (std::int64_t token = 0; token < plane.tokens; ++token) {
    tensor.read_token(token, channels);
    write_row(plane, token, channels);
  }
  return plane;
}

SourcePlane made_plane(RandomStream random, bool is_key, std::int64_t run_max) {
  SourcePlane plane = plane_of(kMadeTokens, kMadeChannels, run_max);
  std::vector<float> deviation(kMadeChannels), mean(kMadeChannels), smooth(kMadeChannels),
      channels(kMadeChannels);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const bool is_outlier = is_key && random.bernoulli(kOutlierShare);
    deviation[i] =
        static_cast<float>(std::exp(random.normal(0, 0.5)) * (is_outlier ? kOutlierFactor : 1.0));
    mean[i] = is_key ? static_cast<float>(random.normal(0, 1)) * deviation[i] : 0.0F;
  }
  const double fresh = std::sqrt(1 - kMadeMemory * kMadeMemory);
  for (std::int64_t token = 0; token < plane.tokens; ++token) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      smooth[i] = static_cast<float>(kMadeMemory * smooth[i] + fresh * random.normal(0, 1));
      channels[i] =
          mean[i] + deviation[i] * (smooth[i] + static_cast<float>(random.normal(0, kMadeNoise)));
    }
    write_row(plane, token, channels);
  }
  return plane;
}

std::int64_t step_through(std::int64_t tokens) {
  std::int64_t step = kPlaceStep;
  while (std::gcd(step, tokens) != 1) ++step;
  return step;
}

}  // namespace

Result<ValueSource> ValueSource::of_capture(const std::filesystem::path& file,
                                            std::int64_t run_max) {
  const auto capture = read_capture(file);
  if (!capture) return capture.error();
  ValueSource source;
  source.words_ = fmt::format("capture {}{}{}, tiled", file.filename().string(),
                              capture->cache.view().facts.model.empty() ? "" : " of ",
                              capture->cache.view().facts.model);
  for (const auto& layer : capture->cache.view().layers) {
    const TensorView* const key = layer.find(TensorKind::kKey);
    const TensorView* const first = key != nullptr ? key : layer.find(TensorKind::kLatent);
    if (first == nullptr || first->shape.elements() == 0) continue;
    const TensorView* const second = key != nullptr ? layer.find(TensorKind::kValue) : first;
    source.keys_.push_back(captured_plane(*first, run_max));
    const bool has_values = second != nullptr && second->shape.elements() > 0;
    source.values_.push_back(has_values ? captured_plane(*second, run_max) : source.keys_.back());
  }
  if (source.keys_.empty())
    return error_in(file.string(), "holds no values", "give a capture with tokens");
  return source;
}

ValueSource ValueSource::made(std::uint64_t seed, std::int64_t run_max) {
  ValueSource source;
  source.words_ = fmt::format("made values (smooth and noise, seed {}), not a real cache", seed);
  for (std::int64_t layer = 0; layer < kMadeLayers; ++layer) {
    const auto index = static_cast<std::uint64_t>(layer);
    source.keys_.push_back(made_plane({seed, "made keys", index}, true, run_max));
    source.values_.push_back(made_plane({seed, "made values", index}, false, run_max));
  }
  return source;
}

Status ValueSource::fill(KvCache& cache, std::int64_t place, int threads) const {
  return for_each_index(cache.view().layers.size(), threads, [&](std::size_t layer) -> Status {
    for (const TensorKind kind : kTensorKinds) {
      if (cache.view().layers[layer].find(kind) == nullptr) continue;
      fill_tensor(cache.mutable_tensor(layer, kind), layer, kind, place);
    }
    return {};
  });
}

void ValueSource::fill_tensor(MutableTensorView tensor, std::size_t layer, TensorKind kind,
                              std::int64_t place) const {
  const auto& planes = kind == TensorKind::kValue ? values_ : keys_;
  const SourcePlane& plane = planes[layer % planes.size()];
  // Places that share a first token, after as many chunks as the source has tokens, and further
  // rounds through the source's layers differ by their first channel.
  const auto round = static_cast<std::int64_t>(layer / planes.size());
  const std::int64_t first_token = place % plane.tokens * step_through(plane.tokens);
  const std::int64_t shift = place / plane.tokens + round * kPlaceStep;
  const auto run_bytes = static_cast<std::size_t>(tensor.shape.dim) * sizeof(std::uint16_t);
  for (std::int64_t head = 0; head < tensor.shape.heads; ++head) {
    const std::int64_t channel = (head * tensor.shape.dim + shift) % plane.channels;
    for (std::int64_t token = 0; token < tensor.shape.tokens; ++token) {
      const std::int64_t from = (first_token + token) % plane.tokens * plane.row + channel;
      const std::int64_t to = head * tensor.strides.head + token * tensor.strides.token;
      std::memcpy(tensor.data + to * static_cast<std::int64_t>(sizeof(std::uint16_t)),
                  plane.values.data() + from, run_bytes);
    }
  }
}

}  // namespace sluice
