#include "codec/geometry/geometry.h"

#include <algorithm>
#include <stdexcept>

#include "base/assert.h"
#include "base/files.h"
#include "base/json_reader.h"

namespace sluice {
namespace {

constexpr DataSize kMaxFileSize = DataSize::bytes(1 << 20);
constexpr std::int64_t kMaxLayers = 4096;

void add_layers(const std::vector<JsonReader>& groups, int depth,
                std::vector<LayerGeometry>& layers);

LayerGeometry read_layer(JsonReader in) {
  LayerGeometry layer;
  layer.kv_heads = static_cast<std::int32_t>(in.integer("kv_heads", {1, 4096}));
  layer.head_dim = static_cast<std::int32_t>(in.integer("head_dim", {1, 65536}));
  if (in.has("tensors")) layer.tensors = static_cast<std::int32_t>(in.integer("tensors", {1, 2}));
  if (in.has("window_tokens"))
    layer.window_tokens = in.integer("window_tokens", {1, std::int64_t{1} << 40});
  return layer;
}

// One entry of a list of layers: a layer or a `pattern` of entries, either of them `repeat` times.
void add_group(JsonReader in, int depth, std::vector<LayerGeometry>& layers) {
  const std::int64_t repeat = in.has("repeat") ? in.integer("repeat", {1, kMaxLayers}) : 1;
  std::vector<LayerGeometry> once;
  if (in.has("pattern")) {
    if (depth == 0)
      return in.fail("pattern", "is nested too deeply", "keep patterns within one another to 3");
    add_layers(in.objects("pattern"), depth - 1, once);
  } else {
    once.push_back(read_layer(in));
  }
  const auto total =
      static_cast<std::int64_t>(layers.size()) + repeat * static_cast<std::int64_t>(once.size());
  if (total > kMaxLayers) return in.fail("", "makes more than 4096 layers", "lower `repeat`");
  for (std::int64_t i = 0; i < repeat; ++i) layers.insert(layers.end(), once.begin(), once.end());
}

void add_layers(const std::vector<JsonReader>& groups, int depth,
                std::vector<LayerGeometry>& layers) {
  for (const JsonReader& group : groups) add_group(group, depth, layers);
}

// How many of the tokens [begin, end) a layer holds when the context ends at `context_tokens`.
std::int64_t held_tokens(const LayerGeometry& layer, std::int64_t begin, std::int64_t end,
                         std::int64_t context_tokens) {
  const std::int64_t first =
      layer.window_tokens ? std::max<std::int64_t>(0, context_tokens - *layer.window_tokens) : 0;
  return std::max<std::int64_t>(0, end - std::max(begin, first));
}

std::filesystem::path models_folder(const std::filesystem::path& home) {
  return home / "codec" / "geometry" / "models";
}

}  // namespace

std::int64_t ModelGeometry::elements(std::int64_t begin, std::int64_t tokens,
                                     std::int64_t context_tokens) const {
  SLUICE_ASSERT(begin >= 0 && tokens >= 0 && context_tokens >= 0, "tokens are counted from zero");
  SLUICE_ASSERT(tokens <= context_tokens && begin <= context_tokens - tokens,
                "tokens beyond the context");
  detail::Wide sum = 0, of_layer = 0;
  const LayerGeometry* before = nullptr;
  for (const LayerGeometry& layer : layers) {
    if (before == nullptr || layer != *before) {
      const detail::Wide per_token = detail::Wide{layer.kv_heads} * layer.head_dim * layer.tensors;
      of_layer = per_token * held_tokens(layer, begin, begin + tokens, context_tokens);
      before = &layer;
    }
    sum += of_layer;
    if (sum > detail::kInt64Max) throw std::overflow_error("a context of more than 2^63 elements");
  }
  return static_cast<std::int64_t>(sum);
}

Result<ModelGeometry> read_geometry(const std::filesystem::path& file) {
  const auto text = read_file(file, kMaxFileSize);
  if (!text) return text.error();
  auto parsed = JsonReader::parse(*text, file.string());
  if (!parsed) return parsed.error();
  JsonReader& in = *parsed;
  in.expect_format("sluice-model-geometry-1");
  ModelGeometry model;
  model.id = file.stem().string();
  model.name = in.text("name");
  model.source = in.text("source");
  model.parameters = in.integer("parameters", {1, 100'000'000'000'000});
  model.attention_heads = static_cast<std::int32_t>(in.integer("attention_heads", {1, 65536}));
  model.hidden_size = static_cast<std::int32_t>(in.integer("hidden_size", {1, 1 << 20}));
  add_layers(in.objects("layers"), 3, model.layers);
  if (const Status status = in.finish(); !status) return status.error();
  return model;
}

Result<ModelGeometry> find_geometry(const std::string& id) {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto file = find_json_file(models_folder(*home), id, "model");
  if (!file) return file.error();
  return read_geometry(*file);
}

Result<std::vector<ModelGeometry>> all_geometries() {
  const auto home = sluice_home();
  if (!home) return home.error();
  const auto ids = list_json_ids(models_folder(*home));
  if (!ids) return ids.error();
  std::vector<ModelGeometry> models;
  for (const std::string& id : *ids) {
    auto model = read_geometry(models_folder(*home) / (id + ".json"));
    if (!model) return model.error();
    models.push_back(*std::move(model));
  }
  return models;
}

}  // namespace sluice
