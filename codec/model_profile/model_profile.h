// A model profile: what both sides of a transfer know of a model's caches before they see one.
// Means of channels, and per layer a basis in which equal errors do equal damage.
// Where in the flow: `codec calibrate` makes it from a model and texts (README.md), the container
// names it by its hash, codecs find it in SectionContext::model_profile.
// Surprise: only the synthesis side is stored, in whole numbers, so that decoders agree to the bit;
// encoders invert it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice {

// Which channels of a layer share a basis.
enum class BasisBlock : std::uint8_t {
  kDiagonal,  // none: a scale per channel
  kHead,      // those of one head, keys and values apart
  kLayer,     // all keys and values of the layer together
};
[[nodiscard]] std::string_view to_text(BasisBlock block);  // "diag", "head", "layerkv"

// One layer. Channels: keys [head, dim], then values [head, dim]; keys before RoPE.
struct LayerProfile {
  std::int64_t layer = 0;
  std::int64_t key_heads = 0, key_dim = 0, value_heads = 0, value_dim = 0;
  std::vector<float> means;          // [channel]
  std::vector<float> scales;         // [channel], finite and > 0
  std::vector<std::int8_t> basis;    // all blocks, one after another: [coefficient, channel of the
                                     // block]; empty with kDiagonal
  std::vector<std::int64_t> widths;  // of the blocks, in the order of their channels

  [[nodiscard]] std::int64_t key_channels() const { return key_heads * key_dim; }
  [[nodiscard]] std::int64_t channels() const { return key_channels() + value_heads * value_dim; }
};

// A cache's channel c of a token is means[c] + scales[c] * sum over j of y[j] basis[j, c], with y
// in units in which a step of 1 costs about 2 bits per element; with kDiagonal means[c] + scales[c]
// * y[c].
struct ModelProfile {
  std::string name;             // of the file, without ".safetensors"
  std::string model, revision;  // as captures say it
  BasisBlock block = BasisBlock::kDiagonal;
  std::array<std::byte, 32> sha256{};  // of the file's bytes
  std::vector<LayerProfile> layers;    // in increasing order of their numbers

  // Null: the profile does not know the layer.
  [[nodiscard]] const LayerProfile* find(std::int64_t layer) const;
  // The inverses of a layer's basis blocks, [channel of the block, coefficient], fp32, for
  // encoders: y = (x - mean) / scale * inverse. `layer_index` counts `layers`. Made at the first
  // call; any thread may ask.
  [[nodiscard]] std::span<const float> inverse(std::size_t layer_index) const;

  struct Inverses;                     // filled as they are asked for
  std::shared_ptr<Inverses> inverses;  // set by with_inverses()
};

// Ready for encoders.
[[nodiscard]] std::shared_ptr<const ModelProfile> with_inverses(ModelProfile profile);

// Any file: shapes and finite numbers are checked. A basis without an inverse decodes, and encodes
// nothing (inverse.h).
[[nodiscard]] Result<std::shared_ptr<const ModelProfile>> read_model_profile(
    const std::filesystem::path& file);
// From the shipped ones (codec/model_profiles/), by name; the error names the nearest known one.
[[nodiscard]] Result<std::shared_ptr<const ModelProfile>> find_model_profile(std::string_view name);
// The shipped one with that hash, or null. Reads each shipped file once.
[[nodiscard]] std::shared_ptr<const ModelProfile> shipped_model_profile(
    const std::array<std::byte, 32>& sha256);
// The names of the shipped ones, sorted.
[[nodiscard]] std::vector<std::string> model_profile_names();

}  // namespace sluice
