#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "codec/capture_format.h"
#include "codec/strict_json.h"

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "sluice-kv-1";

// "layer.12.key" in parts.
struct TensorName {
  std::int64_t layer = 0;
  std::string_view part;
};

std::optional<TensorName> parse_name(std::string_view name) {
  constexpr std::string_view kPrefix = "layer.";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0 || (name[0] == '0' && dot != 1))
    return std::nullopt;
  TensorName parsed{.layer = 0, .part = name.substr(dot + 1)};
  const auto [end, error] = std::from_chars(name.data(), name.data() + dot, parsed.layer);
  if (error != std::errc() || end != name.data() + dot || name[0] == '-' ||
      parsed.layer > kLayerMax)
    return std::nullopt;
  return parsed;
}

std::optional<Dtype> dtype_of(std::string_view name) {
  if (name == "F16") return Dtype::kFp16;
  if (name == "BF16") return Dtype::kBf16;
  if (name == "F32") return Dtype::kFp32;
  return std::nullopt;
}

// Builds a Capture from one file; errors name the file and the entry.
class CaptureReader {
 public:
  explicit CaptureReader(const SafetensorsFile& file) : file_(file) {}

  Result<Capture> read() {
    for (const auto step : {&CaptureReader::read_format, &CaptureReader::read_tensors,
                            &CaptureReader::read_first_tokens, &CaptureReader::read_positions,
                            &CaptureReader::read_rope, &CaptureReader::read_queries_position,
                            &CaptureReader::read_facts, &CaptureReader::check}) {
      if (Status status = (this->*step)(); !status) return status.error();
    }
    return Capture{.cache = KvCache(file_.bytes, std::move(view_)),
                   .token_ids = std::move(token_ids_),
                   .queries = std::move(queries_),
                   .query_first_token = query_first_token_,
                   .other_facts = std::move(other_facts_),
                   .notes = std::move(notes_)};
  }

 private:
  Error wrong(const std::string& what, const std::string& fix) const {
    return error_in(file_.name, what, fix);
  }
  void note(const std::string& text) {
    notes_.push_back(fmt::format("note: {}: {}", file_.name, text));
  }

  const std::string* fact(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? nullptr : &found->second;
  }

  Status read_format() {
    const std::string* format = fact("format");
    if (format == nullptr) {
      note("no `format` in the metadata: read as sluice-kv-1");
    } else if (*format != kFormat) {
      return wrong(fmt::format("format `{}` is not {}", *format, kFormat),
                   "capture it again with `./sluice codec capture`");
    }
    return {};
  }

  Status read_tensors() {
    std::map<std::int64_t, KvLayer<TensorView>> layers;
    std::map<std::int64_t, TensorView> queries;
    for (const SafetensorsTensor& tensor : file_.tensors) {
      if (tensor.name == "token_ids") {
        auto ids = integers_of(tensor);
        if (!ids) return ids.error();
        token_ids_ = *std::move(ids);
        continue;
      }
      const auto name = parse_name(tensor.name);
      if (name && name->part == "positions") {
        const auto positions = integers_of(tensor);
        if (!positions) return positions.error();
        positions_[name->layer].assign(positions->begin(), positions->end());
        continue;
      }
      if (!name || (name->part != "key" && name->part != "value" && name->part != "latent" &&
                    name->part != "query")) {
        note(fmt::format("tensor `{}` is not of the format and is left out", tensor.name));
        continue;
      }
      const auto view = view_of(tensor, name->part == "latent" ? 2 : 3);
      if (!view) return view.error();
      auto& layer = layers[name->layer];
      layer.layer = name->layer;
      if (name->part == "key") layer.key = *view;
      if (name->part == "value") layer.value = *view;
      if (name->part == "latent") layer.latent = *view;
      if (name->part == "query") queries[name->layer] = *view;
    }
    if (layers.empty())
      return wrong("holds no tensor `layer.0.key`",
                   "capture a KV cache with `./sluice codec capture`");
    for (auto& [number, layer] : layers) view_.layers.push_back(std::move(layer));
    for (const auto& [number, values] : queries)
      queries_.push_back({.layer = number, .values = values});
    return {};
  }

