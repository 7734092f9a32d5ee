// A model profile: a safetensors file whose tensors must fit each other.
#include "base/files.h"
#include "codec/model_profile/inverse.h"
#include "codec/model_profile/parse.h"
#include "tests/codec/made_model_profile.h"
#include "tests/fuzz/target.h"
#include "tests/temporary_folder.h"

namespace sluice::fuzz {
namespace {

Finding run(std::span<const std::byte> input) {
  auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(input.data()),
                                                   input.size());
  const auto file = parse_safetensors(bytes, "input");
  if (!file) return std::nullopt;
  const auto profile = parse_model_profile(*file);
  if (!profile) {
    if (profile.error().to_line().find("input: ") == std::string::npos)
      return "an error without its file: " + profile.error().to_line();
    return std::nullopt;
  }
  std::int64_t last = -1;
  for (const LayerProfile& layer : profile->layers) {
    if (layer.layer <= last) return "layers out of order";
    last = layer.layer;
    const auto channels = static_cast<std::size_t>(layer.channels());
    if (layer.means.size() != channels || layer.scales.size() != channels)
      return "a layer without a mean and a scale per channel";
    if (inverse_of(layer).size() != layer.basis.size()) return "an inverse of another size";
  }
  return std::nullopt;
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> files;
  for (const BasisBlock block : {BasisBlock::kDiagonal, BasisBlock::kHead, BasisBlock::kLayer}) {
    const auto path = temporary_folder() / "seed.safetensors";
    if (!made_model_profile(block).write(path).ok()) std::abort();  // nowhere to write
    const auto content = read_file(path, DataSize::bytes(1 << 20));
    const auto bytes = std::as_bytes(std::span(*content));
    files.emplace_back(bytes.begin(), bytes.end());
  }
  return files;
}

}  // namespace

Target model_profile_target() {
  return {.name = "model-profile", .run = run, .seeds = seeds, .mutate = mutate_safetensors};
}

}  // namespace sluice::fuzz
