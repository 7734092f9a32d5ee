#include "codec/kv_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace sluice {
namespace {

// a * b, or nothing when it passes int64. Both are >= 0.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) return std::nullopt;
  return a * b;
}

// Tensors begin at a cache line, so that decoders may write whole lines.
constexpr std::size_t kLineBytes = 64;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// `bytes` zeros that start at a line, kept alive by the pointer.
std::shared_ptr<std::byte> zeroed_lines(std::size_t bytes) {
  const auto block = std::make_shared<std::vector<std::byte>>(bytes + kLineBytes);
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(block->data()) % kLineBytes;
  return {block, block->data() + (kLineBytes - past_line)};
}

Status check_tensor(const TensorShape& shape, const std::string& name) {
  if (shape.heads < 0 || shape.tokens < 0 || shape.dim < 0) {
    return error_in("", name + ": a negative count in its shape", "use counts of 0 or more");
  }
  const auto channels = product(shape.heads, shape.dim);
  const auto elements = channels ? product(*channels, shape.tokens) : std::nullopt;
  if (!elements || !product(*elements, bytes_per_element(shape.dtype))) {
    return error_in("", name + ": its shape passes 2^63 bytes", "use a smaller shape");
  }
  return {};
}

Status check_layer(const KvLayer<TensorShape>& layer) {
  const std::string name = fmt::format("layer {}", layer.layer);
  const bool is_pair = layer.key && layer.value && !layer.latent;
  const bool is_latent = layer.latent && !layer.key && !layer.value;
  if (!is_pair && !is_latent) {
    return error_in("", name + ": needs a key and a value, or a latent alone",
                    "give the missing one");
  }
  if (is_pair && layer.key->tokens != layer.value->tokens) {
    return error_in("",
                    fmt::format("{}: {} tokens of keys but {} of values", name, layer.key->tokens,
                                layer.value->tokens),
                    "store as many keys as values");
  }
  if (is_latent && layer.latent->heads != 1)
    return error_in("", name + ": a latent has one head", "use shape [token, dim]");
  std::int64_t tokens = 0;
  for (const TensorKind kind : kTensorKinds) {
    const TensorShape* shape = layer.find(kind);
    if (shape == nullptr) continue;
    if (Status status = check_tensor(*shape, fmt::format("{} {}", name, to_text(kind))); !status)
      return status;
    tokens = shape->tokens;
  }
  if (layer.first_token < 0 ||
      layer.first_token > std::numeric_limits<std::int64_t>::max() - tokens) {
    return error_in("", fmt::format("{}: first token {} is out of range", name, layer.first_token),
                    "use a position >= 0");
  }
  return {};
}

template <typename Tensor>
KvLayer<Tensor> without_tensors(const auto& layer) {
  KvLayer<Tensor> copy;
  copy.layer = layer.layer;
  copy.first_token = layer.first_token;
  copy.rope = layer.rope;
  return copy;
}

template <typename Tensor>
std::optional<Tensor>& slot(KvLayer<Tensor>& layer, TensorKind kind) {
  return kind == TensorKind::kKey     ? layer.key
         : kind == TensorKind::kValue ? layer.value
                                      : layer.latent;
}

std::int64_t tokens_of(const KvLayer<TensorShape>& layer) {
  return layer.key ? layer.key->tokens : layer.latent ? layer.latent->tokens : 0;
}

}  // namespace

std::string_view to_text(TensorKind kind) {
  return kind == TensorKind::kKey ? "key" : kind == TensorKind::kValue ? "value" : "latent";
}

std::string_view to_text(KeyForm form) {
  return form == KeyForm::kPostRope  ? "post-rope"
         : form == KeyForm::kPreRope ? "pre-rope"
                                     : "unknown";
}

KvShape shape_of(const KvView& view) {
  KvShape shape{.facts = view.facts, .layers = {}};
  for (const auto& layer : view.layers) {
    auto copy = without_tensors<TensorShape>(layer);
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorView* tensor = layer.find(kind)) slot(copy, kind) = tensor->shape;
    }
    shape.layers.push_back(std::move(copy));
  }
  return shape;
}

std::int64_t num_elements(const KvShape& shape) {
  std::int64_t elements = 0;
  for (const auto& layer : shape.layers) {
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorShape* tensor = layer.find(kind)) elements += tensor->elements();
    }
  }
  return elements;
}

