// A section's bytes to elements, token by token.
#include <cstring>

#include "codec/bytes.h"
#include "codec/damage.h"
#include "codec/float16.h"
#include "codec/mixed_sparse/kernel.h"
#include "codec/mixed_sparse/section.h"
#include "codec/uniform/scale.h"

namespace sluice::mixed_sparse {
namespace {

// The fp16 entries of a tensor, taken in their order.
class KeptEntries {
 public:
  // What is wrong, or null. `size`: entries of the tensor.
  const char* read(ByteReader& in, std::uint64_t size) {
    const auto count = in.get<std::uint32_t>();
    if (count > in.left() || count > size)
      return "a section that ends in the places of its fp16 entries";
    std::uint64_t place = 0;  // of the next entry, if its gap is 0
    places_.reserve(count);
    while (places_.size() < count) {
      const auto gap = in.get<std::uint8_t>();
      place += gap;
      if (!in.ok() || place >= size) return "an fp16 entry outside its tensor";
      if (gap == kLongGap) continue;
      places_.push_back(place++);
    }
    values_ = in.get_bytes(count * sizeof(std::uint16_t));
    if (!in.ok()) return "a section that ends in its fp16 entries";
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if ((value(i) & 0x7C00U) == 0x7C00U) return "an fp16 entry that is not finite";
    }
    return nullptr;
  }

  // Those among the entries from `first` on.
  void put(std::uint64_t first, std::span<float> channels) {
    for (; next_ < places_.size() && places_[next_] < first + channels.size(); ++next_)
      channels[places_[next_] - first] = fp16_to_fp32(value(next_));
  }

 private:
  [[nodiscard]] std::uint16_t value(std::size_t i) const {
    std::uint16_t fp16;
    std::memcpy(&fp16, values_.data() + i * sizeof fp16, sizeof fp16);
    return fp16;
  }
  std::vector<std::uint64_t> places_;
  std::span<const std::byte> values_;
  std::size_t next_ = 0;
};

// Decodes one tensor from the front of `in`.
class TensorDecoder {
 public:
  TensorDecoder(const MutableTensorView& tensor, Backend backend)
      : tensor_(tensor),
        backend_(backend),
        codes_(static_cast<std::size_t>(tensor.shape.channels())),
        channels_(codes_.size()) {}

  // What is wrong, or null.
  const char* run(ByteReader& in) {
    const TensorShape& shape = tensor_.shape;
    KeptEntries kept;
    const char* const wrong = kept.read(in, static_cast<std::uint64_t>(shape.elements()));
    if (wrong != nullptr) return wrong;
    const std::int64_t num_scales = shape.tokens * groups_of(shape.channels());
    ByteReader scales(in.get_bytes(static_cast<std::size_t>(num_scales) * sizeof(std::uint16_t)));
    const auto flags = in.get_bytes(static_cast<std::size_t>((shape.tokens + 7) / 8));
    if (!in.ok()) return "a section that ends in its scales";
    if (shape.tokens % 8 != 0 && std::to_integer<unsigned>(flags.back()) >> shape.tokens % 8 != 0)
      return "padding bits are not zero";
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      const auto flag = std::to_integer<unsigned>(flags[static_cast<std::size_t>(token / 8)]);
      if (!read_codes((flag >> token % 8 & 1) != 0, in))
        return "a section that ends in its codes, or padding that is not zero";
      if (!scale_codes(scales)) return "a scale that is not a finite fp16 >= 0";
      kept.put(static_cast<std::uint64_t>(token * shape.channels()), channels_);
      tensor_.write_token(token, channels_, backend_);
    }
    return nullptr;
  }

 private:
  bool read_codes(bool is_sparse, ByteReader& in) {
    const ByteReader start = in;
    const auto bytes = in.get_bytes(in.left());
    const std::size_t size = is_sparse ? get_sparse(bytes, codes_) : get_dense(bytes, codes_);
    in = start;
    (void)in.get_bytes(size);
    return size > 0;
  }

  bool scale_codes(ByteReader& scales) {
    float scale = 0;
    for (std::size_t c = 0; c < codes_.size(); ++c) {
      if (c % static_cast<std::size_t>(kGroupChannels) == 0) {
        const auto fp16 = scales.get<std::uint16_t>();
        if (!uniform::is_valid_scale(fp16)) return false;
        scale = fp16_to_fp32(fp16);
      }
      channels_[c] = static_cast<float>(codes_[c]) * scale;
    }
    return true;
  }

  MutableTensorView tensor_;
  Backend backend_;
  std::vector<std::int8_t> codes_;
  std::vector<float> channels_;
};

}  // namespace

Status decode_section(const SectionContext& context, std::span<const std::byte> payload,
                      std::span<const MutableSectionTensor> tensors) {
  ByteReader in(payload);
  for (const MutableSectionTensor& tensor : tensors) {
    if (const char* wrong = TensorDecoder(tensor.values, context.backend).run(in))
      return damaged(wrong);
  }
  return in.left() == 0 ? Status{} : damaged("a section with bytes after its last tensor");
}

}  // namespace sluice::mixed_sparse
