#include "emu/contents/content_hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/assert.h"
#include "codec/container/parallel.h"

namespace sluice {
namespace {

constexpr std::size_t kDigits = 16;  // of 64 bits

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};
using XxhState = std::unique_ptr<XXH3_state_t, FreeState>;

XxhState new_state() {
  XxhState state(XXH3_createState());
  SLUICE_ASSERT(state != nullptr, "XXH3 failed");
  return state;
}

void add(XXH3_state_t& state, const void* data, std::size_t size) {
  SLUICE_ASSERT(XXH3_128bits_update(&state, data, size) == XXH_OK, "XXH3 failed");
}

void add_elements(XXH3_state_t& state, const TensorView& tensor) {
  const TensorShape& shape = tensor.shape;
  if (shape.elements() == 0) return;
  const Strides wanted = head_major(shape);
  const Strides& strides = tensor.strides;
  if (strides.head == wanted.head && strides.token == wanted.token && strides.dim == wanted.dim) {
    add(state, tensor.data, static_cast<std::size_t>(shape.size().bytes()));
    return;
  }
  const std::int64_t bytes = bytes_per_element(shape.dtype);
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t dim = 0; dim < shape.dim; ++dim) {
        const std::int64_t at = head * strides.head + token * strides.token + dim * strides.dim;
        add(state, tensor.data + at * bytes, static_cast<std::size_t>(bytes));
      }
    }
  }
}

TensorHash digest_of(const XXH128_hash_t& hash) {
  return {.high = hash.high64, .low = hash.low64};
}

TensorHash hash_tensor(const TensorView& tensor) {
  const XxhState state = new_state();
  SLUICE_ASSERT(XXH3_128bits_reset(state.get()) == XXH_OK, "XXH3 failed");
  const TensorShape& shape = tensor.shape;
  const std::array<std::int64_t, 4> facts = {static_cast<std::int64_t>(shape.dtype), shape.heads,
                                             shape.tokens, shape.dim};
  add(*state, facts.data(), sizeof facts);
  add_elements(*state, tensor);
  return digest_of(XXH3_128bits_digest(state.get()));
}

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct BytesHash::State {
  XxhState xxh = new_state();
};

BytesHash::BytesHash() : state_(std::make_unique<State>()) {
  SLUICE_ASSERT(XXH3_64bits_reset(state_->xxh.get()) == XXH_OK, "XXH3 failed");
}
BytesHash::~BytesHash() = default;
BytesHash::BytesHash(BytesHash&&) noexcept = default;
BytesHash& BytesHash::operator=(BytesHash&&) noexcept = default;

void BytesHash::add(std::span<const std::byte> bytes) {
  SLUICE_ASSERT(XXH3_64bits_update(state_->xxh.get(), bytes.data(), bytes.size()) == XXH_OK,
                "XXH3 failed");
  num_bytes_ += bytes.size();
}

std::uint64_t BytesHash::digest() const {
  return XXH3_64bits_digest(state_->xxh.get());
}

TensorHash hash_tensors(const KvView& view, int threads) {
  std::vector<const TensorView*> tensors;
  for (const auto& layer : view.layers) {
    for (const TensorKind kind : kTensorKinds) {
      if (const TensorView* tensor = layer.find(kind)) tensors.push_back(tensor);
    }
  }
  std::vector<TensorHash> hashes(tensors.size());
  const Status done = for_each_index(tensors.size(), threads, [&](std::size_t i) -> Status {
    hashes[i] = hash_tensor(*tensors[i]);
    return {};
  });
  SLUICE_ASSERT(done.ok(), "hashing cannot fail");
  static_assert(sizeof(TensorHash) == 2 * sizeof(std::uint64_t));
  return digest_of(XXH3_128bits(hashes.data(), hashes.size() * sizeof(TensorHash)));
}

std::string hash_to_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

std::optional<std::uint64_t> hash_from_text(std::string_view text) {
  std::uint64_t hash = 0;
  if (text.size() != kDigits) return std::nullopt;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return hash;
}

std::string to_text(const TensorHash& hash) {
  return hash_to_text(hash.high) + hash_to_text(hash.low);
}

std::optional<TensorHash> tensor_hash_from_text(std::string_view text) {
  if (text.size() != 2 * kDigits) return std::nullopt;
  const auto high = hash_from_text(text.substr(0, kDigits));
  const auto low = hash_from_text(text.substr(kDigits));
  if (!high || !low) return std::nullopt;
  return TensorHash{.high = *high, .low = *low};
}

}  // namespace sluice
