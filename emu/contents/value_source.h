// Values to fill a KV cache of any geometry with: real ones of a capture, or made ones.
// Where in the flow: under make_contents.cc. Private to emu/contents.
// Surprise: a source is small (some MB) and repeats along layers, channels and tokens; statistics
// per channel, which codecs live on, stay those of the source.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"

namespace sluice {

// fp16 values [token][channel] of one tensor; each row is followed by a copy of its beginning, so
// that a run of `run_max` channels may begin anywhere.
struct SourcePlane {
  std::int64_t tokens = 0, channels = 0, row = 0;
  std::vector<std::uint16_t> values;
};

class ValueSource {
 public:
  // `run_max`: the longest head of the caches to be filled.
  [[nodiscard]] static Result<ValueSource> of_capture(const std::filesystem::path& file,
                                                      std::int64_t run_max);
  // Smooth along tokens, with an offset per channel and noise: not a real cache.
  [[nodiscard]] static ValueSource made(std::uint64_t seed, std::int64_t run_max);

  [[nodiscard]] const std::string& words() const { return words_; }
  // Every tensor of `cache` (fp16, from KvCache::allocate). Another `place`, other values, on
  // `threads` threads.
  [[nodiscard]] Status fill(KvCache& cache, std::int64_t place, int threads) const;

 private:
  void fill_tensor(MutableTensorView tensor, std::size_t layer, TensorKind kind,
                   std::int64_t place) const;

  std::string words_;
  std::vector<SourcePlane> keys_, values_;  // by layer; a latent counts as both
};

}  // namespace sluice
