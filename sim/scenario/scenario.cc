#include "sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/names.h"
#include "codec/decode_times.h"
#include "sim/scenario/canonical.h"
#include "sim/scenario/consistency.h"
#include "sim/scenario/cross_traffic_fields.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/ladder.h"
#include "sim/scenario/link_fields.h"
#include "sim/scenario/matrix.h"
#include "sim/scenario/topology_fields.h"
#include "sim/scenario/workload_fields.h"
#include "sim/scenario/yaml_document.h"
#include "traces/read.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kMaxReplicates = 1'000'000;
constexpr DataSize kMaxScenarioSize = DataSize::bytes(1 << 20);
constexpr std::size_t kMaxNameLength = 100;
constexpr Duration kMaxRequestTime = std::chrono::minutes{1};

// The name becomes part of file names.
std::string read_name(Fields& top) {
  const std::string name = top.text("name");
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!plain || name.empty() || name.front() == '.' || name.size() > kMaxNameLength) {
    if (top.has("name"))
      top.errors().add(top.node("name", false), fmt::format("name: `{}` is not a name", name),
                       "use up to 100 letters, digits, `-`, `_` and `.`, as in `my-scenario`");
  }
  return name;
}

// Keeps the levels asked for, in the order of the profile (least damage first).
void choose_levels(CodecProfile& profile, const std::vector<std::string>& wanted, Fields& fields) {
  std::vector<std::string> known;
  for (const LevelFacts& level : profile.levels) known.push_back(level.id());
  for (const std::string& id : wanted) {
    if (std::find(known.begin(), known.end(), id) == known.end()) {
      fields.errors().add(
          fields.node("levels", false),
          fmt::format("{}: profile {} has no level `{}`", fields.path_of("levels"), profile.id, id),
          suggest_name(id, known));
    }
  }
  if (wanted.empty()) return;
  keep_levels(profile, [&](const LevelFacts& level) {
    return std::find(wanted.begin(), wanted.end(), level.id()) != wanted.end();
  });
}

template <typename T>
std::optional<T> found(Result<T> result, Fields& fields, const std::string& key) {
  if (result) return std::move(*result);
  fields.errors().add(fields.node(key, false),
                      fmt::format("{}: {}", fields.path_of(key), result.error().what),
                      result.error().fix);
  return std::nullopt;
}

// A shipped profile by id, or a file beside the scenario.
Result<CodecProfile> load_profile(const std::string& name, const fs::path& folder) {
  if (name.ends_with(".json")) return read_profile(folder / name);
  return find_profile(name);
}

void read_codec(Fields fields, const fs::path& folder, Scenario& s) {
  s.chunk_tokens = fields.integer("chunk_tokens", 1, kMaxContextTokens, 1500);
  const std::vector<std::string> wanted = fields.texts("levels");
  const std::string decode = fields.text("decode", s.device.gpu);
  s.decode = decode != "none";
  auto profile = found(load_profile(fields.text("profile"), folder), fields, "profile");
  if (profile) {
    choose_levels(*profile, wanted, fields);
    s.ladder_taken_on = profile->model;
    s.ladder = scale_profile(std::move(*profile), s.model.id);
    if (s.decode) {
      auto times = found(find_decode_times(decode), fields, "decode");
      auto combined = times ? found(combine(s.ladder, *times), fields, "decode") : std::nullopt;
      if (combined) s.ladder = std::move(*combined);
    }
  }
  fields.finish();
}

void read_model_and_device(Fields& top, Scenario& s) {
  if (auto model = found(find_geometry(top.text("model")), top, "model"))
    s.model = std::move(*model);
  Fields compute = top.child("compute", true);
  if (auto device = found(find_device(compute.text("device")), compute, "device"))
    s.device = std::move(*device);
  s.recompute = compute.boolean("recompute", true);
  compute.finish();
}

void read_policies(Fields& top, const std::vector<std::string>& replaced, Scenario& s) {
  const std::vector<std::string> listed = top.texts("policies");
  std::vector<LevelInfo> levels = level_infos(s.ladder);
  for (const std::string& text : replaced.empty() ? listed : replaced) {
    Result<PolicySpec> spec = parse_policy(text);
    const auto problem = [&]() -> std::optional<Error> {
      if (!spec) return spec.error();
      auto made = make_policy(*spec, levels);
      return made ? std::nullopt : std::optional(made.error());
    }();
    if (problem && replaced.empty()) top.errors().add(top.node("policies", false), *problem);
    if (problem && !replaced.empty()) top.errors().add_elsewhere(*problem);
    if (problem) return;
    for (const PolicySpec& earlier : s.policies) {
      if (earlier.name() != spec->name()) continue;
      const Error twice = error_in(
          "--policy", fmt::format("policy {} is given twice", spec->name()), "give it once");
      return replaced.empty() ? top.errors().add(top.node("policies", false), twice)
                              : top.errors().add_elsewhere(twice);
    }
    s.policies.push_back(std::move(*spec));
  }
  if (s.policies.empty())
    top.errors().add(top.node(), "`policies` is missing or empty", "list at least one policy");
}

void replace_link_trace(const std::string& file, Scenario& s, FieldErrors& errors) {
  Result<std::vector<LinkTrace>> traces = read_traces(file);
  if (!traces) return errors.add_elsewhere(traces.error());
  if (traces->size() > 1 || traces->front().clock == TraceClock::kChunk) {
    s.replicates = static_cast<std::int64_t>(traces->size());
    if (traces->front().clock == TraceClock::kChunk) {
      s.workload.arrivals = IsolatedArrivals{};
      s.workload.loads = 1;
    }
  }
  s.topology.main_link().capacity = ReplayedTraces{file, std::move(*traces), true};
  if (const auto key = missing_in_traces(s.topology.main_link())) {
    errors.add_elsewhere(
        error_in(file, fmt::format("it says no {}, which the scenario takes from the trace", *key),
                 "use a file of a reader that knows it, or give the scenario a value"));
  }
}

