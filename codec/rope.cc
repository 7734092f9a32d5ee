#include "codec/rope.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace sluice {
namespace {

using nlohmann::json;

constexpr std::int64_t kRotatedDimsMax = 1 << 20;

Error wrong(const std::string& field, const std::string& what) {
  return error_in("", fmt::format("rope: `{}` {}", field, what), "see codec/capture/README.md");
}

// The field when it is there and a finite number of that range.
Result<std::optional<double>> read_number(const json& object, const std::string& field, double low,
                                          double high) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return std::optional<double>();
  if (!found->is_number()) return wrong(field, "is not a number");
  const double value = found->get<double>();
  if (!(value >= low && value <= high))
    return wrong(field, fmt::format("is {}, outside {} to {}", value, low, high));
  return std::optional<double>(value);
}

Result<std::optional<std::int64_t>> read_count(const json& object, const std::string& field) {
  const auto number = read_number(object, field, 0, kRotatedDimsMax);
  if (!number) return number.error();
  if (!*number) return std::optional<std::int64_t>();
  if (**number != std::floor(**number)) return wrong(field, "is not a whole number");
  return std::optional<std::int64_t>(static_cast<std::int64_t>(**number));
}

Result<RopePairing> read_pairing(const json& object) {
  const auto found = object.find("pairing");
  if (found == object.end()) return RopePairing::kUnknown;
  if (*found == "half") return RopePairing::kHalf;
  if (*found == "interleaved") return RopePairing::kInterleaved;
  return wrong("pairing", "is neither \"half\" nor \"interleaved\"");
}

Result<std::vector<double>> read_inv_freq(const json& object) {
  std::vector<double> values;
  const auto found = object.find("inv_freq");
  if (found == object.end()) return values;
  if (!found->is_array()) return wrong("inv_freq", "is not a list");
  for (const json& item : *found) {
    if (!item.is_number() || !std::isfinite(item.get<double>()))
      return wrong("inv_freq", "holds something else than numbers");
    values.push_back(item.get<double>());
  }
  return values;
}

}  // namespace

Result<RopeFacts> rope_from_json(const json& object) {
  if (!object.is_object()) return wrong("rope", "is not an object");
  const auto theta = read_number(object, "theta", 0, 1e18);
  const auto rotated = read_count(object, "rotated_dims");
  const auto first = read_count(object, "first_rotated_dim");
  const auto factor = read_number(object, "attention_factor", 0, 1e18);
  const auto pairing = read_pairing(object);
  const auto inv_freq = read_inv_freq(object);
  if (!theta) return theta.error();
  if (!rotated) return rotated.error();
  if (!first) return first.error();
  if (!factor) return factor.error();
  if (!pairing) return pairing.error();
  if (!inv_freq) return inv_freq.error();
  if (!*theta) return wrong("theta", "is missing");
  if (!*rotated) return wrong("rotated_dims", "is missing");
  RopeFacts facts;
  facts.theta = **theta;
  facts.rotated_dims = **rotated;
  facts.first_rotated_dim = first->value_or(0);
  facts.pairing = *pairing;
  facts.attention_factor = factor->value_or(1);
  facts.inv_freq = *inv_freq;
  const auto scaling = object.find("scaling");
  if (scaling != object.end() && !scaling->is_null()) facts.scaling_json = scaling->dump();
  return facts;
}

json rope_to_json(const RopeFacts& facts) {
  json object;
  object["theta"] = facts.theta;
  object["scaling"] = facts.scaling_json.empty() ? json() : json::parse(facts.scaling_json);
  object["rotated_dims"] = facts.rotated_dims;
  if (facts.first_rotated_dim != 0) object["first_rotated_dim"] = facts.first_rotated_dim;
  if (facts.pairing != RopePairing::kUnknown) {
    object["pairing"] = facts.pairing == RopePairing::kHalf ? "half" : "interleaved";
  }
  if (facts.attention_factor != 1) object["attention_factor"] = facts.attention_factor;
  if (!facts.inv_freq.empty()) object["inv_freq"] = facts.inv_freq;
  return object;
}

}  // namespace sluice