TokenRange token_range(const KvShape& shape) {
  std::optional<TokenRange> range;
  for (const auto& layer : shape.layers) {
    if (tokens_of(layer) == 0) continue;
    const TokenRange held{layer.first_token, layer.first_token + tokens_of(layer)};
    if (!range) range = held;
    range = TokenRange{std::min(range->begin, held.begin), std::max(range->end, held.end)};
  }
  return range.value_or(TokenRange{});
}

std::int64_t num_model_layers(const KvShape& shape) {
  return shape.layers.empty() ? 0 : shape.layers.back().layer + 1;
}

KvView slice_tokens(const KvView& view, TokenRange range) {
  KvView part{.facts = view.facts, .layers = {}};
  for (const auto& layer : view.layers) {
    auto copy = without_tensors<TensorView>(layer);
    for (const TensorKind kind : kTensorKinds) {
      const TensorView* tensor = layer.find(kind);
      if (tensor == nullptr) continue;
      const std::int64_t held_end = layer.first_token + tensor->shape.tokens;
      const std::int64_t begin = std::clamp(range.begin, layer.first_token, held_end);
      const std::int64_t end = std::clamp(range.end, begin, held_end);
      copy.first_token = begin;
      slot(copy, kind) = tensor->slice(begin - layer.first_token, end - begin);
    }
    part.layers.push_back(std::move(copy));
  }
  return part;
}

Status check_shape(const KvShape& shape) {
  std::int64_t last = -1;
  std::int64_t bytes = 0;
  for (const auto& layer : shape.layers) {
    if (layer.layer <= last || layer.layer > kLayerMax) {
      return error_in("", fmt::format("layer {} after layer {}", layer.layer, last),
                      fmt::format("number layers increasing, 0 to {}", kLayerMax));
    }
    last = layer.layer;
    if (Status status = check_layer(layer); !status) return status;
    for (const TensorKind kind : kTensorKinds) {
      const TensorShape* tensor = layer.find(kind);
      if (tensor == nullptr) continue;
      if (tensor->size().bytes() > std::numeric_limits<std::int64_t>::max() - bytes) {
        return error_in("", "the layers together pass 2^63 bytes", "use a smaller cache");
      }
      bytes += tensor->size().bytes();
    }
  }
  return {};
}

KvCache KvCache::allocate(const KvShape& shape) {
  SLUICE_ASSERT(check_shape(shape).ok(), "allocate: the shape was not checked");
  std::size_t bytes = 0;
  KvView view{.facts = shape.facts, .layers = {}};
  std::vector<std::pair<TensorView*, std::size_t>> offsets;
  for (const auto& layer : shape.layers) view.layers.push_back(without_tensors<TensorView>(layer));
  for (std::size_t i = 0; i < shape.layers.size(); ++i) {
    for (const TensorKind kind : kTensorKinds) {
      const TensorShape* tensor = shape.layers[i].find(kind);
      if (tensor == nullptr) continue;
      auto& made = slot(view.layers[i], kind);
      made = TensorView{.shape = *tensor, .data = nullptr, .strides = head_major(*tensor)};
      offsets.emplace_back(&*made, bytes);
      bytes = whole_lines(bytes + static_cast<std::size_t>(tensor->size().bytes()));
    }
  }
  // One block of zeros for all tensors, [layer, key|value|latent, head, token, dim].
  const std::shared_ptr<std::byte> memory = zeroed_lines(bytes);
  for (const auto& [tensor, offset] : offsets) tensor->data = memory.get() + offset;
  KvCache cache(memory, std::move(view));
  cache.writable_ = memory.get();
  return cache;
}

KvCache::KvCache(std::shared_ptr<const void> memory, KvView view)
    : memory_(std::move(memory)), view_(std::move(view)) {}

MutableTensorView KvCache::mutable_tensor(std::size_t layer_index, TensorKind kind) {
  SLUICE_ASSERT(view_.layers.empty() || writable_ != nullptr || num_elements(shape_of(view_)) == 0,
                "mutable_tensor: the cache is a view of a file");
  const TensorView* tensor = view_.layers.at(layer_index).find(kind);
  SLUICE_ASSERT(tensor != nullptr, "mutable_tensor: the layer has no such tensor");
  const std::ptrdiff_t offset = writable_ == nullptr ? 0 : tensor->data - writable_;
  return {.shape = tensor->shape,
          .data = writable_ == nullptr ? nullptr : writable_ + offset,
          .strides = tensor->strides};
}

}  // namespace sluice
