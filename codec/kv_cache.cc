#include "codec/kv_cache.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

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
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

constexpr std::int64_t kPositionEnd = std::numeric_limits<std::int64_t>::max();

// Of increasing positions; of others anything.
bool has_gap(const Positions& positions) {
  return !positions.empty() && static_cast<std::uint64_t>(positions.back()) -
                                       static_cast<std::uint64_t>(positions.front()) >=
                                   positions.size();
}

// `bytes` zeros that start at a line, kept alive by the pointer. Large ones lie on huge pages where
// the system has them: decoders write every line once, and small pages cost a look-up each.
std::shared_ptr<std::byte> zeroed_lines(std::size_t bytes) {
  const std::size_t unit = bytes < kHugePageBytes ? kLineBytes : kHugePageBytes;
  if (bytes > std::numeric_limits<std::size_t>::max() - unit) throw std::bad_alloc();
  const std::size_t whole = std::max(unit, (bytes + unit - 1) / unit * unit);
  const std::shared_ptr<std::byte> block(static_cast<std::byte*>(std::aligned_alloc(unit, whole)),
                                         [](std::byte* memory) { std::free(memory); });
  if (!block) throw std::bad_alloc();
  if (unit == kHugePageBytes) static_cast<void>(::madvise(block.get(), whole, MADV_HUGEPAGE));
  std::fill_n(block.get(), bytes, std::byte{0});
  return block;
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

Status check_positions(const Positions& positions, const std::string& name) {
  const auto not_increasing = std::adjacent_find(
      positions.begin(), positions.end(), [](std::int64_t a, std::int64_t b) { return a >= b; });
  if (not_increasing != positions.end()) {
    return error_in("",
                    fmt::format("{}: position {} stands behind {}", name, *(not_increasing + 1),
                                *not_increasing),
                    "order tokens by position, none twice");
  }
  if (!has_gap(positions) || positions.back() == kPositionEnd) {
    return error_in("", name + ": its positions have no gap, or pass 2^63",
                    "leave out positions without a gap");
  }
  return {};
}

// `sound`: positions that need no second look; many layers may share them.
Status check_layer(const KvLayer<TensorShape>& layer, const Positions* sound) {
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
  for (const TensorKind kind : kTensorKinds) {
    const TensorShape* shape = layer.find(kind);
    if (shape == nullptr) continue;
    if (Status status = check_tensor(*shape, fmt::format("{} {}", name, to_text(kind))); !status)
      return status;
  }
  if (layer.first_token < 0 || layer.first_token > kPositionEnd - layer.tokens()) {
    return error_in("", fmt::format("{}: first token {} is out of range", name, layer.first_token),
                    "use a position >= 0");
  }
  if (!layer.positions) return {};
  if (std::ssize(*layer.positions) != layer.tokens()) {
    return error_in(
        "",
        fmt::format("{}: {} positions of {} tokens", name, layer.positions->size(), layer.tokens()),
        "give one position per token");
  }
  if (layer.tokens() > 0 && layer.positions->front() != layer.first_token) {
    return error_in("",
                    fmt::format("{}: first token {}, but its positions begin with {}", name,
                                layer.first_token, layer.positions->front()),
                    "give the same one");
  }
  return layer.positions.get() == sound ? Status() : check_positions(*layer.positions, name);
}

template <typename Tensor>
KvLayer<Tensor> without_tensors(const auto& layer) {
  KvLayer<Tensor> copy;
  copy.layer = layer.layer;
  copy.first_token = layer.first_token;
  copy.positions = layer.positions;
  copy.rope = layer.rope;
  return copy;
}

template <typename Tensor>
std::optional<Tensor>& slot(KvLayer<Tensor>& layer, TensorKind kind) {
  return kind == TensorKind::kKey     ? layer.key
         : kind == TensorKind::kValue ? layer.value
                                      : layer.latent;
}

// The position behind the last token held.
template <typename Tensor>
std::int64_t end_of(const KvLayer<Tensor>& layer) {
  return layer.tokens() == 0 ? layer.first_token : layer.position(layer.tokens() - 1) + 1;
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

std::shared_ptr<const Positions> if_gapped(Positions positions) {
  if (!has_gap(positions)) return nullptr;
  return std::make_shared<const Positions>(std::move(positions));
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

bool has_positions(const KvShape& shape) {
  return std::any_of(shape.layers.begin(), shape.layers.end(),
                     [](const auto& layer) { return layer.positions != nullptr; });
}

TokenRange token_range(const KvShape& shape) {
  std::optional<TokenRange> range;
  for (const auto& layer : shape.layers) {
    if (layer.tokens() == 0) continue;
    const TokenRange held{layer.first_token, end_of(layer)};
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
    const std::int64_t begin = layer.tokens_before(range.begin);
    const std::int64_t end = std::max(begin, layer.tokens_before(range.end));
    copy.first_token = begin < layer.tokens() ? layer.position(begin) : end_of(layer);
    if (layer.positions)
      copy.positions =
          if_gapped({layer.positions->begin() + begin, layer.positions->begin() + end});
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorView* tensor = layer.find(kind))
        slot(copy, kind) = tensor->slice(begin, end - begin);
    }
    part.layers.push_back(std::move(copy));
  }
  return part;
}

Status check_shape(const KvShape& shape) {
  std::int64_t last = -1;
  std::int64_t bytes = 0;
  const Positions* sound = nullptr;
  for (const auto& layer : shape.layers) {
    if (layer.layer <= last || layer.layer > kLayerMax) {
      return error_in("", fmt::format("layer {} after layer {}", layer.layer, last),
                      fmt::format("number layers increasing, 0 to {}", kLayerMax));
    }
    last = layer.layer;
    if (Status status = check_layer(layer, sound); !status) return status;
    if (layer.positions) sound = layer.positions.get();
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
