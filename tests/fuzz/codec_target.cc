// One codec's sections: any payload under any small shape, on every backend, and what comes out of
// it encoded again.
// An input is 2 bytes (level; kind, dtype, number of tensors, what follows), 4 bytes per tensor
// (layer, heads, tokens, dim), then a payload to decode, or the bits of elements to encode.
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/random.h"
#include "codec/registry.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

constexpr std::size_t kHeadBytes = 2;
constexpr std::size_t kTensorBytes = 4;
constexpr std::uint8_t kPayloadBits = 0xC0;     // none set in the second byte: elements follow
constexpr std::int64_t kElementsMax = 1 << 12;  // of a tensor
constexpr std::int64_t kModelLayers = 32;

// Shapes and levels that an input's first bytes stand for; every byte stands for something.
struct Plan {
  SectionContext context;
  std::vector<std::pair<std::int64_t, TensorShape>> tensors;  // layer, shape
  bool holds_elements = false;
  std::span<const std::byte> payload;
};

Plan plan_of(const CodecInfo& info, std::span<const std::byte> input) {
  std::size_t at = 0;
  const auto next = [&]() -> std::int64_t {
    return at < input.size() ? std::to_integer<std::int64_t>(input[at++]) : 0;
  };
  Plan plan;
  plan.context.level = static_cast<std::size_t>(next()) % info.levels.size();
  const std::int64_t bits = next();
  plan.context.kind = kTensorKinds[(bits & 3) % 3];
  plan.context.num_model_layers = kModelLayers;
  const auto dtype = static_cast<Dtype>(1 + (bits >> 2 & 3) % 3);
  const std::int64_t count = 1 + (bits >> 4 & 3) % 3;
  plan.holds_elements = (bits & kPayloadBits) == 0;
  std::int64_t layer = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    layer = std::min(kModelLayers - count + i, layer + 1 + next() % 16);
    TensorShape shape{.dtype = dtype, .heads = 1 + next() % 7, .tokens = 0, .dim = 0};
    const std::int64_t tokens = next();
    shape.tokens = 1 + tokens * tokens / 200;  // up to 326: streams are cut into tiles of 256
    shape.dim = 1 + next() % 100;
    if (plan.context.kind == TensorKind::kLatent) shape.heads = 1;
    shape.tokens =
        std::min(shape.tokens, std::max<std::int64_t>(1, kElementsMax / shape.channels()));
    plan.tensors.emplace_back(layer, shape);
  }
  plan.payload = input.subspan(std::min(input.size(), at));
  return plan;
}

// Tensors of a plan in memory of their own, each exactly as long as its elements.
class Tensors {
 public:
  Tensors(const Plan& plan, bool is_token_major, std::byte fill) {
    for (const auto& [layer, shape] : plan.tensors) {
      memory_.push_back(Bytes(static_cast<std::size_t>(shape.size().bytes()), fill));
      tensors_.push_back({layer,
                          5,
                          nullptr,
                          {.shape = shape,
                           .data = memory_.back().data(),
                           .strides = is_token_major ? token_major(shape) : head_major(shape)}});
    }
  }
  [[nodiscard]] std::span<const MutableSectionTensor> out() const { return tensors_; }
  [[nodiscard]] std::vector<SectionTensor> in() const {
    std::vector<SectionTensor> views;
    for (const MutableSectionTensor& tensor : tensors_)
      views.push_back({tensor.layer, tensor.first_token, tensor.rope, tensor.values.view()});
    return views;
  }
  // Bytes over and over, as the elements' bits.
  void fill_with(std::span<const std::byte> bytes) {
    std::size_t at = 0;
    for (Bytes& block : memory_) {
      for (std::byte& b : block) b = bytes.empty() ? std::byte{0} : bytes[at++ % bytes.size()];
    }
  }
  // check(bits of one, bits of the other) for every element until it says false.
  template <typename Check>
  [[nodiscard]] static bool all_of(const Tensors& a, const Tensors& b, Check check) {
    for (std::size_t i = 0; i < a.tensors_.size(); ++i) {
      const TensorView x = a.tensors_[i].values.view(), y = b.tensors_[i].values.view();
      std::vector<float> left(static_cast<std::size_t>(x.shape.channels())), right = left;
      for (std::int64_t token = 0; token < x.shape.tokens; ++token) {
        x.read_token(token, left);
        y.read_token(token, right);
        for (std::size_t c = 0; c < left.size(); ++c) {
          if (!check(left[c], right[c])) return false;
        }
      }
    }
    return true;
  }

 private:
  std::vector<Bytes> memory_;
  std::vector<MutableSectionTensor> tensors_;
};

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// Every backend and both layouts, over memory filled differently each time: an element that a
// decoder leaves unwritten differs. Gives the elements, if there are any.
Finding decode_everywhere(const Codec& codec, Plan plan, std::unique_ptr<Tensors>& decoded) {
  std::optional<bool> is_ok;
  auto fill = std::byte{0x11};
  for (const Backend backend : available_backends()) {
    plan.context.backend = backend;
    for (const bool is_token_major : {false, true}) {
      auto tensors = std::make_unique<Tensors>(plan, is_token_major, fill);
      fill ^= std::byte{0x7D};
      const Status status = codec.decode_section(plan.context, plan.payload, tensors->out());
      if (is_ok && *is_ok != status.ok()) return "one backend decodes what another refuses";
      is_ok = status.ok();
      if (!status) continue;
      if (decoded && !Tensors::all_of(*decoded, *tensors, same_bits))
        return "backends or layouts decode other elements";
      if (!decoded) decoded = std::move(tensors);
    }
  }
  return std::nullopt;
}

