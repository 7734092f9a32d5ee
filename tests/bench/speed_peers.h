// Library coders on the symbols of cachegen-released level 2: what a receiver would decode without
// a coder of its own.
// Where in the flow: `codec bench` times them next to the codecs, on the same machine in one run.
// Surprise: they stop at symbols. Scaling and writing fp16, which codecs' times hold, is not in
// theirs, nor is quantising.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "codec/kv_cache.h"
#include "tests/bench/arithmetic_coder.h"

namespace sluice::bench {

// One tensor's symbols, [token, channel], shifted to start at 0.
struct SymbolPlane {
  std::vector<std::uint8_t> symbols;
  std::int64_t num_channels = 0;
  int num_symbols = 0;  // 31 or 15
};
[[nodiscard]] std::vector<SymbolPlane> symbols_of(const KvCache& cache,
                                                  std::int64_t num_model_layers);

// A coder over planes; each plane is one piece of work.
class Peer {
 public:
  virtual ~Peer() = default;
  [[nodiscard]] virtual std::string name() const = 0;  // "zstd-1"
  [[nodiscard]] virtual Status encode(int cores) = 0;
  [[nodiscard]] virtual Status decode(int cores) = 0;  // of the last encode()
  // That the last decode() gave the planes back.
  [[nodiscard]] virtual Status check() const = 0;
  [[nodiscard]] virtual std::int64_t num_symbols() const = 0;
  [[nodiscard]] virtual std::int64_t num_bytes() const = 0;  // encoded
};

// zstd at a level, symbols as bytes. `planes` outlives it.
[[nodiscard]] std::unique_ptr<Peer> zstd_peer(std::span<const SymbolPlane> planes, int level);
// The static arithmetic coder with a distribution per channel, which costs it neither time nor
// bytes here.
[[nodiscard]] std::unique_ptr<Peer> arithmetic_peer(std::span<const SymbolPlane> planes);

}  // namespace sluice::bench
