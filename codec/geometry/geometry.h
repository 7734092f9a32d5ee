// The shape of a model's KV cache, per layer, as data: how many elements and bytes a context has.
// Where in the flow: under codecs, profiles and scenarios. Files: codec/geometry/models/*.json.
// Surprise: layers may differ (sliding windows hold fewer tokens; head counts and head sizes vary;
// a latent layer is one tensor).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

struct LayerGeometry {
  std::int32_t kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t tensors = 2;                   // key and value; 1 for a latent (MLA) layer
  std::optional<std::int64_t> window_tokens;  // holds at most this many tokens
  bool operator==(const LayerGeometry&) const = default;
};

struct ModelGeometry {
  std::string id;               // "mistral-7b"
  std::string name;             // "Mistral-7B-v0.2"
  std::string source;           // where the numbers stand (model card, config file)
  std::int64_t parameters = 0;  // for prefill cost
  std::int32_t attention_heads = 0;
  std::int32_t hidden_size = 0;
  std::vector<LayerGeometry> layers;

  // Scalars of K and V for tokens [begin, begin + tokens) of a context of `context_tokens`: a
  // window layer holds only the last `window_tokens` of the whole context.
  [[nodiscard]] std::int64_t elements(std::int64_t begin, std::int64_t tokens,
                                      std::int64_t context_tokens) const;
  [[nodiscard]] std::int64_t elements(std::int64_t tokens) const {
    return elements(0, tokens, tokens);
  }
};

[[nodiscard]] Result<ModelGeometry> read_geometry(const std::filesystem::path& file);
// By id, from the shipped models; the error names the nearest known one.
[[nodiscard]] Result<ModelGeometry> find_geometry(const std::string& id);
[[nodiscard]] Result<std::vector<ModelGeometry>> all_geometries();

}  // namespace sluice