// Every backend encodes `tensors` to the same bytes, which decode to the same elements everywhere.
Finding encode_everywhere(const Codec& codec, Plan plan, const Tensors& tensors) {
  std::optional<Bytes> payload;
  for (const Backend backend : available_backends()) {
    plan.context.backend = backend;
    const auto section = codec.encode_section(plan.context, tensors.in());
    if (!section) return "not encoded: " + section.error().to_line();
    const auto size = static_cast<std::int64_t>(section->payload.size());
    if (section->side_bytes < 0 || section->side_bytes > size) return "side bytes out of range";
    if (payload && *payload != section->payload) return "backends encode other bytes";
    payload = section->payload;
  }
  std::int64_t elements = 0;
  for (const auto& [layer, shape] : plan.tensors) elements += shape.elements();
  if (elements / codec.info.max_elements_per_byte > static_cast<std::int64_t>(payload->size()))
    return "a payload shorter than the codec promises";
  plan.payload = *payload;
  std::unique_ptr<Tensors> decoded;
  if (Finding finding = decode_everywhere(codec, plan, decoded)) return finding;
  if (!decoded) return "what was encoded is not decoded";
  if (codec.info.lossless && !Tensors::all_of(tensors, *decoded, same_bits))
    return "lossless, but not the same";
  const auto is_finite = [](float, float is) { return std::isfinite(is); };
  if (!codec.info.lossless && !Tensors::all_of(tensors, *decoded, is_finite)) {
    return "a lossy codec decodes to infinity";
  }
  return std::nullopt;
}

Finding run(const Codec& codec, std::span<const std::byte> input) {
  const Plan plan = plan_of(codec.info, input);
  if (plan.holds_elements) {
    Tensors tensors(plan, false, std::byte{0});
    tensors.fill_with(plan.payload);
    return encode_everywhere(codec, plan, tensors);
  }
  std::unique_ptr<Tensors> decoded;
  if (Finding finding = decode_everywhere(codec, plan, decoded)) return finding;
  return decoded ? encode_everywhere(codec, plan, *decoded) : std::nullopt;
}

// Every level, a few shapes each: one element, whole and broken groups of 32 and 64, several tiles;
// and elements of all bits.
std::vector<Bytes> seeds(const Codec& codec) {
  constexpr std::uint8_t kShapes[][6] = {{0, 0, 0, 0, 0, 0},       {0x04, 1, 0, 40, 31, 0},
                                         {0x11, 0, 2, 60, 16, 3},  {0x02, 9, 0, 30, 71, 0},
                                         {0x05, 4, 1, 255, 15, 0}, {0x20, 0, 4, 20, 9, 1}};
  std::vector<Bytes> inputs;
  for (std::size_t level = 0; level < codec.info.levels.size(); ++level) {
    for (const auto& shape : kShapes) {
      Bytes input{static_cast<std::byte>(level), static_cast<std::byte>(shape[0] | kPayloadBits)};
      const std::size_t count = 1 + (shape[0] >> 4 & 3);
      for (std::size_t i = 0; i < count * kTensorBytes; ++i)
        input.push_back(static_cast<std::byte>(shape[1 + i % 4]));
      const Plan plan = plan_of(codec.info, input);
      Tensors tensors(plan, false, std::byte{0});
      RandomStream random(level);
      for (const MutableSectionTensor& tensor : tensors.out()) {
        std::vector<float> channels(static_cast<std::size_t>(tensor.values.shape.channels()));
        for (std::int64_t token = 0; token < tensor.values.shape.tokens; ++token) {
          for (float& c : channels)  // exact on every host
            c = static_cast<float>(random.below(64) + random.below(64)) / 16 - 4;
          tensor.values.write_token(token, channels);
        }
      }
      const auto section = codec.encode_section(plan.context, tensors.in());
      input.insert(input.end(), section->payload.begin(), section->payload.end());
      inputs.push_back(std::move(input));
    }
    Bytes elements{static_cast<std::byte>(level),
                   std::byte{0},
                   std::byte{0},
                   std::byte{2},
                   std::byte{40},
                   std::byte{32}};
    for (int i = 0; i < 256; ++i) elements.push_back(static_cast<std::byte>(i * 7));
    inputs.push_back(std::move(elements));
  }
  return inputs;
}

// Mostly the payload alone, so that it keeps the shape that it was made for.
void mutate(Bytes& input, std::size_t bytes_max, std::uint64_t seed, const MutateBytes& change) {
  if (input.size() <= kHeadBytes + kTensorBytes || seed % 4 == 0) return change(input, bytes_max);
  const std::size_t tensors = 1 + (std::to_integer<std::size_t>(input[1]) >> 4 & 3) % 3;
  const std::size_t head_bytes = std::min(input.size(), kHeadBytes + tensors * kTensorBytes);
  const auto payload_at = input.begin() + static_cast<std::ptrdiff_t>(head_bytes);
  Bytes payload(payload_at, input.end());
  change(payload, bytes_max - head_bytes);
  input.erase(payload_at, input.end());
  input.insert(input.end(), payload.begin(), payload.end());
}

}  // namespace

std::vector<Target> codec_targets() {
  std::vector<Target> targets;
  for (const Codec& codec : all_codecs()) {
    targets.push_back(
        {.name = codec.info.id,
         .run = [&codec](std::span<const std::byte> input) { return run(codec, input); },
         .seeds = [&codec] { return seeds(codec); },
         .mutate = mutate});
  }
  return targets;
}

}  // namespace sluice::fuzz