Duration read_request_time(Fields store) {
  const Duration time = store.duration("request_time", Duration::zero());
  if (time > kMaxRequestTime) {
    store.errors().add(
        store.node("request_time", false),
        fmt::format("{}: {} is too long", store.path_of("request_time"), to_text(time)),
        fmt::format("use up to {}", to_text(kMaxRequestTime)));
  }
  store.finish();
  return time;
}

std::vector<std::string> read_tiers(Fields& top, const std::vector<std::string>& replaced) {
  std::vector<std::string> tiers =
      replaced.empty() ? top.texts("tier") : (void(top.texts("tier")), replaced);
  if (tiers.empty()) tiers = {"fluid"};
  for (auto tier = tiers.begin(); tier != tiers.end(); ++tier) {
    const bool known =
        std::find(known_tiers().begin(), known_tiers().end(), *tier) != known_tiers().end();
    const bool twice = std::find(tiers.begin(), tier, *tier) != tier;
    if (known && !twice) continue;
    const Error error =
        twice ? error_in("--tier", fmt::format("tier {} is given twice", *tier), "give it once")
              : error_in("--tier", fmt::format("unknown tier `{}`", *tier),
                         suggest_name(*tier, known_tiers()));
    replaced.empty() ? top.errors().add(top.node("tier", false), error)
                     : top.errors().add_elsewhere(error);
  }
  return tiers;
}

Result<Scenario> read_variant(const fs::path& file, const Variant& variant,
                              const ScenarioOverrides& overrides) {
  FieldErrors errors(file.string());
  Fields top(variant.root, "", errors);
  Scenario s;
  s.file = file.string();
  s.variant = variant.name;
  s.name = read_name(top);
  s.question = top.text("question");
  s.seed =
      static_cast<std::uint64_t>(top.integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
  s.replicates = top.integer("replicates", 1, kMaxReplicates);
  if (overrides.seed) s.seed = *overrides.seed;
  if (overrides.replicates) s.replicates = *overrides.replicates;
  s.tiers = read_tiers(top, overrides.tiers);
  s.topology = read_topology(top, file.parent_path());
  if (!errors.any()) s.cross_traffic = read_cross_traffic(top, s.topology);
  (void)top.node("cross_traffic", false);
  s.warm_up = top.duration("warm_up", Duration::zero());
  s.transport = read_transport(top.child("transport", false));
  s.request_time = read_request_time(top.child("store", false));
  read_model_and_device(top, s);
  if (!errors.any()) read_codec(top.child("codec", true), file.parent_path(), s);
  s.workload = read_workload(top.child("workload", true), file.parent_path(), s.model);
  s.slo = top.duration("slo");
  s.delta = top.number("delta", 0.0, 0.5, 0.01);
  (void)top.node("codec", true);
  if (!errors.any()) read_policies(top, overrides.policies, s);
  (void)top.texts("policies");
  top.finish();
  if (!errors.any() && overrides.link_trace_file)
    replace_link_trace(*overrides.link_trace_file, s, errors);
  if (!errors.any()) check_consistency(top, s);
  if (errors.any()) return errors.first();
  s.ladder_words = describe_ladder(s.ladder, s.ladder_taken_on, s.decode);
  s.canonical = canonical_text(s);
  s.sha256 = sha256_of_canonical(s.canonical);
  return s;
}

}  // namespace

bool LinkSetting::chunk_clocked() const {
  if (const auto* spec = std::get_if<GeneratorSpec>(&capacity))
    return std::holds_alternative<UniformPerChunkSpec>(*spec);
  const auto& traces = std::get<ReplayedTraces>(capacity).traces;
  return !traces.empty() && traces.front().clock == TraceClock::kChunk;
}

const std::vector<std::string>& known_tiers() {
  static const std::vector<std::string> kTiers{"fluid", "burst", "packet", "tcp"};
  return kTiers;
}

Result<std::vector<Scenario>> read_scenarios(const fs::path& file,
                                             const ScenarioOverrides& overrides) {
  const Result<std::string> text = read_file(file, kMaxScenarioSize);
  if (!text) return text.error();
  const Result<YAML::Node> root = parse_document(*text, file.string());
  if (!root) return root.error();
  FieldErrors errors(file.string());
  const std::vector<Variant> variants = expand_matrix(*text, *root, errors);
  if (errors.any()) return errors.first();
  std::vector<Scenario> scenarios;
  std::vector<std::string> names;
  for (const Variant& variant : variants) {
    names.push_back(variant.name);
    if (overrides.variant && *overrides.variant != variant.name) continue;
    Result<Scenario> scenario = read_variant(file, variant, overrides);
    if (!scenario) return scenario.error();
    scenarios.push_back(std::move(*scenario));
  }
  if (scenarios.empty()) {
    return error_in("--variant", fmt::format("there is no variant `{}`", *overrides.variant),
                    suggest_name(*overrides.variant, names));
  }
  return scenarios;
}

Result<Scenario> read_scenario(const fs::path& file, const ScenarioOverrides& overrides) {
  Result<std::vector<Scenario>> all = read_scenarios(file, overrides);
  if (!all) return all.error();
  return std::move(all->front());
}

}  // namespace sluice
