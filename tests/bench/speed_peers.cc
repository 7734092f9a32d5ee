#include "tests/bench/speed_peers.h"

#include <zstd.h>

#include <algorithm>

#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/container/parallel.h"
#include "codec/registry.h"
#include "codec/row_convert.h"

namespace sluice::bench {
namespace {

SymbolPlane quantised(const TensorView& values, std::int32_t max_symbol) {
  const auto channels = static_cast<std::size_t>(values.shape.channels());
  SymbolPlane plane{
      .symbols = {}, .num_channels = values.shape.channels(), .num_symbols = 2 * max_symbol + 1};
  std::vector<float> row(channels);
  std::vector<std::int16_t> symbols(channels);
  for (std::int64_t token = 0; token < values.shape.tokens; ++token) {
    values.read_token(token, row);
    make_codable(row, best_backend());
    (void)cachegen_released::quantise_token(row, max_symbol, symbols);
    for (const std::int16_t symbol : symbols)
      plane.symbols.push_back(static_cast<std::uint8_t>(symbol + max_symbol));
  }
  return plane;
}

// What the two peers share: planes, their encoded and decoded forms, and threads.
class PlanePeer : public Peer {
 public:
  explicit PlanePeer(std::span<const SymbolPlane> planes)
      : planes_(planes), encoded_(planes.size()) {
    for (const SymbolPlane& plane : planes) decoded_.emplace_back(plane.symbols.size());
  }
  [[nodiscard]] Status encode(int cores) final {
    return for_each_index(planes_.size(), cores,
                          [&](std::size_t i) { return encode_plane(i, encoded_[i]); });
  }
  [[nodiscard]] Status decode(int cores) final {
    return for_each_index(planes_.size(), cores,
                          [&](std::size_t i) { return decode_plane(i, encoded_[i], decoded_[i]); });
  }
  [[nodiscard]] Status check() const final {
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      if (decoded_[i] != planes_[i].symbols)
        return error_in("", name() + " did not give its symbols back", "report this as a bug");
    }
    return {};
  }
  [[nodiscard]] std::int64_t num_symbols() const final { return total(decoded_); }
  [[nodiscard]] std::int64_t num_bytes() const final { return total(encoded_); }

 protected:
  [[nodiscard]] const SymbolPlane& plane(std::size_t i) const { return planes_[i]; }
  [[nodiscard]] virtual Status encode_plane(std::size_t i, std::vector<std::byte>& bytes) = 0;
  [[nodiscard]] virtual Status decode_plane(std::size_t i, std::span<const std::byte> bytes,
                                            std::span<std::uint8_t> symbols) = 0;

 private:
  template <typename Parts>
  static std::int64_t total(const Parts& parts) {
    std::size_t size = 0;
    for (const auto& part : parts) size += part.size();
    return static_cast<std::int64_t>(size);
  }
  std::span<const SymbolPlane> planes_;
  std::vector<std::vector<std::byte>> encoded_;
  std::vector<std::vector<std::uint8_t>> decoded_;
};

class Zstd final : public PlanePeer {
 public:
  Zstd(std::span<const SymbolPlane> planes, int level) : PlanePeer(planes), level_(level) {}
  [[nodiscard]] std::string name() const final { return "zstd-" + std::to_string(level_); }

 protected:
  [[nodiscard]] Status encode_plane(std::size_t i, std::vector<std::byte>& bytes) final {
    const auto& symbols = plane(i).symbols;
    bytes.resize(ZSTD_compressBound(symbols.size()));
    const std::size_t size =
        ZSTD_compress(bytes.data(), bytes.size(), symbols.data(), symbols.size(), level_);
    if (ZSTD_isError(size) != 0) return failure(size);
    bytes.resize(size);
    return {};
  }
  [[nodiscard]] Status decode_plane(std::size_t, std::span<const std::byte> bytes,
                                    std::span<std::uint8_t> symbols) final {
    const std::size_t size =
        ZSTD_decompress(symbols.data(), symbols.size(), bytes.data(), bytes.size());
    return ZSTD_isError(size) != 0 ? failure(size) : Status{};
  }

 private:
  static Status failure(std::size_t code) {
    return error_in("", std::string("zstd: ") + ZSTD_getErrorName(code), "report this as a bug");
  }
  int level_;
};

class Arithmetic final : public PlanePeer {
 public:
  explicit Arithmetic(std::span<const SymbolPlane> planes) : PlanePeer(planes) {
    for (const SymbolPlane& p : planes)
      frequencies_.push_back(count_frequencies(p.symbols, p.num_channels, p.num_symbols));
  }
  [[nodiscard]] std::string name() const final { return "arithmetic"; }

 protected:
  [[nodiscard]] Status encode_plane(std::size_t i, std::vector<std::byte>& bytes) final {
    bytes = arithmetic_encode(plane(i).symbols, frequencies_[i]);
    return {};
  }
  [[nodiscard]] Status decode_plane(std::size_t i, std::span<const std::byte> bytes,
                                    std::span<std::uint8_t> symbols) final {
    arithmetic_decode(bytes, frequencies_[i], symbols);
    return {};
  }

 private:
  std::vector<ColumnFrequencies> frequencies_;
};

}  // namespace

std::vector<SymbolPlane> symbols_of(const KvCache& cache, std::int64_t num_model_layers) {
  const CodecLevel level = *find_codec_level("cachegen-released@2");
  std::vector<SymbolPlane> planes;
  for (const auto& layer : cache.view().layers) {
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* values = layer.find(kind);
      if (values == nullptr || values->shape.elements() == 0) continue;
      const SectionContext context{
          .level = level.level, .kind = kind, .num_model_layers = num_model_layers};
      planes.push_back(quantised(*values, cachegen_released::max_symbol(context, layer.layer)));
    }
  }
  return planes;
}

std::unique_ptr<Peer> zstd_peer(std::span<const SymbolPlane> planes, int level) {
  return std::make_unique<Zstd>(planes, level);
}

std::unique_ptr<Peer> arithmetic_peer(std::span<const SymbolPlane> planes) {
  return std::make_unique<Arithmetic>(planes);
}

}  // namespace sluice::bench