  Result<TensorView> view_of(const SafetensorsTensor& tensor, std::size_t num_axes) const {
    const auto dtype = dtype_of(tensor.dtype);
    if (!dtype) {
      return wrong(fmt::format("tensor `{}` has dtype {}", tensor.name, tensor.dtype),
                   "store it as F16, BF16 or F32");
    }
    if (tensor.shape.size() != num_axes) {
      return wrong(fmt::format("tensor `{}` has {} axes", tensor.name, tensor.shape.size()),
                   num_axes == 2 ? "use [token, dim]" : "use [kv_head, token, dim]");
    }
    const std::int64_t heads = num_axes == 2 ? 1 : tensor.shape[0];
    const TensorShape shape{.dtype = *dtype,
                            .heads = heads,
                            .tokens = tensor.shape[num_axes - 2],
                            .dim = tensor.shape[num_axes - 1]};
    return TensorView{.shape = shape, .data = tensor.data.data(), .strides = head_major(shape)};
  }

  Result<std::vector<std::int32_t>> integers_of(const SafetensorsTensor& tensor) const {
    if (tensor.dtype != "I32" || tensor.shape.size() != 1) {
      return wrong(fmt::format("tensor `{}` is not I32 [token]", tensor.name),
                   "store it as I32 with one axis");
    }
    std::vector<std::int32_t> integers(static_cast<std::size_t>(tensor.shape[0]));
    if (!integers.empty()) std::memcpy(integers.data(), tensor.data.data(), tensor.data.size());
    return integers;
  }

  // Behind read_first_tokens().
  Status read_positions() {
    for (auto& layer : view_.layers) {
      auto found = positions_.extract(layer.layer);
      if (found.empty()) continue;
      Positions& positions = found.mapped();
      const bool begins = positions.empty() || positions.front() == layer.first_token ||
                          fact("first_token") == nullptr;
      if (!begins || std::ssize(positions) != layer.tokens()) {
        return wrong(fmt::format("tensor `layer.{}.positions` does not fit the layer's {} tokens "
                                 "from position {} on",
                                 layer.layer, layer.tokens(), layer.first_token),
                     "give one position per token, the first as in `first_token`");
      }
      const bool increases = std::adjacent_find(positions.begin(), positions.end(),
                                                std::greater_equal<>()) == positions.end();
      if (!increases) {
        return wrong(fmt::format("tensor `layer.{}.positions` does not increase", layer.layer),
                     "give each token's position in the context, in order");
      }
      if (!positions.empty()) layer.first_token = positions.front();
      layer.positions = if_gapped(std::move(positions));
    }
    if (positions_.empty()) return {};
    return wrong(
        fmt::format("tensor `layer.{}.positions` is of no layer", positions_.begin()->first),
        "store the layer's key and value, or its latent");
  }

  Status read_first_tokens() {
    const std::string* text = fact("first_token");
    if (text == nullptr) {
      if (std::all_of(view_.layers.begin(), view_.layers.end(),
                      [&](const auto& layer) { return positions_.contains(layer.layer); }))
        return {};
      note("no `first_token`: every layer is taken to start at token 0");
      return {};
    }
    const auto list = parse_strict_json(*text);
    if (!list || !list->is_array())
      return wrong("metadata `first_token` is not a JSON list", "list one position per layer");
    for (auto& layer : view_.layers) {
      const auto index = static_cast<std::size_t>(layer.layer);
      if (index >= list->size() || !(*list)[index].is_number_unsigned()) {
        return wrong(
            fmt::format("metadata `first_token` has no position for layer {}", layer.layer),
            "list one position per layer, null for layers that are not stored");
      }
      const auto position = (*list)[index].get<std::uint64_t>();
      layer.first_token = position > INT64_MAX
                              ? -1
                              : static_cast<std::int64_t>(position);  // check_shape refuses -1
    }
    return {};
  }

