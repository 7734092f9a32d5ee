#include "codec/model_profile/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

namespace sluice {
namespace {

constexpr std::string_view kFormat = "sluice-model-profile-1";
constexpr std::int64_t kChannelsMax = 1 << 16;
constexpr std::int64_t kLayersMax = 1 << 16;

std::optional<BasisBlock> block_of(std::string_view text) {
  for (const BasisBlock block : {BasisBlock::kDiagonal, BasisBlock::kHead, BasisBlock::kLayer}) {
    if (to_text(block) == text) return block;
  }
  return std::nullopt;
}

// Of tensors "layer.{i}.means" and so on.
class Parser {
 public:
  explicit Parser(const SafetensorsFile& file) : file_(file) {
    for (const SafetensorsTensor& tensor : file.tensors) tensors_.emplace(tensor.name, &tensor);
  }

  Result<ModelProfile> parse() {
    if (fact("format") != kFormat)
      return wrong(fmt::format("`format` is not `{}`", kFormat), "make it with `codec calibrate`");
    const auto block = block_of(fact("block"));
    if (!block) return wrong("`block` is none of diag, head, layerkv", "make it again");
    profile_.block = *block;
    profile_.model = fact("model");
    profile_.revision = fact("revision");
    if (Status status = add_layers(); !status) return status.error();
    return std::move(profile_);
  }

 private:
  // Null: there is none. Files may have a quarter of a million tensors.
  [[nodiscard]] const SafetensorsTensor* find(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::string fact(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? std::string() : found->second;
  }
  [[nodiscard]] Error wrong(const std::string& what, const std::string& fix) const {
    return error_in(file_.name, what, fix);
  }
  [[nodiscard]] Error wrong_tensor(const std::string& name, const std::string& what) const {
    return wrong(fmt::format("tensor `{}` {}", name, what), "make it again with `codec calibrate`");
  }

  Status add_layers() {
    std::vector<std::int64_t> numbers;
    for (const SafetensorsTensor& tensor : file_.tensors) {
      std::string_view name = tensor.name;
      if (!name.starts_with("layer.") || !name.ends_with(".shape")) continue;
      name = name.substr(6, name.size() - 12);
      std::int64_t number = -1;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error != std::errc() || end != name.data() + name.size() || number < 0 ||
          number >= kLayersMax || fmt::to_string(number) != name)
        return wrong_tensor(tensor.name, "names no layer");
      numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    if (numbers.empty()) return wrong("has no `layer.N.shape`", "make it with `codec calibrate`");
    for (const std::int64_t number : numbers) {
      if (Status status = add_layer(number); !status) return status;
    }
    return {};
  }

  Status add_layer(std::int64_t number) {
    LayerProfile layer;
    layer.layer = number;
    const auto name = [&](const char* part) { return fmt::format("layer.{}.{}", number, part); };
    if (Status status = read_shape(name("shape"), layer); !status) return status;
    if (Status status = read_floats(name("means"), layer.channels(), false, layer.means); !status)
      return status;
    if (Status status = read_floats(name("scales"), layer.channels(), true, layer.scales); !status)
      return status;
    if (Status status = read_basis(name("basis"), layer); !status) return status;
    profile_.layers.push_back(std::move(layer));
    return {};
  }

  Status read_shape(const std::string& name, LayerProfile& layer) {
    const SafetensorsTensor* tensor = find(name);
    if (tensor->dtype != "I32" || tensor->shape != std::vector<std::int64_t>{4})
      return wrong_tensor(name, "is not 4 numbers of I32");
    std::int32_t counts[4];
    std::memcpy(counts, tensor->data.data(), sizeof counts);
    for (const std::int32_t count : counts) {
      if (count < 1 || count > kChannelsMax) return wrong_tensor(name, "has a count out of range");
    }
    layer.key_heads = counts[0];
    layer.key_dim = counts[1];
    layer.value_heads = counts[2];
    layer.value_dim = counts[3];
    if (layer.channels() > kChannelsMax) return wrong_tensor(name, "has too many channels");
    return {};
  }

  Status read_floats(const std::string& name, std::int64_t count, bool are_positive,
                     std::vector<float>& out) {
    const SafetensorsTensor* tensor = find(name);
    if (tensor == nullptr) return wrong(fmt::format("has no `{}`", name), "make it again");
    if (tensor->dtype != "F32" || tensor->shape != std::vector<std::int64_t>{count})
      return wrong_tensor(name, fmt::format("is not {} numbers of F32", count));
    out.resize(static_cast<std::size_t>(count));
    std::memcpy(out.data(), tensor->data.data(), tensor->data.size());
    for (const float value : out) {
      if (!std::isfinite(value) || std::abs(value) > 1e6F)
        return wrong_tensor(name, "holds a number that is not finite, or beyond 1e6");
      if (are_positive && value < 1e-12F) return wrong_tensor(name, "holds a scale below 1e-12");
    }
    return {};
  }

  Status read_basis(const std::string& name, LayerProfile& layer) {
    const SafetensorsTensor* tensor = find(name);
    if (profile_.block == BasisBlock::kDiagonal) {
      layer.widths.assign(static_cast<std::size_t>(layer.channels()), 1);
      if (tensor != nullptr) return wrong_tensor(name, "stands in a profile of block `diag`");
      return {};
    }
    if (profile_.block == BasisBlock::kLayer) {
      layer.widths = {layer.channels()};
    } else {
      layer.widths.assign(static_cast<std::size_t>(layer.key_heads), layer.key_dim);
      layer.widths.insert(layer.widths.end(), static_cast<std::size_t>(layer.value_heads),
                          layer.value_dim);
    }
    std::int64_t size = 0;
    for (const std::int64_t width : layer.widths) size += width * width;
    if (tensor == nullptr) return wrong(fmt::format("has no `{}`", name), "make it again");
    if (tensor->dtype != "I8" || tensor->shape != std::vector<std::int64_t>{size})
      return wrong_tensor(name, fmt::format("is not {} numbers of I8", size));
    layer.basis.resize(static_cast<std::size_t>(size));
    std::memcpy(layer.basis.data(), tensor->data.data(), tensor->data.size());
    return {};
  }

  const SafetensorsFile& file_;
  std::unordered_map<std::string_view, const SafetensorsTensor*> tensors_;
  ModelProfile profile_;
};

}  // namespace

Result<ModelProfile> parse_model_profile(const SafetensorsFile& file) {
  return Parser(file).parse();
}

}  // namespace sluice
