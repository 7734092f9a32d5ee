#include <fmt/format.h>

#include <deque>
#include <limits>
#include <nlohmann/json.hpp>

#include "codec/capture_format.h"
#include "codec/raw/kernel.h"

namespace sluice {
namespace {

using nlohmann::json;

std::string dtype_name(Dtype dtype) {
  return dtype == Dtype::kFp16 ? "F16" : dtype == Dtype::kBf16 ? "BF16" : "F32";
}

// The tensors of the file, in its order. Strided ones are packed into memory of this object.
class TensorList {
 public:
  void add(std::string name, const TensorView& view, bool is_latent = false) {
    const TensorShape& shape = view.shape;
    packed_.emplace_back(static_cast<std::size_t>(shape.size().bytes()));
    if (shape.elements() > 0) raw::pack(view, packed_.back());
    std::vector<std::int64_t> axes{shape.heads, shape.tokens, shape.dim};
    if (is_latent) axes.erase(axes.begin());
    tensors_.push_back({std::move(name), dtype_name(shape.dtype), std::move(axes), packed_.back()});
  }
  void add(std::string name, std::vector<std::int32_t> integers) {
    integers_.push_back(std::move(integers));
    tensors_.push_back({std::move(name),
                        "I32",
                        {std::ssize(integers_.back())},
                        std::as_bytes(std::span(integers_.back()))});
  }
  [[nodiscard]] std::span<const SafetensorsTensor> tensors() const { return tensors_; }

 private:
  std::deque<std::vector<std::byte>> packed_;
  std::deque<std::vector<std::int32_t>> integers_;
  std::vector<SafetensorsTensor> tensors_;
};

std::string first_tokens(const KvView& view) {
  json list = json::array();
  for (const auto& layer : view.layers) {
    while (std::cmp_less(list.size(), layer.layer)) list.push_back(nullptr);
    list.push_back(layer.first_token);
  }
  return list.dump();
}

// The facts of the first layer that has some, and under `layers` those of layers that differ (null:
// not known).
std::optional<std::string> rope_text(const KvView& view) {
  json common;
  for (const auto& layer : view.layers) {
    if (layer.rope != nullptr && common.is_null()) common = rope_to_json(*layer.rope);
  }
  if (common.is_null()) return std::nullopt;
  json differing = json::object();
  for (const auto& layer : view.layers) {
    const json own = layer.rope == nullptr ? json() : rope_to_json(*layer.rope);
    if (own != common) differing[std::to_string(layer.layer)] = own;
  }
  if (!differing.empty()) common["layers"] = differing;
  return common.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::map<std::string, std::string> metadata_of(const Capture& capture) {
  const KvView& view = capture.cache.view();
  std::map<std::string, std::string> metadata = capture.other_facts;
  metadata["format"] = "sluice-kv-1";
  metadata["first_token"] = first_tokens(view);
  if (!view.facts.model.empty()) metadata["model"] = view.facts.model;
  if (!view.facts.revision.empty()) metadata["revision"] = view.facts.revision;
  if (view.facts.keys != KeyForm::kUnknown) metadata["keys"] = to_text(view.facts.keys);
  if (const auto rope = rope_text(view)) metadata["rope"] = *rope;
  if (capture.query_first_token)
    metadata["query_first_token"] = std::to_string(*capture.query_first_token);
  return metadata;
}

}  // namespace

Status write_capture(const Capture& capture, const std::filesystem::path& path) {
  TensorList list;
  if (!capture.token_ids.empty()) list.add("token_ids", capture.token_ids);
  for (const auto& layer : capture.cache.view().layers) {
    const std::string name = fmt::format("layer.{}.", layer.layer);
    if (layer.key) list.add(name + "key", *layer.key);
    if (layer.value) list.add(name + "value", *layer.value);
    if (layer.latent) list.add(name + "latent", *layer.latent, true);
    if (!layer.positions) continue;
    if (layer.positions->back() > std::numeric_limits<std::int32_t>::max()) {
      return error_in(
          path.string(),
          fmt::format("layer {}: position {} passes 2^31", layer.layer, layer.positions->back()),
          "write captures of shorter contexts");
    }
    list.add(name + "positions", {layer.positions->begin(), layer.positions->end()});
  }
  for (const LayerQueries& queries : capture.queries) {
    list.add(fmt::format("layer.{}.query", queries.layer), queries.values);
  }
  return write_safetensors(path, metadata_of(capture), list.tensors());
}

}  // namespace sluice