  Status read_rope() {
    const std::string* text = fact("rope");
    if (text == nullptr) {
      note("no `rope`: keys are coded as they are");
      return {};
    }
    const auto rope = parse_strict_json(*text);
    if (!rope) return wrong("metadata `rope`: " + rope.error().what, rope.error().fix);
    const auto common = rope_from_json(*rope);
    if (!common) return wrong("metadata " + common.error().what, common.error().fix);
    const auto shared = std::make_shared<const RopeFacts>(*common);
    for (auto& layer : view_.layers) {
      layer.rope = shared;
      const auto layers = rope->find("layers");
      if (layers == rope->end()) continue;
      if (!layers->is_object())
        return wrong("metadata `rope`: `layers` is not an object", "key it by layer number");
      const auto own = layers->find(std::to_string(layer.layer));
      if (own == layers->end()) continue;
      layer.rope = nullptr;
      if (own->is_null()) continue;  // not known for this layer
      const auto facts = rope_from_json(*own);
      if (!facts)
        return wrong(fmt::format("metadata layer {} {}", layer.layer, facts.error().what),
                     facts.error().fix);
      layer.rope = std::make_shared<const RopeFacts>(*facts);
    }
    return {};
  }

  Status read_queries_position() {
    const std::string* text = fact("query_first_token");
    if (queries_.empty()) {
      note("no `layer.{i}.query`: attention-output error cannot be measured");
      return {};
    }
    if (text == nullptr) {
      note(
          "no `query_first_token`: the queries cannot be placed, attention-output error cannot be "
          "measured");
      queries_.clear();
      return {};
    }
    std::int64_t position = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), position);
    if (error != std::errc() || end != text->data() + text->size() || position < 0) {
      return wrong(fmt::format("metadata `query_first_token` is `{}`", *text),
                   "give a position of 0 or more");
    }
    query_first_token_ = position;
    return {};
  }

  Status read_facts() {
    if (const std::string* model = fact("model")) view_.facts.model = *model;
    if (const std::string* revision = fact("revision")) view_.facts.revision = *revision;
    const std::string* keys = fact("keys");
    if (keys == nullptr) {
      note("no `keys`: not known whether keys are rotated, they are coded as they are");
    } else if (*keys == to_text(KeyForm::kPostRope)) {
      view_.facts.keys = KeyForm::kPostRope;
    } else if (*keys == to_text(KeyForm::kPreRope)) {
      view_.facts.keys = KeyForm::kPreRope;
    } else {
      return wrong(fmt::format("metadata `keys` is `{}`", *keys), "use post-rope or pre-rope");
    }
    static constexpr std::string_view kOwn[] = {"format", "model",       "revision",         "keys",
                                                "rope",   "first_token", "query_first_token"};
    for (const auto& [key, value] : file_.metadata) {
      if (std::find(std::begin(kOwn), std::end(kOwn), key) == std::end(kOwn))
        other_facts_[key] = value;
    }
    return {};
  }

  Status check() {
    if (Status status = check_shape(shape_of(view_)); !status)
      return wrong(status.error().what, status.error().fix);
    for (const LayerQueries& queries : queries_) {
      const auto layer =
          std::find_if(view_.layers.begin(), view_.layers.end(),
                       [&](const auto& candidate) { return candidate.layer == queries.layer; });
      if (layer == view_.layers.end() || !layer->key)
        continue;  // a latent's queries follow another formula
      const TensorShape& key = layer->key->shape;
      const TensorShape& query = queries.values.shape;
      if (query.dim != key.dim || key.heads == 0 || query.heads % key.heads != 0) {
        return wrong(
            fmt::format("tensor `layer.{}.query` [{}, {}, {}] does not fit keys of {} heads of {}",
                        queries.layer, query.heads, query.tokens, query.dim, key.heads, key.dim),
            "use the key's dim and a multiple of its heads");
      }
    }
    return {};
  }

  const SafetensorsFile& file_;
  KvView view_;
  std::map<std::int64_t, Positions> positions_;  // by layer, until read_positions() has used them
  std::vector<std::int32_t> token_ids_;
  std::vector<LayerQueries> queries_;
  std::optional<std::int64_t> query_first_token_;
  std::map<std::string, std::string> other_facts_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<Capture> capture_of(const SafetensorsFile& file) {
  return CaptureReader(file).read();
}

Result<Capture> read_capture(const std::filesystem::path& path) {
  const auto file = read_safetensors(path);
  if (!file) return file.error();
  return capture_of(*file);
}

}  // namespace sluice
