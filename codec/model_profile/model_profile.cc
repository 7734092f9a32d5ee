#include "codec/model_profile/model_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/files.h"
#include "base/names.h"
#include "base/sha256.h"
#include "codec/model_profile/inverse.h"
#include "codec/model_profile/parse.h"

namespace sluice {

struct ModelProfile::Inverses {
  std::mutex mutex;
  std::map<std::size_t, std::vector<float>> by_layer;
};

namespace {

namespace fs = std::filesystem;
using Found = std::shared_ptr<const ModelProfile>;

constexpr std::string_view kExtension = ".safetensors";
constexpr DataSize kMaxFileSize = DataSize::bytes(std::int64_t{1} << 30);

std::array<std::byte, 32> bytes_of_hex(std::string_view digits) {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::array<std::byte, 32> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
  }
  return bytes;
}

Result<fs::path> shipped_folder() {
  const auto home = sluice_home();
  if (!home) return home.error();
  return *home / "codec" / "model_profiles";
}

}  // namespace

std::string_view to_text(BasisBlock block) {
  switch (block) {
    case BasisBlock::kDiagonal:
      return "diag";
    case BasisBlock::kHead:
      return "head";
    case BasisBlock::kLayer:
      return "layerkv";
  }
  return "";
}

const LayerProfile* ModelProfile::find(std::int64_t layer) const {
  const auto found = std::lower_bound(
      layers.begin(), layers.end(), layer,
      [](const LayerProfile& profile, std::int64_t number) { return profile.layer < number; });
  return found != layers.end() && found->layer == layer ? &*found : nullptr;
}

std::span<const float> ModelProfile::inverse(std::size_t layer_index) const {
  const std::lock_guard lock(inverses->mutex);
  auto [found, is_new] = inverses->by_layer.try_emplace(layer_index);
  if (is_new) found->second = inverse_of(layers[layer_index]);
  return found->second;  // a map's values stay where they are
}

Found with_inverses(ModelProfile profile) {
  profile.inverses = std::make_shared<ModelProfile::Inverses>();
  return std::make_shared<const ModelProfile>(std::move(profile));
}

Result<Found> read_model_profile(const fs::path& file) {
  auto bytes = read_file(file, kMaxFileSize);
  if (!bytes) return bytes.error();
  const std::string hash = sha256_hex(*bytes);
  const auto tensors =
      parse_safetensors(std::make_shared<const std::string>(*std::move(bytes)), file.string());
  if (!tensors) return tensors.error();
  auto profile = parse_model_profile(*tensors);
  if (!profile) return profile.error();
  profile->name = file.stem().string();
  profile->sha256 = bytes_of_hex(hash);
  return with_inverses(*std::move(profile));
}

std::vector<std::string> model_profile_names() {
  std::vector<std::string> names;
  const auto folder = shipped_folder();
  if (!folder) return names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(*folder, ignored)) {
    if (entry.path().extension() == kExtension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Found> find_model_profile(std::string_view name) {
  const auto names = model_profile_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return error_in("--model-profile", fmt::format("there is no model profile `{}`", name),
                    suggest_name(name, names));
  }
  return read_model_profile(*shipped_folder() / fmt::format("{}{}", name, kExtension));
}

Found shipped_model_profile(const std::array<std::byte, 32>& sha256) {
  static const std::vector<Found> shipped = [] {
    std::vector<Found> profiles;
    for (const std::string& name : model_profile_names()) {
      if (auto profile = find_model_profile(name)) profiles.push_back(*std::move(profile));
    }
    return profiles;
  }();
  for (const Found& profile : shipped) {
    if (profile->sha256 == sha256) return profile;
  }
  return nullptr;
}

}  // namespace sluice
