#include "codec/container/kept_tokens.h"

#include <fmt/format.h>

#include <bit>

namespace sluice::container {
namespace {

enum class KeptForm : std::uint8_t { kAll = 0, kAsBefore = 1, kBitmap = 2, kList = 3 };

using Layer = KvLayer<TensorShape>;
using Fault = std::optional<std::string>;
using Kept = std::shared_ptr<const Positions>;

constexpr std::int64_t kBitsPerByte = 8;
constexpr std::int64_t kListBytesEach = sizeof(std::int64_t);

void put_bitmap(ByteWriter& out, const Positions& positions) {
  out.put(positions.back());
  const std::int64_t first = positions.front();
  std::vector<std::byte> bits(
      static_cast<std::size_t>((positions.back() - first) / kBitsPerByte + 1));
  for (const std::int64_t position : positions)
    bits[static_cast<std::size_t>((position - first) / kBitsPerByte)] |=
        std::byte{1} << (position - first) % kBitsPerByte;
  out.put_bytes(bits);
}

void put_positions(ByteWriter& out, const Positions& positions) {
  // Tokens that are few and far between are cheaper one by one.
  const bool is_sparse = (positions.back() - positions.front()) / kBitsPerByte >=
                         kListBytesEach * std::ssize(positions);
  out.put(static_cast<std::uint8_t>(is_sparse ? KeptForm::kList : KeptForm::kBitmap));
  if (!is_sparse) return put_bitmap(out, positions);
  for (const std::int64_t position : positions) out.put(position);
}

Positions get_list(ByteReader& in, std::int64_t tokens) {
  Positions positions;
  if (tokens > static_cast<std::int64_t>(in.left()) / kListBytesEach) return positions;
  positions.reserve(static_cast<std::size_t>(tokens));
  for (std::int64_t i = 0; i < tokens; ++i) positions.push_back(in.get<std::int64_t>());
  return positions;
}

// Of what is no such map, nothing.
Positions get_bitmap(ByteReader& in, const Layer& layer) {
  const auto last = in.get<std::int64_t>();
  if (!in.ok() || last < layer.first_token) return {};
  const std::int64_t num_bytes = (last - layer.first_token) / kBitsPerByte + 1;
  if (num_bytes > static_cast<std::int64_t>(in.left())) return {};
  const auto bytes = in.get_bytes(static_cast<std::size_t>(num_bytes));
  const std::int64_t last_bit = last - layer.first_token;
  if (bytes.back() >> last_bit % kBitsPerByte != std::byte{1}) return {};  // the last one set
  std::int64_t count = 0;
  for (const std::byte b : bytes) count += std::popcount(std::to_integer<std::uint8_t>(b));
  Positions positions;
  positions.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i <= last_bit; ++i) {
    const std::byte b = bytes[static_cast<std::size_t>(i / kBitsPerByte)];
    if ((b >> i % kBitsPerByte & std::byte{1}) != std::byte{0})
      positions.push_back(layer.first_token + i);
  }
  return positions;
}

// The entry of one layer, `before` being what the layer before it keeps.
Fault get_entry(ByteReader& in, Layer& layer, const Kept& before) {
  const auto form = in.get<std::uint8_t>();
  if (!in.ok()) return "the header ends too early";
  if (form > static_cast<std::uint8_t>(KeptForm::kList))
    return fmt::format("layer {}: kept tokens of form {} are unknown", layer.layer, form);
  switch (static_cast<KeptForm>(form)) {
    case KeptForm::kAll:
      return std::nullopt;
    case KeptForm::kAsBefore:
      layer.positions = before;
      break;
    case KeptForm::kBitmap:
      layer.positions = if_gapped(get_bitmap(in, layer));
      break;
    case KeptForm::kList:
      layer.positions = if_gapped(get_list(in, layer.tokens()));
      break;
  }
  if (!layer.positions)
    return fmt::format("layer {}: its kept tokens are none, or without a gap", layer.layer);
  return std::nullopt;
}

}  // namespace

void put_kept_tokens(ByteWriter& out, const KvShape& shape) {
  const Positions* before = nullptr;
  for (const Layer& layer : shape.layers) {
    const Positions* kept = layer.positions.get();
    if (kept == nullptr) {
      out.put(static_cast<std::uint8_t>(KeptForm::kAll));
    } else if (before != nullptr && (before == kept || *before == *kept)) {
      out.put(static_cast<std::uint8_t>(KeptForm::kAsBefore));
    } else {
      put_positions(out, *kept);
    }
    before = kept;
  }
}

Fault get_kept_tokens(ByteReader& in, KvShape& shape) {
  Kept before;
  for (Layer& layer : shape.layers) {
    if (Fault fault = get_entry(in, layer, before)) return fault;
    before = layer.positions;
  }
  if (const Status status = check_shape(shape); !status) return status.error().what;
  return std::nullopt;
}

}  // namespace sluice::container
