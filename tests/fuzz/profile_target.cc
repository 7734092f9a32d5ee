// A codec profile: the JSON that sessions are simulated from.
#include <stdexcept>

#include "codec/profile.h"
#include "tests/fuzz/target.h"

namespace sluice::fuzz {
namespace {

constexpr std::int64_t kElements = 1 << 20;

Finding run(std::span<const std::byte> input) {
  const auto profile =
      parse_profile({reinterpret_cast<const char*>(input.data()), input.size()}, "input.json");
  if (!profile) {
    if (profile.error().what.empty()) return "an error without a word";
    return std::nullopt;
  }
  for (const LevelFacts& level : scale_profile(*profile, "another").levels) {
    if (level.size_of(kElements) < DataSize::zero()) return "a negative size";
    for (const auto& time : {level.encode, level.decode}) {
      if (time && time->of(kElements) < Duration::zero()) return "a negative time";
    }
  }
  return std::nullopt;
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> inputs;
  for (
      const std::string_view text : {
          std::string_view(R"({"format":"sluice-codec-profile-1","model":"m","chunk_tokens":1,)"
                           R"("damage_measure":"d","note":"n","levels":[]})"),
          std::string_view(
              R"({"format":"sluice-codec-profile-1","model":"m","device":"cpu","chunk_tokens":256,)"
              R"("damage_measure":"value-error","command":"c","commit":"0","data_sha256":"a","note":"n",)"
              R"("levels":[{"codec":"raw","level":"exact","bits_per_element":16.0,"size_source":"measured",)"
              R"("encode":{"fixed_ns":5,"ns_per_element":0.5,"source":"measured"},)"
              R"("decode":{"fixed_ns":0,"ns_per_element":1e-3,"source":"scaled"},)"
              R"("damage":0,"damage_source":"measured"},)"
              R"({"codec":"int8","level":"token","bits_per_element":8.1,"bits_per_element_sd":0.1,)"
              R"("size_source":"published","damage":0.01,"damage_source":"estimated"}]})"),
      }) {
    const auto bytes = std::as_bytes(std::span(text));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

void mutate(Bytes& input, std::size_t bytes_max, std::uint64_t, const MutateBytes& change) {
  change(input, bytes_max);
}

}  // namespace

Target profile_target() {
  return {.name = "profile", .run = run, .seeds = seeds, .mutate = mutate};
}

}  // namespace sluice::fuzz
